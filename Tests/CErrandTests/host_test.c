/* errand_host_ascii: the name that a request looks up. */
#include "support/rig.h"

#include <locale.h>
#include <string.h>

static errand_status map(const char *host, char *out, size_t capacity) {
  errand_bytes bytes = {(const uint8_t *) host, strlen(host)};
  return errand_host_ascii(bytes, out, capacity);
}

static void names(void **state) {
  static const struct {
    const char *host;
    const char *expected;
  } table[] = {
      {"a", "a"},
      {"API.example.com", "API.example.com"},
      {"b\xc3\xbc"
       "cher.test",
       "xn--bcher-kva.test"},
      {"B\xc3\x9c"
       "CHER.test",
       "xn--bcher-kva.test"},
      {"\xef\xbd\x81pi.test", "api.test"},
      {"xn--bcher-kva.test", "xn--bcher-kva.test"},
  };
  (void) state;
  /* The process's locale is no matter. */
  static const char *const locales[] = {"C", "C.UTF-8"};
  for (size_t l = 0; l < 2; l++) {
    setlocale(LC_ALL, locales[l]);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
      char out[256];
      assert_int_equal(map(table[i].host, out, sizeof out), ERRAND_OK);
      assert_string_equal(out, table[i].expected);
    }
  }
}

static void what_is_no_name(void **state) {
  static const char *const hosts[] = {
      "", "a b", "\xff", "b\xfc", "a/b", "\xc3\xbc\xe2\x80\xa8.test"};
  (void) state;
  for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
    char out[256] = "left";
    assert_int_equal(map(hosts[i], out, sizeof out), ERRAND_INVALID_URL);
    assert_string_equal(out, "");
  }
  char out[256];
  errand_bytes nul = {(const uint8_t *) "a\0b", 3};
  assert_int_equal(errand_host_ascii(nul, out, sizeof out), ERRAND_INVALID_URL);
}

static void room(void **state) {
  char out[20] = "";
  (void) state;
  assert_int_equal(map("b\xc3\xbc"
                       "cher.test",
                       out, 18),
                   ERRAND_INVALID_URL);
  assert_string_equal(out, "");
  assert_int_equal(map("b\xc3\xbc"
                       "cher.test",
                       out, 19),
                   ERRAND_OK);
  assert_int_equal(map("a", out, 0), ERRAND_INVALID_URL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names),
      cmocka_unit_test(what_is_no_name),
      cmocka_unit_test(room),
  };
  return cmocka_run_group_tests_name("host", tests, NULL, NULL);
}
