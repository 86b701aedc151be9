/* ERRAND_REQUEST_WEBSOCKET: the handshake, and bytes both ways behind it. */
#include "support/rig.h"

#include <string.h>
#include <unistd.h>

#define KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
#define SWITCH                                                                 \
  "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"                 \
  "Connection: Upgrade\r\nContent-Encoding: gzip\r\n"                          \
  "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"

static bool has_websocket(void) {
  errand_features features;
  errand_features_read(&features);
  return (features.flags & ERRAND_FEATURE_WEBSOCKET) != 0;
}

/* Skips what needs it, by name. */
#define NEEDS_WEBSOCKET()                                                      \
  do {                                                                         \
    if (!has_websocket())                                                      \
      skip();                                                                  \
  } while (0)

static const char *ws_url(const test_rig *rig, const char *path) {
  return text("ws%s", rig_url(rig, path) + strlen("http"));
}

static errand_request socket_of(const char *url) {
  errand_request request = rig_request("GET", url);
  request.flags = ERRAND_REQUEST_STREAM_RESPONSE | ERRAND_REQUEST_WEBSOCKET;
  request.body_kind = ERRAND_BODY_STREAM;
  request.body_length = ERRAND_LENGTH_UNKNOWN;
  request.headers = bytes_of(KEY);
  return request;
}

static void bytes_go_both_ways_behind_101(void **state) {
  test_rig *rig = *state;
  NEEDS_WEBSOCKET();
  collector_grant_to(&rig->collector, rig->group);
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(SWITCH "hello"),
         ERRAND_FAULT_STEP_READ_BYTES(5), ERRAND_FAULT_STEP_SEND("world"),
         ERRAND_FAULT_STEP_READ_BYTES(3), ERRAND_FAULT_STEP(FINISH));
  errand_request request = socket_of(ws_url(rig, "/"));
  uint64_t id = rig_submit(rig, &request);
  const test_result *result = collector_wait_head(&rig->collector, id);
  assert_int_equal(result->head.http_status, 101);
  collector_wait_chunks(&rig->collector, id, 5);
  errand_upload_write(rig->group, id, bytes_of("12345"));
  collector_wait_chunks(&rig->collector, id, 10);
  errand_upload_write(rig->group, id, bytes_of("678"));
  /* The server's end is the end, though the upload could go on. */
  result = collector_wait(&rig->collector, id);
  rig_expect_status(result, ERRAND_OK);
  assert_int_equal(result->chunk_bytes, 10);
  assert_int_equal(result->chunk_hash, errand_fault_hash(0, "helloworld", 10));
  errand_fault_request seen;
  assert_int_equal(errand_fault_server_request(rig->server, 0, &seen), 1);
  assert_string_equal(seen.method, "GET");
  assert_non_null(strstr(seen.head, "Upgrade: websocket"));
  assert_non_null(strstr(seen.head, "Sec-WebSocket-Version: 13"));
  assert_non_null(strstr(seen.head, KEY));
  assert_null(strstr(seen.head, "Transfer-Encoding"));
  assert_null(strstr(seen.head, "Expect"));
  assert_int_equal(rig_counts(rig).bytes_received, seen.head_length + 2 + 8);
}

static void another_status_ends_as_a_response(void **state) {
  static const char *const paths[] = {"/200", "/401", "/302"};
  static const int statuses[] = {200, 401, 302};
  test_rig *rig = *state;
  NEEDS_WEBSOCKET();
  collector_grant_to(&rig->collector, rig->group);
  RIG_ON(
      rig, "/200",
      ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno"));
  RIG_ON(
      rig, "/401",
      ERRAND_FAULT_STEP_SEND("HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\nno"));
  RIG_ON(rig, "/302",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 302 Found\r\nLocation: /\r\n"
                                "Content-Length: 2\r\n\r\nno"));
  for (size_t i = 0; i < COUNT_OF(paths); i++) {
    errand_request request = socket_of(ws_url(rig, paths[i]));
    const test_result *result = rig_run(rig, &request);
    rig_expect_status(result, ERRAND_OK);
    assert_int_equal(result->end.http_status, statuses[i]);
    assert_int_equal(result->heads, 1);
  }
}

static void silence_is_a_fault_before_101_alone(void **state) {
  test_rig *rig = *state;
  NEEDS_WEBSOCKET();
  RIG_ON(rig, "/silent", ERRAND_FAULT_STEP(STALL));
  RIG_ON(rig, "/open", ERRAND_FAULT_STEP_SEND(SWITCH),
         ERRAND_FAULT_STEP(STALL));
  errand_request request = socket_of(ws_url(rig, "/silent"));
  request.timeout_first_byte = 200;
  rig_expect_status(rig_run(rig, &request), ERRAND_TIMEOUT_FIRST_BYTE);
  /* Silence counts until the 101. If a thread was too late for that, the next
     request has more time. */
  for (int64_t idle = 100;; idle *= 10) {
    request = socket_of(ws_url(rig, "/open"));
    request.timeout_idle = idle;
    uint64_t id = rig_submit(rig, &request);
    test_result now = collector_peek(&rig->collector, id);
    while (now.heads == 0 && now.order == 0) {
      usleep(1000);
      now = collector_peek(&rig->collector, id);
    }
    if (now.heads == 0) {
      rig_expect_status(&now, ERRAND_TIMEOUT_IDLE);
      assert_true(idle < 100000);
      continue;
    }
    rig_expect_rest(rig, (int) idle + 200, 20);
    assert_int_equal(collector_peek(&rig->collector, id).order, 0);
    errand_cancel(rig->group, id);
    rig_expect_status(collector_wait(&rig->collector, id), ERRAND_CANCELLED);
    break;
  }
}

static void what_is_withheld_backs_up_to_the_server(void **state) {
  test_rig *rig = *state;
  NEEDS_WEBSOCKET();
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(SWITCH),
         ERRAND_FAULT_STEP_REPEAT(-1, "0123456789abcdef"));
  errand_request request = socket_of(ws_url(rig, "/"));
  request.response_credit = 1000;
  uint64_t id = rig_submit(rig, &request);
  collector_wait_chunks(&rig->collector, id, 1000);
  rig_expect_rest(rig, 300, 50);
  assert_true(collector_peek(&rig->collector, id).chunk_bytes < 100000);
  /* What is written still goes out. */
  errand_upload_write(rig->group, id, bytes_of("12345678"));
  collector_wait_credit(&rig->collector, id, 8);
  errand_cancel(rig->group, id);
  rig_expect_status(collector_wait(&rig->collector, id), ERRAND_CANCELLED);
}

static void without_it_there_is_a_typed_error(void **state) {
  test_rig *rig = *state;
  errand_request request = socket_of(ws_url(rig, "/"));
  assert_int_equal(errand_request_validate(&request),
                   has_websocket() ? ERRAND_OK : ERRAND_UNSUPPORTED_FEATURE);
  errand_features features;
  errand_features_read(&features);
  if (features.curl_version_number < 0x080b00)
    assert_false(has_websocket());
  assert_int_equal(rig_counts(rig).connections, 0);
}

static void what_is_no_websocket(void **state) {
  test_rig *rig = *state;
  errand_request request = socket_of(rig_url(rig, "/"));
  assert_int_equal(errand_request_validate(&request),
                   ERRAND_UNSUPPORTED_SCHEME);
  request = rig_request("GET", ws_url(rig, "/"));
  assert_int_equal(errand_request_validate(&request),
                   ERRAND_UNSUPPORTED_SCHEME);
  if (!has_websocket())
    return;
  request = socket_of(ws_url(rig, "/"));
  request.method = bytes_of("POST");
  assert_int_equal(errand_request_validate(&request), ERRAND_INVALID_METHOD);
  request = socket_of(ws_url(rig, "/"));
  request.body_length = 5;
  assert_int_equal(errand_request_validate(&request), ERRAND_INVALID_BODY);
  request = socket_of(ws_url(rig, "/"));
  request.flags = ERRAND_REQUEST_WEBSOCKET;
  assert_int_equal(errand_request_validate(&request), ERRAND_INVALID_OPTION);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST(bytes_go_both_ways_behind_101),
      RIG_TEST(another_status_ends_as_a_response),
      RIG_TEST_ONE_LOOP(silence_is_a_fault_before_101_alone),
      RIG_TEST_ONE_LOOP(what_is_withheld_backs_up_to_the_server),
      RIG_TEST(without_it_there_is_a_typed_error),
      RIG_TEST(what_is_no_websocket),
  };
  return cmocka_run_group_tests_name("websocket", tests, NULL, NULL);
}
