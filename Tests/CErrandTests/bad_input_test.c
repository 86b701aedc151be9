/* The caller's mistakes: each with a status of its own, at once, and without a
   connection to the server that listens where the URL says. */
#include "support/loan.h"
#include "support/rig.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Every wrong answer of a table is told, and the test fails at its end. */
static int wrong;

/* Refused by errand_submit and by the check alone. */
static void refused(test_rig *rig, errand_request *request,
                    errand_status status, const char *what) {
  errand_request checked = *request;
  size_t accepted = errand_submit(rig->group, request, 1);
  errand_status alone = errand_request_validate(&checked);
  rig->accepted += accepted;
  if (accepted == 0 && request->status == status && alone == status)
    return;
  wrong += 1;
  print_error("%s: %s, by the check alone %s, not %s\n", what,
              errand_status_name(request->status), errand_status_name(alone),
              errand_status_name(status));
  if (accepted > 0)
    collector_wait(&rig->collector, request->id);
}

static int opened_nothing(void **state) {
  test_rig *rig = *state;
  uint64_t connections = rig_counts(rig).connections;
  errand_stats stats = rig_stats(rig);
  int failed = rig_tear_down(state);
  int answers = wrong;
  wrong = 0;
  assert_int_equal(answers, 0);
  assert_int_equal(connections, 0);
  assert_int_equal(stats.submitted, 0);
  assert_int_equal(stats.connections_opened, 0);
  return failed;
}

static void malformed_urls(void **state) {
  test_rig *rig = *state;
  const unsigned port = errand_fault_server_port(rig->server);
  const char *const urls[] = {
      "",
      "/path",
      "127.0.0.1",
      text("127.0.0.1:%u/", port),
      "http:",
      "http://",
      "http:///path",
      "http://?q",
      text("http:/127.0.0.1:%u/", port),
      text("http://127.0.0.1:%u /", port),
      text("http://127.0.0.1:%u/a b", port),
      text("http://127.0.0.1:%u/a\tb", port),
      text("http://127.0.0.1:%u/a\r\nX-Evil: 1", port),
      text("http://127.0.0.1:%u/a\nb", port),
      text("http://127.0.0.1:%u/a\x7f", port),
      "http://127.0.0.1:port/",
      "http://127.0.0.1:0x50/",
      "http://127.0.0.1:65536/",
      "http://127.0.0.1:99999999999/",
      "http://127.0.0.1:-1/",
      "http://[::1/",
      "http://[:::::]/",
      "http://[127.0.0.1]/",
      "http://a b/",
      "http://a<b>/",
      "http://ho\rst/",
      "http://ho%00st/",
      text("http://good.test\\@127.0.0.1:%u/", port),
      text("http://good.test@other.test@127.0.0.1:%u/", port),
      "http://[::%31]/",
      "http://[::1%25lo]/",
      "http://[fe80::1%25]/",
      "http://127.0.0.1.1/",
      "http://127.0.0.256/",
      "http://127.0.0.09/",
      "http://test.127/",
      "http://a%2541/",
      "http://a%4/",
      "http://a%zz/",
      /* What these are mapped to. */
      "http://GOO%C2%A0%E3%80%80goo.test/",
      "http://GOO\xc2\xa0\xe3\x80\x80goo.test/",
      "http://%EF%BC%85%EF%BC%90%EF%BC%90.test/",
      "http://evil.test%EF%BC%8F.good.test/",
      "http://a%E2%80%8Db.test/",
      "http://%C2%AD/",
      "http://b%FCcher.test/",
  };
  for (size_t i = 0; i < COUNT_OF(urls); i++) {
    errand_request request = rig_request("GET", urls[i]);
    refused(rig, &request, ERRAND_INVALID_URL, urls[i]);
  }
  errand_request nul = rig_request("GET", rig_url(rig, "/a"));
  nul.url = (errand_bytes){(const uint8_t *) "http://127.0.0.1/a\0b", 20};
  refused(rig, &nul, ERRAND_INVALID_URL, "a NUL in the path");
  nul.url = (errand_bytes){(const uint8_t *) "http://127.0.0.1\0.x/", 20};
  refused(rig, &nul, ERRAND_INVALID_URL, "a NUL in the host");
  nul.url = (errand_bytes){NULL, 0};
  refused(rig, &nul, ERRAND_INVALID_URL, "no URL");
}

static void unsupported_schemes(void **state) {
  test_rig *rig = *state;
  const unsigned port = errand_fault_server_port(rig->server);
  static const char *const schemes[] = {"ftp",  "file",   "gopher", "ws",
                                        "wss",  "telnet", "dict",   "ldap",
                                        "smtp", "httpx",  "data"};
  for (size_t i = 0; i < COUNT_OF(schemes); i++) {
    const char *url = text("%s://127.0.0.1:%u/", schemes[i], port);
    errand_request request = rig_request("GET", url);
    refused(rig, &request, ERRAND_UNSUPPORTED_SCHEME, url);
  }
}

static void malformed_methods(void **state) {
  test_rig *rig = *state;
  static const char *const methods[] = {"GET ",    " GET",      "GE T",
                                        "GET\r\n", "GET\nX: 1", "G\xc3\xa9T",
                                        "GET/",    "(GET)",     "GET\t"};
  for (size_t i = 0; i < COUNT_OF(methods); i++) {
    errand_request request = rig_request(methods[i], rig_url(rig, "/"));
    refused(rig, &request, ERRAND_INVALID_METHOD, methods[i]);
  }
  errand_request nul = rig_request("GET", rig_url(rig, "/"));
  nul.method = (errand_bytes){(const uint8_t *) "G\0T", 3};
  refused(rig, &nul, ERRAND_INVALID_METHOD, "a NUL in the method");
  nul.method = (errand_bytes){NULL, 3};
  nul.method.length = 3;
  assert_int_equal(errand_submit(rig->group, &nul, 1), 0);
  assert_int_not_equal(nul.status, ERRAND_OK);
}

static void malformed_headers(void **state) {
  test_rig *rig = *state;
  static const char *const blocks[] = {
      "X-A",
      "X-A\r\n",
      ": value\r\n",
      "X A: 1\r\n",
      "X-A : 1\r\n",
      " X-A: 1\r\n",
      "X-A: 1\r\n folded\r\n",
      "X-A: 1\r\n\r\n",
      "\r\nX-A: 1\r\n",
      "X-A: 1\r\n\r\nX-B: 2\r\n",
      "X-A: 1\nX-B: 2\r\n",
      "X-A: 1\rX-B: 2\r\n",
      "X-A: 1\r\r\n",
      "X-A: 1\n",
      "X-A: a\x01z\r\n",
      "X-A: a\x7fz\r\n",
      "X(A): 1\r\n",
      "X\xc3\xa9: 1\r\n",
  };
  for (size_t i = 0; i < COUNT_OF(blocks); i++) {
    errand_request request = rig_request("GET", rig_url(rig, "/"));
    request.headers = bytes_of(blocks[i]);
    refused(rig, &request, ERRAND_INVALID_HEADER, blocks[i]);
  }
  errand_request nul = rig_request("GET", rig_url(rig, "/"));
  nul.headers = (errand_bytes){(const uint8_t *) "X-A: a\0b\r\n", 10};
  refused(rig, &nul, ERRAND_INVALID_HEADER, "a NUL in a value");
  nul.headers = (errand_bytes){(const uint8_t *) "X\0A: ab\r\n", 9};
  refused(rig, &nul, ERRAND_INVALID_HEADER, "a NUL in a name");
}

/* The framing is the core's: a caller's length could smuggle a request. */
static void headers_that_frame_the_body(void **state) {
  test_rig *rig = *state;
  static const char *const blocks[] = {"Content-Length: 3\r\n",
                                       "Transfer-Encoding: chunked\r\n",
                                       "content-length: 99\r\n"};
  static const uint8_t body[] = "abcdef";
  for (size_t i = 0; i < COUNT_OF(blocks); i++) {
    errand_request request = rig_request("POST", rig_url(rig, "/"));
    request.headers = bytes_of(blocks[i]);
    request.body_kind = ERRAND_BODY_MEMORY;
    request.body = (errand_bytes){body, 6};
    refused(rig, &request, ERRAND_INVALID_HEADER, blocks[i]);
  }
}

static void absurd_limits(void **state) {
  test_rig *rig = *state;
  enum { FIELDS = 9 };
  for (int field = 0; field < FIELDS; field++) {
    for (int value = 0; value < 3; value++) {
      errand_request request = rig_request("GET", rig_url(rig, "/"));
      int64_t *fields[FIELDS] = {
          &request.timeout_queue,      &request.timeout_connect,
          &request.timeout_first_byte, &request.timeout_idle,
          &request.timeout_total,      &request.limit_header_bytes,
          &request.limit_header_count, &request.limit_body_bytes,
          &request.limit_decoded_bytes};
      int64_t values[] = {-1, INT64_MIN, ERRAND_TIMEOUT_MAX + 1};
      if (field >= 5 && value == 2)
        continue; /* a limit may be as large as it likes */
      *fields[field] = values[value];
      refused(rig, &request, ERRAND_INVALID_LIMIT,
              text("field %d, value %d", field, value));
    }
  }
}

static void values_out_of_their_enum(void **state) {
  test_rig *rig = *state;
  errand_request request = rig_request("GET", rig_url(rig, "/"));
  request.flags = 1u << 31;
  assert_int_equal(errand_submit(rig->group, &request, 1), 0);
  assert_int_not_equal(request.status, ERRAND_OK);
  request = rig_request("GET", rig_url(rig, "/"));
  int absurd = 17;
  memcpy(&request.priority, &absurd, sizeof absurd);
  assert_int_equal(errand_submit(rig->group, &request, 1), 0);
  request = rig_request("GET", rig_url(rig, "/"));
  memcpy(&request.body_kind, &absurd, sizeof absurd);
  assert_int_equal(errand_submit(rig->group, &request, 1), 0);
}

static void bodies_given_twice(void **state) {
  test_rig *rig = *state;
  static const errand_body_kind kinds[] = {ERRAND_BODY_NONE, ERRAND_BODY_STREAM,
                                           ERRAND_BODY_FILE,
                                           ERRAND_BODY_DESCRIPTOR};
  for (size_t i = 0; i < COUNT_OF(kinds); i++) {
    errand_request request = rig_request("POST", rig_url(rig, "/"));
    request.body_kind = kinds[i];
    request.body = bytes_of("given");
    request.body_path = kinds[i] == ERRAND_BODY_FILE ? "/etc/passwd" : NULL;
    request.body_length = ERRAND_LENGTH_UNKNOWN;
    refused(rig, &request, ERRAND_INVALID_BODY, text("kind %zu", i));
  }
  errand_request path = rig_request("POST", rig_url(rig, "/"));
  path.body_kind = ERRAND_BODY_MEMORY;
  path.body = bytes_of("given");
  path.body_path = "/etc/passwd";
  refused(rig, &path, ERRAND_INVALID_BODY, "memory and a path");
  errand_request length = rig_request("POST", rig_url(rig, "/"));
  length.body_kind = ERRAND_BODY_STREAM;
  length.body_length = -2;
  refused(rig, &length, ERRAND_INVALID_BODY, "a negative length");
}

static void unreadable_files(void **state) {
  test_rig *rig = *state;
  static const char *const paths[] = {"/nowhere/at/all", "/tmp", "/dev/null",
                                      ""};
  for (size_t i = 0; i < COUNT_OF(paths); i++) {
    errand_request request = rig_request("PUT", rig_url(rig, "/"));
    request.body_kind = ERRAND_BODY_FILE;
    request.body_path = paths[i];
    request.body_length = ERRAND_LENGTH_UNKNOWN;
    assert_int_equal(errand_submit(rig->group, &request, 1), 0);
    if (request.status != ERRAND_FILE_UNREADABLE)
      assert_int_equal(request.status, ERRAND_INVALID_BODY);
    /* The check alone opens no file and so cannot tell. */
    assert_int_not_equal(errand_request_validate(&request),
                         ERRAND_INVALID_ARGUMENT);
  }
  errand_request missing = rig_request("PUT", rig_url(rig, "/"));
  missing.body_kind = ERRAND_BODY_FILE;
  missing.body_path = "/nowhere/at/all";
  missing.body_length = ERRAND_LENGTH_UNKNOWN;
  assert_int_equal(errand_submit(rig->group, &missing, 1), 0);
  assert_int_equal(missing.status, ERRAND_FILE_UNREADABLE);
  missing.body_path = NULL;
  assert_int_equal(errand_submit(rig->group, &missing, 1), 0);
}

static void unreadable_descriptors(void **state) {
  test_rig *rig = *state;
  int pipes[2];
  assert_int_equal(pipe(pipes), 0);
  const int descriptors[] = {-1, 9999, pipes[0]};
  for (size_t i = 0; i < COUNT_OF(descriptors); i++) {
    errand_request request = rig_request("PUT", rig_url(rig, "/"));
    request.body_kind = ERRAND_BODY_DESCRIPTOR;
    request.body_fd = descriptors[i];
    request.body_length = ERRAND_LENGTH_UNKNOWN;
    assert_int_equal(errand_submit(rig->group, &request, 1), 0);
    if (request.status != ERRAND_FILE_UNREADABLE)
      assert_int_equal(request.status, ERRAND_INVALID_BODY);
  }
  close(pipes[0]);
  close(pipes[1]);
}

static void bad_options(void **state) {
  (void) state;
  errand_options *out = NULL;
#define REFUSED(expected, ...)                                                 \
  do {                                                                         \
    errand_options_init given = {__VA_ARGS__};                                 \
    errand_status status = errand_options_create(&given, &out);                \
    assert_string_equal(errand_status_name(status), #expected);                \
    assert_null(out);                                                          \
  } while (0)
  static const char *const bad_resolve[] = {
      "host",    "host:x:1.2.3.4", "host:80:not-an-address",
      ":80:::1", "host:80",        ""};
  for (size_t i = 0; i < COUNT_OF(bad_resolve); i++)
    REFUSED(INVALID_OPTION, .resolve = &bad_resolve[i], .resolve_count = 1);
  REFUSED(INVALID_OPTION, .resolve_count = 1);
  static const char *const bad_places[] = {
      "",     "a",     "a:",    ":1",    "a:0",  "a:65536", "a b:1",
      "a:1x", "a,b:1", "u@a:1", "[1]:2", "[::1", "::1:2"};
  for (size_t i = 0; i < COUNT_OF(bad_places); i++)
    REFUSED(INVALID_OPTION, .connect_to = bad_places[i]);
  REFUSED(INVALID_OPTION, .connect_to = "a:1", .unix_socket_path = "/tmp/s");
  REFUSED(INVALID_OPTION, .connect_to = "a:1", .proxy_policy = ERRAND_PROXY_URL,
          .proxy_url = "http://proxy");
  REFUSED(INVALID_OPTION, .proxy_policy = ERRAND_PROXY_URL);
  REFUSED(INVALID_OPTION, .proxy_policy = ERRAND_PROXY_URL,
          .proxy_url = "ftp://127.0.0.1:1");
  REFUSED(INVALID_OPTION, .proxy_policy = ERRAND_PROXY_URL,
          .proxy_url = "http://127.0.0.1:99999");
  REFUSED(INVALID_OPTION, .pinned_keys = "md5//abc");
  REFUSED(INVALID_OPTION, .pinned_keys = "sha256//not base64!");
  REFUSED(INVALID_OPTION, .encodings = 1u << 20);
  REFUSED(FILE_UNREADABLE, .ca_file = "/nowhere/ca.pem");
  REFUSED(FILE_UNREADABLE, .client_certificate = "/nowhere/client.pem");
  int absurd = 17;
  errand_options_init init = {0};
  memcpy(&init.http_policy, &absurd, sizeof absurd);
  assert_int_equal(errand_options_create(&init, &out), ERRAND_INVALID_OPTION);
  init = (errand_options_init){0};
  memcpy(&init.tls_minimum, &absurd, sizeof absurd);
  assert_int_equal(errand_options_create(&init, &out), ERRAND_INVALID_OPTION);
  char path[200];
  memset(path, 'x', sizeof path);
  path[0] = '/';
  path[199] = 0;
  REFUSED(INVALID_OPTION, .unix_socket_path = path);
}

static void bad_groups(void **state) {
  test_rig *rig = *state;
  errand_group *out = NULL;
  errand_group_init init = {.loops = 1};
  assert_int_equal(errand_group_create(&init, &out), ERRAND_INVALID_ARGUMENT);
  assert_null(out);
  init.on_records = collector_on_records;
  init.context = &rig->collector;
  init.loops = 65;
  assert_int_equal(errand_group_create(&init, &out), ERRAND_INVALID_LIMIT);
  init.loops = 1;
  init.limit_body_bytes = -1;
  assert_int_equal(errand_group_create(&init, &out), ERRAND_INVALID_LIMIT);
  init.limit_body_bytes = 0;
  init.limit_header_bytes = INT64_MIN;
  assert_int_equal(errand_group_create(&init, &out), ERRAND_INVALID_LIMIT);
  init.limit_header_bytes = 0;
  init.max_concurrent_streams = (1u << 24) + 1;
  assert_int_equal(errand_group_create(&init, &out), ERRAND_INVALID_LIMIT);
  assert_null(out);
  assert_int_equal(errand_group_stop(rig->group, ERRAND_STOP_DRAIN, -1),
                   ERRAND_INVALID_LIMIT);
  assert_int_equal(
      errand_group_stop(rig->group, ERRAND_STOP_DRAIN, ERRAND_TIMEOUT_MAX + 1),
      ERRAND_INVALID_LIMIT);
  int absurd = 17;
  errand_stop_mode mode;
  memcpy(&mode, &absurd, sizeof absurd);
  assert_int_equal(errand_group_stop(rig->group, mode, 0),
                   ERRAND_INVALID_OPTION);
}

/* Each item of a call stands alone. */
static void one_bad_item_does_not_hold_up_the_others(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(ECHO));
  errand_request items[3] = {
      rig_request("GET", rig_url(rig, "/")),
      rig_request("G T", rig_url(rig, "/")),
      rig_request("GET", rig_url(rig, "/")),
  };
  assert_int_equal(errand_submit(rig->group, items, 3), 2);
  rig->accepted += 2;
  assert_int_equal(items[1].status, ERRAND_INVALID_METHOD);
  rig_expect_response(collector_wait(&rig->collector, items[0].id), 200, NULL);
  rig_expect_response(collector_wait(&rig->collector, items[2].id), 200, NULL);
  assert_int_equal(errand_submit(rig->group, items, 0), 0);
}

static void unknown_ids_are_ignored(void **state) {
  test_rig *rig = *state;
  _Atomic uint64_t released = 0;
  static const uint64_t ids[] = {0, 1, UINT64_MAX, 0x123456789abcdef0};
  for (size_t i = 0; i < COUNT_OF(ids); i++) {
    assert_int_equal(errand_cancel(rig->group, ids[i]), ERRAND_OK);
    assert_int_equal(errand_pause(rig->group, ids[i]), ERRAND_OK);
    assert_int_equal(errand_resume(rig->group, ids[i]), ERRAND_OK);
    assert_int_equal(errand_grant(rig->group, ids[i], UINT64_MAX), ERRAND_OK);
    assert_int_equal(errand_upload_write(rig->group, ids[i], bytes_of("x")),
                     ERRAND_OK);
    assert_int_equal(test_lend(rig->group, ids[i], bytes_of("x"), &released),
                     ERRAND_OK);
    assert_int_equal(errand_upload_finish(rig->group, ids[i]), ERRAND_OK);
    assert_int_equal(errand_upload_fail(rig->group, ids[i]), ERRAND_OK);
  }
  /* The loops release what is lent for ids that they do not know. */
  for (int i = 0; i < 150000 && atomic_load(&released) < COUNT_OF(ids); i++)
    usleep(1000);
  assert_int_equal(atomic_load(&released), COUNT_OF(ids));
}

static void count_release(void *context) {
  atomic_fetch_add((_Atomic uint64_t *) context, 1);
}

/* Parts that cannot be in memory. A lent one is released all the same. */
static void parts_that_are_no_bytes(void **state) {
  test_rig *rig = *state;
  _Atomic uint64_t released = 0;
  static const uint8_t byte[1];
  const errand_bytes parts[] = {
      {NULL, 1}, {NULL, SIZE_MAX}, {byte, SIZE_MAX}, {byte, SIZE_MAX - 1}};
  for (size_t i = 0; i < COUNT_OF(parts); i++) {
    assert_int_equal(errand_upload_write(rig->group, 1, parts[i]),
                     ERRAND_INVALID_ARGUMENT);
    assert_int_equal(
        errand_upload_lend(rig->group, 1, parts[i], count_release, &released),
        ERRAND_INVALID_ARGUMENT);
    assert_int_equal(atomic_load(&released), i + 1);
    assert_int_equal(errand_upload_lend(rig->group, 1, parts[i], NULL, NULL),
                     ERRAND_INVALID_ARGUMENT);
  }
}

static void a_stopped_group_takes_nothing(void **state) {
  test_rig *rig = *state;
  assert_int_equal(errand_group_stop(rig->group, ERRAND_STOP_CANCEL, 0),
                   ERRAND_OK);
  errand_request request = rig_request("GET", rig_url(rig, "/"));
  assert_int_equal(errand_submit(rig->group, &request, 1), 0);
  assert_int_equal(request.status, ERRAND_SHUT_DOWN);
}

int main(void) {
#define TEST(name)                                                             \
  cmocka_unit_test_setup_teardown(name, rig_set_up, opened_nothing)
  const struct CMUnitTest tests[] = {
      TEST(malformed_urls),
      TEST(unsupported_schemes),
      TEST(malformed_methods),
      TEST(malformed_headers),
      TEST(headers_that_frame_the_body),
      TEST(absurd_limits),
      TEST(values_out_of_their_enum),
      TEST(bodies_given_twice),
      TEST(unreadable_files),
      TEST(unreadable_descriptors),
      TEST(bad_options),
      TEST(bad_groups),
      RIG_TEST(one_bad_item_does_not_hold_up_the_others),
      TEST(unknown_ids_are_ignored),
      TEST(parts_that_are_no_bytes),
      TEST(a_stopped_group_takes_nothing),
  };
  return cmocka_run_group_tests_name("bad_input", tests, NULL, NULL);
}
