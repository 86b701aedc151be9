/* Silence against each deadline; patience_test.c has what stops each. */
#include "support/rig.h"

#include <string.h>
#include <time.h>

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

/* Loops may be late on a loaded machine, never early. If a deadline does not
   strike, the status is another one, or the collector waits in vain. */
static void ended_after(const test_result *result, errand_status status,
                        int64_t start, int64_t least) {
  rig_expect_status(result, status);
  int64_t took = process_milliseconds() - start;
  if (took < least)
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
  request.timeout_first_byte = 200;
  int64_t start = process_milliseconds();
  ended_after(rig_run(rig, &request), ERRAND_TIMEOUT_FIRST_BYTE, start, 200);
  rig_await(rig, (errand_fault_counts){.closed = 1});
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
  ended_after(rig_run(rig, &request), ERRAND_TIMEOUT_IDLE, start, 200);
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
                            .allow_denied_library = 1,
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

static void a_pause_does_not_stop_the_total(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(STALL));
  errand_request request = rig_request("GET", rig_url(rig, "/"));
  request.timeout_total = 300;
  int64_t start = process_milliseconds();
  uint64_t id = rig_submit(rig, &request);
  assert_int_equal(errand_pause(rig->group, id), ERRAND_OK);
  ended_after(collector_wait(&rig->collector, id), ERRAND_TIMEOUT_TOTAL, start,
              300);
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

/* The requests whose responses come while the loop stands still, and the
   deadlines of those that are submitted then. */
enum { STALLED = 200, SHORT = 100 };

static void sleep_until(int64_t milliseconds) {
  int64_t left = milliseconds - process_milliseconds();
  for (; left > 0; left = milliseconds - process_milliseconds())
    nanosleep(&(struct timespec){left / 1000, left % 1000 * 1000000}, NULL);
}

/* Submits the requests, and makes the loop stand still before their total is
   over: the loop waits for the collector's lock, which the caller has then.
   Returns: false if a thread was late. Then all requests have ended, and the
   caller does not have the lock. */
static bool stop_loop(test_rig *rig, errand_request *requests, int64_t total) {
  for (size_t i = 0; i < STALLED; i++) {
    requests[i] = rig_request("GET", rig_url(rig, "/held"));
    requests[i].timeout_total = total;
  }
  uint64_t completed = rig_stats(rig).completed;
  uint64_t seen = rig_counts(rig).requests;
  int64_t in_time = process_milliseconds() + total - 100;
  size_t accepted = errand_submit(rig->group, requests, STALLED);
  assert_int_equal(accepted, STALLED);
  rig->accepted += accepted;
  while (rig_counts(rig).requests < seen + STALLED &&
         process_milliseconds() < in_time)
    sleep_until(process_milliseconds() + 1);
  errand_request request = rig_request("GET", rig_url(rig, "/ok"));
  pthread_mutex_lock(&rig->collector.lock);
  rig_submit(rig, &request);
  while (rig_stats(rig).completed == completed)
    sleep_until(process_milliseconds() + 1);
  if (process_milliseconds() < in_time)
    return true;
  pthread_mutex_unlock(&rig->collector.lock);
  collector_wait_completions(&rig->collector, rig->accepted);
  return false;
}

/* Responses do, however many; but no request is sent when it is too late. */
static void what_has_arrived_counts_before_any_deadline(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/held", ERRAND_FAULT_STEP(STALL), ERRAND_FAULT_STEP_SEND(OK));
  RIG_ON(rig, "/ok", ERRAND_FAULT_STEP_SEND(OK));
  static errand_request requests[STALLED];
  int64_t total = 6000;
  size_t responses = STALLED + 1; /* each late try has one, to /ok */
  for (; !stop_loop(rig, requests, total); responses++) {
    total *= 3;
    assert_true(total < 100000);
  }
  uint64_t completions = rig->collector.completions;
  int64_t over = process_milliseconds() + total + 100;
  errand_request late[2] = {rig_request("GET", rig_url(rig, "/late")),
                            rig_request("GET", rig_url(rig, "/late"))};
  late[0].timeout_total = SHORT;
  late[1].timeout_queue = SHORT;
  for (size_t i = 0; i < COUNT_OF(late); i++)
    rig_submit(rig, &late[i]);
  errand_fault_server_release(rig->server);
  rig_await(rig, (errand_fault_counts){.bytes_sent = responses * strlen(OK)});
  sleep_until(process_milliseconds() + SHORT + 100);
  sleep_until(over);
  assert_int_equal(rig->collector.completions, completions);
  pthread_mutex_unlock(&rig->collector.lock);
  for (size_t i = 0; i < STALLED; i++)
    rig_expect_response(collector_wait(&rig->collector, requests[i].id), 200,
                        "ok");
  rig_expect_status(collector_wait(&rig->collector, late[0].id),
                    ERRAND_TIMEOUT_TOTAL);
  rig_expect_status(collector_wait(&rig->collector, late[1].id),
                    ERRAND_TIMEOUT_QUEUE);
  errand_fault_request seen;
  for (size_t i = 0; errand_fault_server_request(rig->server, i, &seen); i++)
    assert_string_not_equal(seen.target, "/late");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST(silence_before_the_connection),
      RIG_TEST(silence_in_the_tls_handshake),
      RIG_TEST(silence_before_the_first_byte),
      RIG_TEST(silence_in_the_body),
      RIG_TEST(silence_in_the_head),
      RIG_TEST(a_server_that_does_not_read),
      RIG_TEST(a_drip_slower_than_idle),
      RIG_TEST(silence_against_the_total),
      RIG_TEST(waiting_in_the_queue),
      RIG_TEST(a_pause_does_not_stop_the_total),
      RIG_TEST(a_source_that_stalls),
      RIG_TEST(many_short_deadlines),
      RIG_TEST_ONE_LOOP(what_has_arrived_counts_before_any_deadline),
  };
  return cmocka_run_group_tests_name("deadline", tests, NULL, NULL);
}
