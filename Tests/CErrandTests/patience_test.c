/* Deadlines that must not strike, or not yet. Their clocks run for 20 s, so
   that a thread held up for less changes nothing; all of them run at once: the
   set-up submits what the tests wait for. */
#include "support/rig.h"

#include <string.h>

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

/* Milliseconds: what must not strike, and how long it is tempted. */
enum { CLOCK = 20000, LONGER = 25000 };

static struct {
  uint64_t held_response;
  uint64_t held_upload;
  uint64_t while_held;
  uint64_t late_reader;
  uint64_t steady[2];
  uint64_t late_head;
  uint64_t stuck_body;
  uint64_t drip;
  uint64_t connected;
} ids;

/* Returns: a request with a body of more than loopback's buffers. */
static errand_request upload(const char *method, const char *url) {
  static uint8_t body[64 << 20];
  errand_request request = rig_request(method, url);
  request.body_kind = ERRAND_BODY_MEMORY;
  request.body = (errand_bytes){body, sizeof body};
  return request;
}

static void start_held(test_rig *rig) {
  RIG_ON(rig, "/held",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"
                                "Content-Length: 5\r\n\r\nabc"),
         ERRAND_FAULT_STEP(STALL), ERRAND_FAULT_STEP_SEND("de"));
  RIG_ON(rig, "/read", ERRAND_FAULT_STEP(READ_BODY),
         ERRAND_FAULT_STEP_SEND(OK));
  RIG_ON(rig, "/stall", ERRAND_FAULT_STEP(STALL));
  errand_request get = rig_request("GET", rig_url(rig, "/held"));
  get.flags = ERRAND_REQUEST_STREAM_RESPONSE;
  get.timeout_idle = CLOCK;
  ids.held_response = rig_submit(rig, &get);
  errand_request put = rig_request("PUT", rig_url(rig, "/read"));
  put.body_kind = ERRAND_BODY_STREAM;
  put.body_length = ERRAND_LENGTH_UNKNOWN;
  put.timeout_idle = CLOCK;
  ids.held_upload = rig_submit(rig, &put);
  collector_wait_chunks(&rig->collector, ids.held_response, 3);
  rig_await(rig, (errand_fault_counts){.requests = 2});
  assert_int_equal(errand_pause(rig->group, ids.held_response), ERRAND_OK);
  assert_int_equal(errand_pause(rig->group, ids.held_upload), ERRAND_OK);
  /* On the one loop, so it starts after the pauses. */
  errand_request other = rig_request("GET", rig_url(rig, "/stall"));
  other.timeout_total = LONGER;
  ids.while_held = rig_submit(rig, &other);
}

static void start_uploads(test_rig *rig) {
  RIG_ON(rig, "/late", ERRAND_FAULT_STEP_SLEEP(LONGER),
         ERRAND_FAULT_STEP(READ_BODY), ERRAND_FAULT_STEP_SEND(OK));
  /* 16 KiB at most at a time: 4,096 times 6 ms. */
  RIG_ON(rig, "/steady", ERRAND_FAULT_STEP_READ_SLOWLY(1 << 20, 6),
         ERRAND_FAULT_STEP_SEND(OK));
  errand_request late = upload("PUT", rig_url(rig, "/late"));
  late.timeout_first_byte = CLOCK;
  ids.late_reader = rig_submit(rig, &late);
  static const char *const methods[] = {"POST", "PUT"};
  for (size_t i = 0; i < COUNT_OF(methods); i++) {
    errand_request steady = upload(methods[i], rig_url(rig, "/steady"));
    steady.timeout_idle = CLOCK;
    steady.timeout_first_byte = CLOCK;
    ids.steady[i] = rig_submit(rig, &steady);
  }
}

static void start_responses(test_rig *rig) {
  RIG_ON(rig, "/head", ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"),
         ERRAND_FAULT_STEP_SLEEP(LONGER),
         ERRAND_FAULT_STEP_SEND("Content-Length: 2\r\n\r\nok"));
  RIG_ON(rig, "/body",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"
                                "Content-Length: 10\r\n\r\nabc"),
         ERRAND_FAULT_STEP(STALL));
  RIG_ON(rig, "/drip",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"
                                "Content-Length: 10000\r\n\r\n"),
         ERRAND_FAULT_STEP_DRIP(20, -1, "x"));
  errand_request head = rig_request("GET", rig_url(rig, "/head"));
  head.timeout_first_byte = CLOCK;
  ids.late_head = rig_submit(rig, &head);
  errand_request body = rig_request("GET", rig_url(rig, "/body"));
  body.timeout_idle = CLOCK;
  ids.stuck_body = rig_submit(rig, &body);
  errand_request drip = rig_request("GET", rig_url(rig, "/drip"));
  drip.timeout_idle = CLOCK;
  drip.timeout_total = LONGER;
  ids.drip = rig_submit(rig, &drip);
  errand_request connected = rig_request("GET", rig_url(rig, "/stall"));
  connected.timeout_connect = CLOCK;
  connected.timeout_first_byte = LONGER;
  ids.connected = rig_submit(rig, &connected);
}

static int start_all(void **state) {
  if (rig_set_up_one_loop(state) != 0)
    return -1;
  start_held(*state);
  start_uploads(*state);
  start_responses(*state);
  return 0;
}

static const test_result *end_of(void **state, uint64_t id) {
  test_rig *rig = *state;
  return collector_wait(&rig->collector, id);
}

static void the_first_byte_stops_the_first_byte_clock(void **state) {
  rig_expect_response(end_of(state, ids.late_head), 200, "ok");
}

static void a_connection_stops_the_connect_clock(void **state) {
  rig_expect_status(end_of(state, ids.connected), ERRAND_TIMEOUT_FIRST_BYTE);
}

static void a_head_is_told_where_the_body_stalls(void **state) {
  const test_result *result = end_of(state, ids.stuck_body);
  rig_expect_status(result, ERRAND_TIMEOUT_IDLE);
  assert_int_equal(result->end.http_status, 200);
}

/* Bytes move, so idle does not strike; the total does. */
static void a_drip_against_idle_and_total(void **state) {
  const test_result *result = end_of(state, ids.drip);
  rig_expect_status(result, ERRAND_TIMEOUT_TOTAL);
  assert_true(result->end.bytes_received >= 5);
}

/* The clock starts with the last byte sent. */
static void a_slow_upload_does_not_count_as_silence(void **state) {
  rig_expect_response(end_of(state, ids.late_reader), 200, "ok");
}

/* Bytes move all the time, for longer than either clock allows silence. */
static void a_steady_upload_is_not_idle(void **state) {
  for (size_t i = 0; i < COUNT_OF(ids.steady); i++) {
    const test_result *result = end_of(state, ids.steady[i]);
    rig_expect_response(result, 200, "ok");
    assert_true(result->end.timings.total > CLOCK * 1000);
  }
}

static void a_pause_stops_idle(void **state) {
  test_rig *rig = *state;
  rig_expect_status(end_of(state, ids.while_held), ERRAND_TIMEOUT_TOTAL);
  assert_int_equal(collector_peek(&rig->collector, ids.held_response).order, 0);
  errand_fault_server_release(rig->server);
  assert_int_equal(errand_resume(rig->group, ids.held_response), ERRAND_OK);
  rig_expect_status(end_of(state, ids.held_response), ERRAND_OK);
}

/* A pause is none of the source's; its clock starts anew after that. */
static void a_pause_stops_the_clock_of_the_source(void **state) {
  test_rig *rig = *state;
  rig_expect_status(end_of(state, ids.while_held), ERRAND_TIMEOUT_TOTAL);
  assert_int_equal(collector_peek(&rig->collector, ids.held_upload).order, 0);
  int64_t start = process_milliseconds();
  assert_int_equal(errand_resume(rig->group, ids.held_upload), ERRAND_OK);
  rig_expect_status(end_of(state, ids.held_upload), ERRAND_TIMEOUT_IDLE);
  assert_true(process_milliseconds() - start >= CLOCK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_byte_stops_the_first_byte_clock),
      cmocka_unit_test(a_connection_stops_the_connect_clock),
      cmocka_unit_test(a_head_is_told_where_the_body_stalls),
      cmocka_unit_test(a_drip_against_idle_and_total),
      cmocka_unit_test(a_slow_upload_does_not_count_as_silence),
      cmocka_unit_test(a_pause_stops_idle),
      cmocka_unit_test(a_pause_stops_the_clock_of_the_source),
      cmocka_unit_test(a_steady_upload_is_not_idle),
  };
  return cmocka_run_group_tests_name("patience", tests, start_all,
                                     rig_tear_down);
}
