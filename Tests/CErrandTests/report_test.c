/* STARTED, SENT, HEAD and PROGRESS: what is told on the way, to those who ask.
 */
#include "libcurl/process.h"
#include "support/rig.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define MIB ((size_t) 1 << 20)

static errand_request reported(const char *method, const char *url,
                               uint32_t flags) {
  errand_request request = rig_request(method, url);
  request.flags = flags;
  return request;
}

static const test_result *run(test_rig *rig, const char *path, uint32_t flags) {
  errand_request request = reported("GET", rig_url(rig, path), flags);
  return rig_run(rig, &request);
}

static void events_come_in_order(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  const test_result *result = run(rig, "/", ERRAND_REQUEST_REPORT_EVENTS);
  rig_expect_response(result, 200, "ok");
  assert_string_equal(result->kinds, "Sshe");
  assert_int_equal(result->head.http_status, 200);
  assert_true(bytes_contain(errand_payload_head(result->head.payload),
                            "Content-Length: 2\r\n"));
  assert_string_equal(
      bytes_text(errand_payload_remote_address(result->head.payload)),
      text("127.0.0.1:%u", errand_fault_server_port(rig->server)));
  assert_true(bytes_contain(errand_payload_head(result->end.payload),
                            "Content-Length: 2\r\n"));
}

static void nobody_asked_nothing_told(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  assert_string_equal(run(rig, "/", 0)->kinds, "e");
}

static void events_of_a_streamed_response(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  const test_result *result = run(
      rig, "/", ERRAND_REQUEST_REPORT_EVENTS | ERRAND_REQUEST_STREAM_RESPONSE);
  assert_string_equal(result->kinds, "Sshce");
}

static void an_interim_head_is_not_told(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n"),
         ERRAND_FAULT_STEP_SEND(OK));
  const test_result *result = run(rig, "/", ERRAND_REQUEST_REPORT_EVENTS);
  assert_int_equal(result->heads, 1);
  assert_int_equal(result->head.http_status, 200);
  assert_false(
      bytes_contain(errand_payload_head(result->head.payload), "Link"));
}

static void a_refused_connection_is_never_sent_on(void **state) {
  test_rig *rig = *state;
  errand_fault_port *port;
  assert_int_equal(errand_fault_port_create(ERRAND_FAULT_PORT_REFUSED, &port),
                   0);
  errand_request request = reported(
      "GET", text("http://127.0.0.1:%u/", errand_fault_port_number(port)),
      ERRAND_REQUEST_REPORT_EVENTS | ERRAND_REQUEST_REPORT_PROGRESS);
  const test_result *result = rig_run(rig, &request);
  rig_expect_status(result, ERRAND_CONNECT_FAILED);
  assert_string_equal(result->kinds, "Spe");
  assert_int_equal(result->progress.bytes_sent, 0);
  assert_int_equal(result->progress.totals.to_receive, ERRAND_LENGTH_UNKNOWN);
  errand_fault_port_destroy(port);
}

static void what_never_starts_tells_its_end_alone(void **state) {
  test_rig *rig = *state;
  errand_request request =
      reported("GET", rig_url(rig, "/"),
               ERRAND_REQUEST_REPORT_EVENTS | ERRAND_REQUEST_REPORT_PROGRESS);
  /* One order each way: the pause is there before the loop's next turn, or
     the cancel finds it started. */
  rig_submit(rig, &request);
  assert_int_equal(errand_group_stop(rig->group, ERRAND_STOP_CANCEL, 0),
                   ERRAND_OK);
  const test_result *result = collector_wait(&rig->collector, request.id);
  assert_int_equal(result->started, result->progresses);
}

static void a_replayed_request_is_sent_once(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(CLOSE));
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  rig_expect_response(run(rig, "/", 0), 200, "ok");
  const test_result *result = run(
      rig, "/", ERRAND_REQUEST_REPORT_EVENTS | ERRAND_REQUEST_REPORT_PROGRESS);
  rig_expect_response(result, 200, "ok");
  assert_true(result->end.flags & ERRAND_RECORD_REPLAYED);
  assert_string_equal(result->kinds, "Sshpe");
}

/* A loop that is late tells of all the bytes at once; the last waits for
   that. */
static void await_progress(test_rig *rig, uint64_t id) {
  int64_t start = process_milliseconds();
  while (collector_peek(&rig->collector, id).progresses == 0 &&
         process_milliseconds() - start < 60000)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void progress_of_a_slow_download(void **state) {
  test_rig *rig = *state;
  RIG_ON(
      rig, "/",
      ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\nContent-Length: 61\r\n\r\n"),
      ERRAND_FAULT_STEP_DRIP(10, 60, "x"), ERRAND_FAULT_STEP(STALL),
      ERRAND_FAULT_STEP_SEND("x"));
  errand_request request =
      reported("GET", rig_url(rig, "/"), ERRAND_REQUEST_REPORT_PROGRESS);
  uint64_t id = rig_submit(rig, &request);
  await_progress(rig, id);
  errand_fault_server_release(rig->server);
  const test_result *result = collector_wait(&rig->collector, id);
  rig_expect_status(result, ERRAND_OK);
  assert_int_equal(result->progress.bytes_received, 61);
  assert_int_equal(result->progress.totals.to_receive, 61);
  assert_int_equal(result->progress.totals.to_send, 0);
  /* At most one each 100 ms: the whole took as long as the record says. */
  assert_true(result->progresses >= 2);
  assert_true(result->progresses <= 2 + result->end.timings.total / 100000);
}

static void progress_of_a_slow_upload(void **state) {
  test_rig *rig = *state;
  size_t length = 16 * MIB;
  char *body = calloc(1, length);
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_READ_SLOWLY(16384, 1),
         ERRAND_FAULT_STEP_SEND(OK));
  errand_request request =
      reported("PUT", rig_url(rig, "/"), ERRAND_REQUEST_REPORT_PROGRESS);
  request.body_kind = ERRAND_BODY_MEMORY;
  request.body = (errand_bytes){(const uint8_t *) body, length};
  const test_result *result = rig_run(rig, &request);
  rig_expect_response(result, 200, "ok");
  assert_true(result->progresses >= 3);
  assert_int_equal(result->progress.bytes_sent, length);
  assert_int_equal(result->progress.totals.to_send, length);
  assert_int_equal(result->progress.bytes_received, 2);
  free(body);
}

static void lengths_that_nobody_says(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/chunked",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\nTransfer-Encoding: "
                                "chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"));
  RIG_ON(
      rig, "/head",
      ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\nContent-Length: 77\r\n\r\n"));
  const test_result *chunked =
      run(rig, "/chunked", ERRAND_REQUEST_REPORT_PROGRESS);
  assert_int_equal(chunked->progress.totals.to_receive, ERRAND_LENGTH_UNKNOWN);
  assert_int_equal(chunked->progress.bytes_received,
                   chunked->end.bytes_received);
  errand_request request =
      reported("HEAD", rig_url(rig, "/head"), ERRAND_REQUEST_REPORT_PROGRESS);
  const test_result *head = rig_run(rig, &request);
  rig_expect_response(head, 200, "");
  assert_int_equal(head->progress.totals.to_receive, 0);
  assert_int_equal(head->progresses, 1);
}

/* The bytes that a connection has carried are those of its heads and bodies.
   libcurl 8.7 does not count what it sends. */
static void expect_heads(test_rig *rig, errand_request *request) {
  errand_fault_counts before = rig_counts(rig);
  const test_result *result = rig_run(rig, request);
  rig_expect_response(result, 200, NULL);
  uint64_t received = before.bytes_sent + result->end.head_bytes_received +
                      result->end.bytes_received;
  uint64_t sent = before.bytes_received + result->end.head_bytes_sent +
                  result->end.bytes_sent;
  /* The client may have the last byte before the server has counted it. */
  rig_await(rig, (errand_fault_counts){.bytes_sent = received});
  assert_int_equal(rig_counts(rig).bytes_sent, received);
  if (errand__curl_version() >> 8 != 0x0807)
    assert_int_equal(rig_counts(rig).bytes_received, sent);
}

static void bytes_of_heads(void **state) {
  test_rig *rig = *state;
  static uint8_t body[100000];
  static const size_t lengths[] = {1, 700, 20000, sizeof body};
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(READ_BODY), ERRAND_FAULT_STEP_SEND(OK));
  RIG_ON(rig, "/early",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n"),
         ERRAND_FAULT_STEP_SEND(OK));
  errand_request request =
      reported("GET", rig_url(rig, "/"), ERRAND_REQUEST_COUNT_HEADS);
  expect_heads(rig, &request);
  request.headers = bytes_of("X-A: 1\r\nX-B: 2\r\n");
  expect_heads(rig, &request);
  request.url = bytes_of(rig_url(rig, "/early"));
  expect_heads(rig, &request);
  request.url = bytes_of(rig_url(rig, "/"));
  request.method = bytes_of("POST");
  request.body_kind = ERRAND_BODY_MEMORY;
  for (size_t i = 0; i < COUNT_OF(lengths); i++) {
    request.body = (errand_bytes){body, lengths[i]};
    expect_heads(rig, &request);
  }
}

static void nobody_counts_heads_unasked(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  const test_result *result = run(rig, "/", 0);
  assert_int_equal(result->end.head_bytes_sent, 0);
  assert_int_equal(result->end.head_bytes_received, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST(events_come_in_order),
      RIG_TEST(nobody_asked_nothing_told),
      RIG_TEST(events_of_a_streamed_response),
      RIG_TEST(an_interim_head_is_not_told),
      RIG_TEST(a_refused_connection_is_never_sent_on),
      RIG_TEST(what_never_starts_tells_its_end_alone),
      RIG_TEST_ONE_LOOP(a_replayed_request_is_sent_once),
      RIG_TEST(progress_of_a_slow_download),
      RIG_TEST(progress_of_a_slow_upload),
      RIG_TEST(lengths_that_nobody_says),
      RIG_TEST(bytes_of_heads),
      RIG_TEST(nobody_counts_heads_unasked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
