#include <ctype.h>
#include <string.h>

#include "include/errand_status.h"
#include "support/test.h"

static const struct {
  const char *name;
  int value;
  const char *text;
} table[] = {
#define ROW(name, value, swift, text) {#name, value, text},
    ERRAND_STATUS_MAP(ROW)
#undef ROW
};

static void every_status_has_its_name_and_text(void **state) {
  (void) state;
  for (size_t i = 0; i < COUNT_OF(table); i++) {
    assert_string_equal(errand_status_name(table[i].value), table[i].name);
    assert_string_equal(errand_status_text(table[i].value), table[i].text);
  }
}

static void names_and_texts_are_unlike_each_other(void **state) {
  (void) state;
  for (size_t i = 0; i < COUNT_OF(table); i++)
    for (size_t j = 0; j < i; j++) {
      assert_int_not_equal(table[i].value, table[j].value);
      assert_string_not_equal(table[i].text, table[j].text);
    }
}

static void texts_are_sentences_to_be_continued(void **state) {
  (void) state;
  for (size_t i = 0; i < COUNT_OF(table); i++) {
    size_t length = strlen(table[i].text);
    assert_true(length > 1);
    assert_int_not_equal(table[i].text[length - 1], '.');
    assert_false(isspace((unsigned char) table[i].text[length - 1]));
  }
}

static void other_numbers_are_unknown(void **state) {
  (void) state;
  static const int others[] = {-1, 11, 39, 104, 1000000};
  for (size_t i = 0; i < COUNT_OF(others); i++) {
    assert_string_equal(errand_status_name(others[i]), "UNKNOWN");
    assert_string_equal(errand_status_text(others[i]), "unknown status");
  }
}

/* Swift code and dashboards keep these numbers. */
static void values_are_stable(void **state) {
  (void) state;
  assert_int_equal(ERRAND_OK, 0);
  assert_int_equal(ERRAND_INVALID_ARGUMENT, 1);
  assert_int_equal(ERRAND_QUEUE_FULL, 20);
  assert_int_equal(ERRAND_CANCELLED, 40);
  assert_int_equal(ERRAND_RESOLVE_FAILED, 60);
  assert_int_equal(ERRAND_SEND_FAILED, 80);
  assert_int_equal(ERRAND_LIMIT_HEADER_BYTES, 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_status_has_its_name_and_text),
      cmocka_unit_test(names_and_texts_are_unlike_each_other),
      cmocka_unit_test(texts_are_sentences_to_be_continued),
      cmocka_unit_test(other_numbers_are_unknown),
      cmocka_unit_test(values_are_stable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
