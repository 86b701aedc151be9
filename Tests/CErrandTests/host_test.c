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
      {"fa\xc3\x9f.test", "xn--fa-hia.test"},
      {"[::1]", "[::1]"},
      {"a_b~c.test.", "a_b~c.test."},
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

/* WHATWG's URL standard, 3.5: a host that ends in a number is an address. */
static void addresses(void **state) {
  static const struct {
    const char *host;
    const char *expected; /* NULL: none */
  } table[] = {
      {"127.0.0.1", "127.0.0.1"},
      {"127.0.0.1.", "127.0.0.1"},
      {"0x7f.1", "127.0.0.1"},
      {"0X7F.0.0.1", "127.0.0.1"},
      {"2130706433", "127.0.0.1"},
      {"0300.168.0.0xF0", "192.168.0.240"},
      {"4294967295", "255.255.255.255"},
      {"0x", "0.0.0.0"},
      {"\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97\xe3\x80\x82\xef\xbc\x91",
       "127.0.0.1"},
      {"1.example", "1.example"},
      {"1.2.3.4a", "1.2.3.4a"},
      {"4294967296", NULL},
      {"256.0.0.1", NULL},
      {"1.2.3.4.5", NULL},
      {"1..4", NULL},
      {"09.0.0.1", NULL},
      {"0x7g.1", NULL},
      {"example.09", NULL},
      {"example.0x4", NULL},
  };
  (void) state;
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    char out[256];
    errand_status status = map(table[i].host, out, sizeof out);
    if (status != (table[i].expected ? ERRAND_OK : ERRAND_INVALID_URL) ||
        strcmp(out, table[i].expected ? table[i].expected : "") != 0)
      fail_msg("%s: %s, %s", table[i].host, errand_status_name(status), out);
  }
}

static void what_is_no_name(void **state) {
  static const char *const hosts[] = {
      "",
      "a b",
      "\xff",
      "b\xfc",
      "a/b",
      "a:1",
      "a%41",
      "[::1",
      "[::1]/",
      "\xc3\xbc\xe2\x80\xa8.test",
      /* What these are mapped to. */
      "goo\xc2\xa0\xe3\x80\x80goo.test",
      "\xef\xbc\x85\xef\xbc\x90\xef\xbc\x90.test",
      "evil.test\xef\xbc\x8f.good.test",
      "good.test\xef\xbc\xa0"
      "evil.test",
      "good.test\xef\xbc\x9a"
      "81",
      "\xc2\xad",
      /* libcurl's second try, by transitional rules: fass, ab. */
      "fa\xc3\x9f\xf0\x9f\x98\x80.test",
      "a\xe2\x80\x8d"
      "b.test",
      "a\xe2\x80\x8c"
      "b.test",
  };
  (void) state;
  for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
    char out[256] = "left";
    if (map(hosts[i], out, sizeof out) != ERRAND_INVALID_URL || *out)
      fail_msg("'%s' is '%s'", hosts[i], out);
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
      cmocka_unit_test(addresses),
      cmocka_unit_test(what_is_no_name),
      cmocka_unit_test(room),
  };
  return cmocka_run_group_tests_name("host", tests, NULL, NULL);
}
