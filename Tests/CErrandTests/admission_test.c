/* Who may start when: caps that hold exactly, a queue that ends, priorities. */
#include "support/rig.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

static void rest(long milliseconds) {
  nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

/* The rig's group, made anew. */
static void regroup(test_rig *rig, errand_group_init init) {
  assert_int_equal(errand_group_destroy(rig->group), ERRAND_OK);
  rig->group = NULL;
  init.on_records = collector_on_records;
  init.context = &rig->collector;
  init.allow_denied_library = 1;
  assert_int_equal(errand_group_create(&init, &rig->group), ERRAND_OK);
}

/* Submits `count` GETs that stall at the server. */
static errand_request *submit_stalled(test_rig *rig, const char *url,
                                      size_t count) {
  errand_request *requests = calloc(count, sizeof *requests);
  for (size_t i = 0; i < count; i++)
    requests[i] = rig_request("GET", url);
  size_t accepted = errand_submit(rig->group, requests, count);
  rig->accepted += accepted;
  assert_int_equal(accepted, count);
  return requests;
}

/* Waits until the server has that many requests, and sees no more come. */
static void settles_at(test_rig *rig, uint64_t requests) {
  rig_await(rig, (errand_fault_counts){.requests = requests});
  rest(150);
  assert_int_equal(rig_counts(rig).requests, requests);
}

static void finish(test_rig *rig, errand_request *requests, size_t count) {
  errand_fault_server_release(rig->server);
  for (size_t i = 0; i < count; i++)
    rig_expect_response(collector_wait(&rig->collector, requests[i].id), 200,
                        "ok");
  free(requests);
}

static void group_cap_holds_with(test_rig *rig, uint32_t loops) {
  regroup(rig, (errand_group_init){.loops = loops, .in_flight_limit = 7});
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(STALL), ERRAND_FAULT_STEP_SEND(OK));
  errand_request *requests = submit_stalled(rig, rig_url(rig, "/"), 40);
  settles_at(rig, 7);
  errand_stats stats = rig_stats(rig);
  assert_int_equal(stats.in_flight, 7);
  assert_int_equal(stats.queued, 33);
  finish(rig, requests, 40);
}

static void the_group_cap_holds(void **state) {
  group_cap_holds_with(*state, 1);
}

static void the_group_cap_holds_over_three_loops(void **state) {
  group_cap_holds_with(*state, 3);
}

static void the_origin_cap_holds_for_each_origin(void **state) {
  test_rig *rig = *state;
  errand_fault_server *other = NULL;
  assert_int_equal(errand_fault_server_create(NULL, &other), 0);
  const errand_fault_step steps[] = {ERRAND_FAULT_STEP(STALL),
                                     ERRAND_FAULT_STEP_SEND(OK)};
  errand_fault_server_on_path(other, "/", steps, 2);
  regroup(rig, (errand_group_init){.loops = 2, .origin_in_flight_limit = 5});
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(STALL), ERRAND_FAULT_STEP_SEND(OK));
  errand_request *here = submit_stalled(rig, rig_url(rig, "/"), 30);
  errand_request *there = submit_stalled(
      rig, text("http://127.0.0.1:%u/", errand_fault_server_port(other)), 30);
  errand_fault_counts counts = {.requests = 5};
  assert_true(errand_fault_server_wait(other, &counts, 120000));
  settles_at(rig, 5);
  errand_fault_server_counts(other, &counts);
  assert_int_equal(counts.requests, 5);
  errand_fault_server_release(other);
  finish(rig, there, 30);
  finish(rig, here, 30);
  assert_true(rig_counts(rig).connections <= 5);
  errand_fault_server_destroy(other);
}

/* Each end lets one more in, not fewer, not more. */
static void a_place_that_is_freed_is_given_on(void **state) {
  test_rig *rig = *state;
  regroup(rig, (errand_group_init){.loops = 2, .in_flight_limit = 3});
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(STALL), ERRAND_FAULT_STEP_SEND(OK));
  errand_request *requests = submit_stalled(rig, rig_url(rig, "/"), 9);
  settles_at(rig, 3);
  for (size_t i = 0; i < 6; i++) {
    /* Cancel one that is in flight: the earliest that has not ended. */
    for (size_t j = 0; j < 9; j++) {
      if (collector_peek(&rig->collector, requests[j].id).order != 0)
        continue;
      errand_cancel(rig->group, requests[j].id);
      rig_expect_status(collector_wait(&rig->collector, requests[j].id),
                        ERRAND_CANCELLED);
      break;
    }
    rig_await(rig, (errand_fault_counts){.requests = 4 + i});
    assert_int_equal(rig_stats(rig).in_flight, 3);
  }
  errand_fault_server_release(rig->server);
  for (size_t j = 0; j < 9; j++)
    collector_wait(&rig->collector, requests[j].id);
  free(requests);
}

static void the_queue_is_bounded(void **state) {
  test_rig *rig = *state;
  regroup(rig, (errand_group_init){
                   .loops = 1, .in_flight_limit = 1, .queue_capacity = 10});
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(STALL), ERRAND_FAULT_STEP_SEND(OK));
  errand_request *first = submit_stalled(rig, rig_url(rig, "/"), 1);
  settles_at(rig, 1);
  errand_request requests[30];
  for (size_t i = 0; i < COUNT_OF(requests); i++)
    requests[i] = rig_request("GET", rig_url(rig, "/"));
  size_t accepted = errand_submit(rig->group, requests, COUNT_OF(requests));
  rig->accepted += accepted;
  assert_int_equal(accepted, 10);
  for (size_t i = 0; i < COUNT_OF(requests); i++)
    assert_int_equal(requests[i].status,
                     i < 10 ? ERRAND_OK : ERRAND_QUEUE_FULL);
  finish(rig, first, 1);
  for (size_t i = 0; i < 10; i++)
    rig_expect_response(collector_wait(&rig->collector, requests[i].id), 200,
                        "ok");
  /* There is room again. */
  rig_expect_response(rig_get(rig, rig_url(rig, "/")), 200, "ok");
}

static void priorities_go_before_order(void **state) {
  test_rig *rig = *state;
  regroup(rig, (errand_group_init){.loops = 1, .in_flight_limit = 1});
  RIG_ON(rig, NULL, ERRAND_FAULT_STEP(STALL), ERRAND_FAULT_STEP_SEND(OK));
  errand_request *first = submit_stalled(rig, rig_url(rig, "/first"), 1);
  settles_at(rig, 1);
  static const struct {
    const char *path;
    errand_priority priority;
  } order[] = {{"/low1", ERRAND_PRIORITY_LOW},
               {"/normal1", ERRAND_PRIORITY_DEFAULT},
               {"/high1", ERRAND_PRIORITY_HIGH},
               {"/low2", ERRAND_PRIORITY_LOW},
               {"/normal2", ERRAND_PRIORITY_DEFAULT},
               {"/high2", ERRAND_PRIORITY_HIGH}};
  static const char *const expected[] = {
      "/first", "/high1", "/high2", "/normal1", "/normal2", "/low1", "/low2"};
  uint64_t ids[COUNT_OF(order)];
  for (size_t i = 0; i < COUNT_OF(order); i++) {
    errand_request request = rig_request("GET", rig_url(rig, order[i].path));
    request.priority = order[i].priority;
    ids[i] = rig_submit(rig, &request);
  }
  finish(rig, first, 1);
  for (size_t i = 0; i < COUNT_OF(order); i++)
    collector_wait(&rig->collector, ids[i]);
  for (size_t i = 0; i < COUNT_OF(expected); i++) {
    errand_fault_request seen;
    assert_true(errand_fault_server_request(rig->server, i, &seen));
    assert_string_equal(seen.target, expected[i]);
  }
}

static void a_slow_origin_does_not_hold_up_another(void **state) {
  test_rig *rig = *state;
  errand_fault_server *fast = NULL;
  assert_int_equal(errand_fault_server_create(NULL, &fast), 0);
  const errand_fault_step steps[] = {ERRAND_FAULT_STEP_SEND(OK)};
  errand_fault_server_on_path(fast, "/", steps, 1);
  regroup(rig, (errand_group_init){.loops = 1, .origin_in_flight_limit = 2});
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(STALL), ERRAND_FAULT_STEP_SEND(OK));
  errand_request *slow = submit_stalled(rig, rig_url(rig, "/"), 20);
  settles_at(rig, 2);
  const char *url =
      text("http://127.0.0.1:%u/", errand_fault_server_port(fast));
  for (int i = 0; i < 20; i++)
    rig_expect_response(rig_get(rig, url), 200, "ok");
  finish(rig, slow, 20);
  errand_fault_server_destroy(fast);
}

static void a_paused_request_does_not_hold_its_place(void **state) {
  test_rig *rig = *state;
  regroup(rig, (errand_group_init){.loops = 1, .in_flight_limit = 1});
  RIG_ON(rig, "/hold", ERRAND_FAULT_STEP(STALL), ERRAND_FAULT_STEP_SEND(OK));
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  errand_request *first = submit_stalled(rig, rig_url(rig, "/hold"), 1);
  settles_at(rig, 1);
  errand_request paused = rig_request("GET", rig_url(rig, "/"));
  errand_request next = rig_request("GET", rig_url(rig, "/"));
  uint64_t id = rig_submit(rig, &paused);
  errand_pause(rig->group, id);
  rig_submit(rig, &next);
  finish(rig, first, 1);
  rig_expect_response(collector_wait(&rig->collector, next.id), 200, "ok");
  assert_int_equal(collector_peek(&rig->collector, id).order, 0);
  errand_resume(rig->group, id);
  rig_expect_response(collector_wait(&rig->collector, id), 200, "ok");
}

static void a_drain_lets_the_queue_run_dry(void **state) {
  test_rig *rig = *state;
  regroup(rig, (errand_group_init){.loops = 2, .in_flight_limit = 2});
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(STALL), ERRAND_FAULT_STEP_SEND(OK));
  errand_request *requests = submit_stalled(rig, rig_url(rig, "/"), 20);
  settles_at(rig, 2);
  assert_int_equal(errand_group_stop(rig->group, ERRAND_STOP_DRAIN, 100000),
                   ERRAND_OK);
  errand_request late = rig_request("GET", rig_url(rig, "/"));
  assert_int_equal(errand_submit(rig->group, &late, 1), 0);
  assert_int_equal(late.status, ERRAND_SHUT_DOWN);
  finish(rig, requests, 20);
}

static void a_drain_that_takes_too_long_cancels(void **state) {
  test_rig *rig = *state;
  regroup(rig, (errand_group_init){.loops = 2, .in_flight_limit = 2});
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(STALL));
  errand_request *requests = submit_stalled(rig, rig_url(rig, "/"), 10);
  settles_at(rig, 2);
  int64_t start = process_milliseconds();
  assert_int_equal(errand_group_stop(rig->group, ERRAND_STOP_DRAIN, 200),
                   ERRAND_OK);
  for (size_t i = 0; i < 10; i++)
    rig_expect_status(collector_wait(&rig->collector, requests[i].id),
                      ERRAND_CANCELLED);
  assert_true(process_milliseconds() - start >= 200);
  free(requests);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST(the_group_cap_holds),
      RIG_TEST(the_group_cap_holds_over_three_loops),
      RIG_TEST(the_origin_cap_holds_for_each_origin),
      RIG_TEST(a_place_that_is_freed_is_given_on),
      RIG_TEST(the_queue_is_bounded),
      RIG_TEST(priorities_go_before_order),
      RIG_TEST(a_slow_origin_does_not_hold_up_another),
      RIG_TEST(a_paused_request_does_not_hold_its_place),
      RIG_TEST(a_drain_lets_the_queue_run_dry),
      RIG_TEST(a_drain_that_takes_too_long_cancels),
  };
  return cmocka_run_group_tests_name("admission", tests, NULL, NULL);
}
