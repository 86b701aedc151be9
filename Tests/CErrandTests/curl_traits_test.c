/* The table of what differs by the version of libcurl, beside the tests and
   the documentation that it names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libcurl/curl_traits.h"
#include "libcurl/process.h"
#include "support/test.h"
#include "support/text.h"

static char *contents(const char *path) {
  char *bytes = NULL;
  size_t size = 0;
  FILE *file = fopen(path, "r");
  if (file == NULL)
    fail_msg("%s cannot be read", path);
  FILE *to = open_memstream(&bytes, &size);
  for (int c = getc(file); c != EOF; c = getc(file))
    putc(c, to);
  fclose(file);
  fclose(to);
  return bytes;
}

/* "file: test". */
static void expect_test(const char *name) {
  char file[64], test[96];
  assert_int_equal(sscanf(name, "%63[a-z0-9_]: %95[a-z0-9_]", file, test), 2);
  char *source = contents(
      text("%s/Tests/CErrandTests/%s.c", ERRAND_TEST_SOURCE_DIR, file));
  if (strstr(source, text("static void %s(void **state)", test)) == NULL)
    fail_msg("%s.c has no test %s", file, test);
  free(source);
}

static const char *dotted(uint32_t version) {
  return text("%u.%u.%u", version >> 16, version >> 8 & 0xff, version & 0xff);
}

static void expect_line(const char *table, const char *line) {
  if (strstr(table, line) == NULL)
    fail_msg("docs/libcurl.md lacks the line %s", line);
}

static void each_row_names_a_test_and_is_documented(void **state) {
  (void) state;
  char *table = contents(text("%s/docs/libcurl.md", ERRAND_TEST_SOURCE_DIR));
  for (int i = 0; i < ERRAND__CURL_TRAITS; i++) {
    const errand__curl_trait_row *row =
        errand__curl_trait_row_of((errand__curl_trait) i);
    assert_non_null(row->why);
    expect_test(row->test);
    const char *from = row->from ? dotted(row->from) : "all";
    const char *before = row->before ? dotted(row->before) : "none yet";
    expect_line(table, text("| %s | %s | %s | `%s` |", from, before, row->why,
                            row->test));
  }
  const errand__curl_denial *denied;
  for (size_t n = errand__curl_denials(&denied); n > 0; n--, denied++) {
    expect_test(denied->test);
    expect_line(table, text("| %s to %s | %s | `%s` |", dotted(denied->from),
                            dotted(denied->to), denied->why, denied->test));
  }
  free(table);
}

static void denied_versions_have_an_end(void **state) {
  static const struct {
    uint32_t version;
    bool denied;
  } table[] = {
      {0x075801, false}, {0x080500, false}, {0x0808ff, false},
      {0x080900, true},  {0x080901, false}, {0x080e01, false},
      {0x080f00, false}, {0x081000, true},  {0x081100, false},
      {0x081400, false}, {0x081500, false}, {0x081600, false},
  };
  (void) state;
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
    if (errand__curl_denied(table[i].version) != table[i].denied)
      fail_msg("%s", dotted(table[i].version));
}

static void traits_are_those_of_what_runs(void **state) {
  (void) state;
  for (int i = 0; i < ERRAND__CURL_TRAITS; i++) {
    const errand__curl_trait_row *row =
        errand__curl_trait_row_of((errand__curl_trait) i);
    uint32_t now = errand__curl_version();
    assert_int_equal(errand__curl_does((errand__curl_trait) i),
                     now >= row->from &&
                         (row->before == 0 || now < row->before));
  }
}

/* scripts/test sets the variable where it runs programs with a library that
   they were not built with. */
static void the_library_that_was_asked_for_runs(void **state) {
  (void) state;
  const char *wanted = getenv("ERRAND_TEST_LIBCURL");
  if (wanted == NULL)
    skip();
  assert_string_equal(dotted(errand__curl_version()), wanted);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_row_names_a_test_and_is_documented),
      cmocka_unit_test(denied_versions_have_an_end),
      cmocka_unit_test(traits_are_those_of_what_runs),
      cmocka_unit_test(the_library_that_was_asked_for_runs),
  };
  return cmocka_run_group_tests_name("curl_traits", tests, NULL, NULL);
}
