/* Names that fail, hang or have several addresses; the loop is never held up.
 */
#include "support/dns_interposer.h"
#include "support/rig.h"

#include <time.h>

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

/* A thread may be late; one that waits for a hanging name never comes. */
#define AT_ONCE_MS 110000

static int set_up(void **state) {
  dns_hold();
  return rig_set_up_one_loop(state);
}

static int tear_down(void **state) {
  dns_release();
  return rig_tear_down(state);
}

static const char *named(test_rig *rig, const char *host) {
  return text("http://%s:%u/", host, errand_fault_server_port(rig->server));
}

/* A resolver's thread may start late. */
static void await_hanging(void) {
  int64_t start = process_milliseconds();
  while (dns_hanging() == 0 && process_milliseconds() - start < 60000)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  assert_true(dns_hanging() > 0);
}

static void the_interposer_is_asked(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  int before = dns_calls();
  rig_expect_response(rig_get(rig, named(rig, "local.test")), 200, "ok");
  assert_true(dns_calls() > before);
}

static void names_that_do_not_resolve(void **state) {
  test_rig *rig = *state;
  rig_expect_status(rig_get(rig, named(rig, "fail.test")),
                    ERRAND_RESOLVE_FAILED);
  rig_expect_status(rig_get(rig, named(rig, "again.test")),
                    ERRAND_RESOLVE_FAILED);
  assert_int_equal(rig_counts(rig).connections, 0);
}

static void a_hanging_name_blocks_nobody_else(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  errand_request slow = rig_request("GET", named(rig, "hang.test"));
  slow.timeout_connect = 110000;
  uint64_t id = rig_submit(rig, &slow);
  await_hanging();
  for (int i = 0; i < 20; i++)
    rig_expect_response(rig_get(rig, rig_url(rig, "/")), 200, "ok");
  assert_int_equal(collector_peek(&rig->collector, id).order, 0);
  assert_int_equal(errand_cancel(rig->group, id), ERRAND_OK);
  rig_expect_status(collector_wait(&rig->collector, id), ERRAND_CANCELLED);
  /* The resolver's thread hangs on; that holds up nothing. */
  assert_true(dns_hanging() >= 1);
  rig_expect_response(rig_get(rig, rig_url(rig, "/")), 200, "ok");
}

static void a_hanging_name_times_out(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  errand_request slow = rig_request("GET", named(rig, "hang-connect.test"));
  slow.timeout_connect = 500;
  int64_t start = process_milliseconds();
  rig_expect_status(rig_run(rig, &slow), ERRAND_TIMEOUT_CONNECT);
  assert_in_range(process_milliseconds() - start, 500, AT_ONCE_MS);
  start = process_milliseconds();
  rig_expect_response(rig_get(rig, rig_url(rig, "/")), 200, "ok");
  assert_true(process_milliseconds() - start < AT_ONCE_MS);
}

static void a_hanging_name_can_be_cancelled(void **state) {
  test_rig *rig = *state;
  errand_request slow = rig_request("GET", named(rig, "hang-cancel.test"));
  uint64_t id = rig_submit(rig, &slow);
  await_hanging();
  int64_t start = process_milliseconds();
  assert_int_equal(errand_cancel(rig->group, id), ERRAND_OK);
  rig_expect_status(collector_wait(&rig->collector, id), ERRAND_CANCELLED);
  assert_true(process_milliseconds() - start < AT_ONCE_MS);
}

static void a_hanging_name_does_not_hold_up_destroy(void **state) {
  test_rig *rig = *state;
  errand_request slow = rig_request("GET", named(rig, "hang-destroy.test"));
  rig_submit(rig, &slow);
  await_hanging();
  int64_t start = process_milliseconds();
  assert_int_equal(errand_group_destroy(rig->group), ERRAND_OK);
  rig->group = NULL;
  assert_true(process_milliseconds() - start < AT_ONCE_MS);
}

static void
a_burst_to_a_hanging_name_does_not_take_a_thread_each(void **state) {
  test_rig *rig = *state;
  static errand_request requests[64];
  for (size_t i = 0; i < COUNT_OF(requests); i++) {
    requests[i] = rig_request("GET", named(rig, "hang-burst.test"));
    requests[i].timeout_total = 500;
  }
  rig->accepted += errand_submit(rig->group, requests, COUNT_OF(requests));
  assert_int_equal(rig->accepted, COUNT_OF(requests));
  for (size_t i = 0; i < COUNT_OF(requests); i++)
    rig_expect_status(collector_wait(&rig->collector, requests[i].id),
                      ERRAND_TIMEOUT_TOTAL);
  assert_true(dns_hanging() <= 8);
}

/* Without the verdict each request would have its own lookup, four at a time.
 */
static void what_waits_behind_a_dead_host_ends_with_it(void **state) {
  test_rig *rig = *state;
  static errand_request requests[200];
  int before = dns_calls();
  for (size_t i = 0; i < COUNT_OF(requests); i++) {
    requests[i] = rig_request("GET", named(rig, "hang-dead.test"));
    requests[i].timeout_connect = 500;
  }
  rig->accepted += errand_submit(rig->group, requests, COUNT_OF(requests));
  assert_int_equal(rig->accepted, COUNT_OF(requests));
  for (size_t i = 0; i < COUNT_OF(requests); i++)
    rig_expect_status(collector_wait(&rig->collector, requests[i].id),
                      ERRAND_TIMEOUT_CONNECT);
  assert_true(dns_calls() - before <= 16);
  const test_result *last =
      collector_wait(&rig->collector, requests[COUNT_OF(requests) - 1].id);
  assert_true(
      bytes_contain(errand_payload_error_text(last->end.payload), "not tried"));
  /* What is submitted later probes again. */
  errand_request again = rig_request("GET", named(rig, "hang-dead.test"));
  again.timeout_connect = 100;
  const test_result *end = rig_run(rig, &again);
  rig_expect_status(end, ERRAND_TIMEOUT_CONNECT);
  assert_true(end->end.timings.total >= 50000);
}

static void what_waits_behind_a_name_that_fails_asks_no_more(void **state) {
  test_rig *rig = *state;
  static errand_request requests[100];
  int before = dns_calls();
  for (size_t i = 0; i < COUNT_OF(requests); i++)
    requests[i] = rig_request("GET", named(rig, "fail-many.test"));
  rig->accepted += errand_submit(rig->group, requests, COUNT_OF(requests));
  for (size_t i = 0; i < COUNT_OF(requests); i++)
    rig_expect_status(collector_wait(&rig->collector, requests[i].id),
                      ERRAND_RESOLVE_FAILED);
  assert_true(dns_calls() - before <= 16);
}

/* Who gave a host little time does not judge it for who gives it more. */
static void the_patient_are_not_ended_with_the_hasty(void **state) {
  test_rig *rig = *state;
  static errand_request requests[12];
  for (size_t i = 0; i < COUNT_OF(requests); i++) {
    requests[i] = rig_request("GET", named(rig, "hang-hasty.test"));
    requests[i].timeout_connect = i < 11 ? 200 : 110000;
  }
  rig->accepted += errand_submit(rig->group, requests, COUNT_OF(requests));
  for (size_t i = 0; i < 11; i++)
    rig_expect_status(collector_wait(&rig->collector, requests[i].id),
                      ERRAND_TIMEOUT_CONNECT);
  assert_int_equal(collector_peek(&rig->collector, requests[11].id).order, 0);
  assert_int_equal(errand_cancel(rig->group, requests[11].id), ERRAND_OK);
  rig_expect_status(collector_wait(&rig->collector, requests[11].id),
                    ERRAND_CANCELLED);
}

/* libcurl before 8.4 waits for a timer before the next address (core facts
   21: 202 ms). */
static void the_next_address_is_tried_at_once(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  int64_t least = INT64_MAX; /* of twenty: threads may be late */
  for (int i = 0; i < 20 && least >= 180; i++) {
    int64_t start = process_milliseconds();
    rig_expect_response(rig_get(rig, named(rig, text("two-%d.test", i))), 200,
                        "ok");
    int64_t took = process_milliseconds() - start;
    least = took < least ? took : least;
  }
  if (least >= 180)
    fail_msg("the fastest of 20 took %lld ms", (long long) least);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(the_interposer_is_asked),
      TEST(names_that_do_not_resolve),
      TEST(a_hanging_name_blocks_nobody_else),
      TEST(a_hanging_name_times_out),
      TEST(a_hanging_name_can_be_cancelled),
      TEST(a_hanging_name_does_not_hold_up_destroy),
      TEST(a_burst_to_a_hanging_name_does_not_take_a_thread_each),
      TEST(what_waits_behind_a_dead_host_ends_with_it),
      TEST(what_waits_behind_a_name_that_fails_asks_no_more),
      TEST(the_patient_are_not_ended_with_the_hasty),
      TEST(the_next_address_is_tried_at_once),
  };
  return cmocka_run_group_tests_name("dns", tests, NULL, NULL);
}
