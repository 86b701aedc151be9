/* Silence against each deadline, and what does and does not stop each. */
#include "support/rig.h"

#include <string.h>

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

/* Loops may be late on a loaded machine, never early. */
static void ended_after(const test_result *result, errand_status status,
                        int64_t start, int64_t least) {
  rig_expect_status(result, status);
  int64_t took = process_milliseconds() - start;
  if (took < least || took > least + 5000)
    fail_msg("%s after %lld ms, not %lld", errand_status_name(status),
             (long long) took, (long long) least);
}

static void silence_before_the_connection(void **state) {
  test_rig *rig = *state;
  errand_fault_port *port = NULL;
  assert_int_equal(errand_fault_port_create(ERRAND_FAULT_PORT_SILENT, &port),
                   0);
  errand_request request = rig_request(
      "GET", text("http://127.0.0.1:%u/", errand_fault_port_number(port)));
  request.timeout_connect = 150;
  int64_t start = process_milliseconds();
  ended_after(rig_run(rig, &request), ERRAND_TIMEOUT_CONNECT, start, 150);
  request.timeout_connect = 0;
  request.timeout_total = 150;
  start = process_milliseconds();
  ended_after(rig_run(rig, &request), ERRAND_TIMEOUT_TOTAL, start, 150);
  errand_fault_port_destroy(port);
}

static void silence_in_the_tls_handshake(void **state) {
  test_rig *rig = *state;
  const errand_fault_step steps[] = {ERRAND_FAULT_STEP(STALL)};
  errand_fault_server_on_connection(rig->server, 0, steps, 1);
  errand_request request =
      rig_request("GET", text("https://127.0.0.1:%u/",
                              errand_fault_server_port(rig->server)));
  request.timeout_connect = 150;
  int64_t start = process_milliseconds();
  ended_after(rig_run(rig, &request), ERRAND_TIMEOUT_CONNECT, start, 150);
}

static void silence_before_the_first_byte(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(STALL));
  errand_request request = rig_request("GET", rig_url(rig, "/"));
  request.timeout_connect = 100;
  request.timeout_first_byte = 200;
  int64_t start = process_milliseconds();
  ended_after(rig_run(rig, &request), ERRAND_TIMEOUT_FIRST_BYTE, start, 200);
  rig_await(rig, (errand_fault_counts){.closed = 1});
}

/* The clock starts with the last byte sent. */
static void a_slow_upload_does_not_count_as_silence(void **state) {
  test_rig *rig = *state;
  static uint8_t body[64 << 20]; /* more than loopback's buffers */
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SLEEP(400), ERRAND_FAULT_STEP(READ_BODY),
         ERRAND_FAULT_STEP_SEND(OK));
  errand_request request = rig_request("PUT", rig_url(rig, "/"));
  request.body_kind = ERRAND_BODY_MEMORY;
  request.body = (errand_bytes){body, sizeof body};
  request.timeout_first_byte = 250;
  rig_expect_response(rig_run(rig, &request), 200, "ok");
}

/* Bytes move all the time, for longer than either clock allows silence. */
static void a_steady_upload_is_not_idle(void **state) {
  test_rig *rig = *state;
  static uint8_t body[64 << 20];
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_READ_SLOWLY(1 << 20, 1),
         ERRAND_FAULT_STEP_SEND(OK));
  static const char *const methods[] = {"POST", "PUT"};
  for (size_t i = 0; i < COUNT_OF(methods); i++) {
    errand_request request = rig_request(methods[i], rig_url(rig, "/"));
    request.body_kind = ERRAND_BODY_MEMORY;
    request.body = (errand_bytes){body, sizeof body};
    request.timeout_idle = 400;
    request.timeout_first_byte = 400;
    const test_result *result = rig_run(rig, &request);
    rig_expect_response(result, 200, "ok");
    assert_true(result->end.timings.total > 1000000);
  }
}

static void the_first_byte_stops_the_first_byte_clock(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"),
         ERRAND_FAULT_STEP_SLEEP(400),
         ERRAND_FAULT_STEP_SEND("Content-Length: 2\r\n\r\nok"));
  errand_request request = rig_request("GET", rig_url(rig, "/"));
  request.timeout_first_byte = 200;
  rig_expect_response(rig_run(rig, &request), 200, "ok");
}

static void silence_in_the_body(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"
                                "Content-Length: 10\r\n\r\nabc"),
         ERRAND_FAULT_STEP(STALL));
  errand_request request = rig_request("GET", rig_url(rig, "/"));
  request.timeout_idle = 200;
  int64_t start = process_milliseconds();
  const test_result *result = rig_run(rig, &request);
  ended_after(result, ERRAND_TIMEOUT_IDLE, start, 200);
  assert_int_equal(result->end.http_status, 200);
}

static void silence_in_the_head(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\nX-A"),
         ERRAND_FAULT_STEP(STALL));
  errand_request request = rig_request("GET", rig_url(rig, "/"));
  request.timeout_idle = 200;
  int64_t start = process_milliseconds();
  ended_after(rig_run(rig, &request), ERRAND_TIMEOUT_IDLE, start, 200);
}

static void a_server_that_does_not_read(void **state) {
  test_rig *rig = *state;
  static uint8_t body[64 << 20];
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(STALL));
  errand_request request = rig_request("PUT", rig_url(rig, "/"));
  request.body_kind = ERRAND_BODY_MEMORY;
  request.body = (errand_bytes){body, sizeof body};
  request.timeout_idle = 300;
  int64_t start = process_milliseconds();
  ended_after(rig_run(rig, &request), ERRAND_TIMEOUT_IDLE, start, 300);
}

/* Bytes move, so idle does not strike; the total does. */
static void a_drip_against_idle_and_total(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"
                                "Content-Length: 1000\r\n\r\n"),
         ERRAND_FAULT_STEP_DRIP(20, -1, "x"));
  errand_request request = rig_request("GET", rig_url(rig, "/"));
  request.timeout_idle = 300;
  request.timeout_total = 900;
  int64_t start = process_milliseconds();
  const test_result *result = rig_run(rig, &request);
  ended_after(result, ERRAND_TIMEOUT_TOTAL, start, 900);
  assert_true(result->end.bytes_received >= 5);
}

static void a_drip_slower_than_idle(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"
                                "Content-Length: 1000\r\n\r\n"),
         ERRAND_FAULT_STEP_DRIP(600, -1, "x"));
  errand_request request = rig_request("GET", rig_url(rig, "/"));
  request.timeout_idle = 200;
  rig_expect_status(rig_run(rig, &request), ERRAND_TIMEOUT_IDLE);
}

static void silence_against_the_total(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(STALL));
  errand_request request = rig_request("GET", rig_url(rig, "/"));
  request.timeout_total = 200;
  int64_t start = process_milliseconds();
  ended_after(rig_run(rig, &request), ERRAND_TIMEOUT_TOTAL, start, 200);
}

static void waiting_in_the_queue(void **state) {
  test_rig *rig = *state;
  assert_int_equal(errand_group_destroy(rig->group), ERRAND_OK);
  errand_group_init init = {.loops = 1,
                            .in_flight_limit = 1,
                            .on_records = collector_on_records,
                            .context = &rig->collector};
  assert_int_equal(errand_group_create(&init, &rig->group), ERRAND_OK);
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(STALL), ERRAND_FAULT_STEP_SEND(OK));
  errand_request first = rig_request("GET", rig_url(rig, "/"));
  uint64_t id = rig_submit(rig, &first);
  rig_await(rig, (errand_fault_counts){.requests = 1});
  int64_t start = process_milliseconds();
  errand_request queued = rig_request("GET", rig_url(rig, "/"));
  queued.timeout_queue = 150;
  ended_after(rig_run(rig, &queued), ERRAND_TIMEOUT_QUEUE, start, 150);
  /* The total counts from the submission, so it strikes in the queue too. */
  start = process_milliseconds();
  queued.timeout_queue = 0;
  queued.timeout_total = 150;
  ended_after(rig_run(rig, &queued), ERRAND_TIMEOUT_TOTAL, start, 150);
  errand_fault_server_release(rig->server);
  rig_expect_response(collector_wait(&rig->collector, id), 200, "ok");
  assert_int_equal(rig_counts(rig).requests, 1);
}

/* Paused, idle stands still and total does not. */
static void a_pause_stops_idle_only(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"
                                "Content-Length: 5\r\n\r\nabc"),
         ERRAND_FAULT_STEP(STALL), ERRAND_FAULT_STEP_SEND("de"));
  errand_request request = rig_request("GET", rig_url(rig, "/"));
  request.flags = ERRAND_REQUEST_STREAM_RESPONSE;
  request.timeout_idle = 200;
  uint64_t id = rig_submit(rig, &request);
  collector_wait_chunks(&rig->collector, id, 3);
  assert_int_equal(errand_pause(rig->group, id), ERRAND_OK);
  errand_request other = rig_request("GET", rig_url(rig, "/"));
  other.timeout_total = 500;
  rig_expect_status(rig_run(rig, &other), ERRAND_TIMEOUT_TOTAL);
  assert_int_equal(collector_peek(&rig->collector, id).order, 0);
  errand_fault_server_release(rig->server);
  assert_int_equal(errand_resume(rig->group, id), ERRAND_OK);
  rig_expect_status(collector_wait(&rig->collector, id), ERRAND_OK);
  request.timeout_total = 300;
  errand_fault_server_hold(rig->server);
  id = rig_submit(rig, &request);
  assert_int_equal(errand_pause(rig->group, id), ERRAND_OK);
  rig_expect_status(collector_wait(&rig->collector, id), ERRAND_TIMEOUT_TOTAL);
}

/* Whoever is at fault, the server or the source. */
static void a_source_that_stalls(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(READ_BODY), ERRAND_FAULT_STEP_SEND(OK));
  errand_request request = rig_request("PUT", rig_url(rig, "/"));
  request.body_kind = ERRAND_BODY_STREAM;
  request.body_length = ERRAND_LENGTH_UNKNOWN;
  request.timeout_idle = 250;
  /* The server's silence does not run while the body is not sent. */
  request.timeout_first_byte = 100;
  int64_t start = process_milliseconds();
  ended_after(rig_run(rig, &request), ERRAND_TIMEOUT_IDLE, start, 250);
  start = process_milliseconds();
  uint64_t id = rig_submit(rig, &request);
  errand_upload_write(rig->group, id, bytes_of("part"));
  ended_after(collector_wait(&rig->collector, id), ERRAND_TIMEOUT_IDLE, start,
              250);
  /* A pause is none of the source's. */
  request.timeout_first_byte = 0;
  id = rig_submit(rig, &request);
  rig_await(rig, (errand_fault_counts){.requests = 3});
  assert_int_equal(errand_pause(rig->group, id), ERRAND_OK);
  errand_request other = rig_request("GET", rig_url(rig, "/stall"));
  RIG_ON(rig, "/stall", ERRAND_FAULT_STEP(STALL));
  other.timeout_total = 600;
  rig_expect_status(rig_run(rig, &other), ERRAND_TIMEOUT_TOTAL);
  assert_int_equal(collector_peek(&rig->collector, id).order, 0);
  start = process_milliseconds();
  assert_int_equal(errand_resume(rig->group, id), ERRAND_OK);
  ended_after(collector_wait(&rig->collector, id), ERRAND_TIMEOUT_IDLE, start,
              250);
}

/* A thousand clocks of a millisecond, and none is early or lost. */
static void many_short_deadlines(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(STALL));
  static errand_request requests[500];
  for (size_t i = 0; i < COUNT_OF(requests); i++) {
    requests[i] = rig_request("GET", rig_url(rig, "/"));
    requests[i].timeout_total = 1 + (int64_t) i % 50;
  }
  rig->accepted += errand_submit(rig->group, requests, COUNT_OF(requests));
  assert_int_equal(rig->accepted, COUNT_OF(requests));
  for (size_t i = 0; i < COUNT_OF(requests); i++)
    rig_expect_status(collector_wait(&rig->collector, requests[i].id),
                      ERRAND_TIMEOUT_TOTAL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST(silence_before_the_connection),
      RIG_TEST(silence_in_the_tls_handshake),
      RIG_TEST(silence_before_the_first_byte),
      RIG_TEST(a_slow_upload_does_not_count_as_silence),
      RIG_TEST(a_steady_upload_is_not_idle),
      RIG_TEST(the_first_byte_stops_the_first_byte_clock),
      RIG_TEST(silence_in_the_body),
      RIG_TEST(silence_in_the_head),
      RIG_TEST(a_server_that_does_not_read),
      RIG_TEST(a_drip_against_idle_and_total),
      RIG_TEST(a_drip_slower_than_idle),
      RIG_TEST(silence_against_the_total),
      RIG_TEST(waiting_in_the_queue),
      RIG_TEST(a_pause_stops_idle_only),
      RIG_TEST(a_source_that_stalls),
      RIG_TEST(many_short_deadlines),
  };
  return cmocka_run_group_tests_name("deadline", tests, NULL, NULL);
}
