/* What a group counts: waiting requests by priority, the time of turns, lags.
 */
#include "support/rig.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "group/group.h"

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define MS UINT64_C(1000000)

static void nap(long milliseconds) {
  nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

/* Waits until the predicate holds. */
static errand_stats wait_for(test_rig *rig, bool (*holds)(errand_stats)) {
  for (int i = 0; i < 30000; i++) {
    errand_stats stats = rig_stats(rig);
    if (holds(stats))
      return stats;
    nap(5);
  }
  fail_msg("the statistics did not become so in 150 s");
  return (errand_stats){0};
}

static bool five_wait(errand_stats stats) {
  return stats.in_flight == 1 && stats.queued == 5;
}

static bool four_wait(errand_stats stats) {
  return stats.queued == 4;
}

static bool none_waits(errand_stats stats) {
  return stats.queued == 0 && stats.in_flight == 0;
}

static void waiting_requests_are_counted_by_priority(void **state) {
  test_rig *rig = *state;
  static const errand_priority priorities[] = {
      ERRAND_PRIORITY_DEFAULT, ERRAND_PRIORITY_DEFAULT, ERRAND_PRIORITY_HIGH,
      ERRAND_PRIORITY_LOW,     ERRAND_PRIORITY_LOW,     ERRAND_PRIORITY_LOW};
  uint64_t ids[COUNT_OF(priorities)];
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(STALL), ERRAND_FAULT_STEP_SEND(OK));
  for (size_t i = 0; i < COUNT_OF(priorities); i++) {
    errand_request request = rig_request("GET", rig_url(rig, "/"));
    request.priority = priorities[i];
    ids[i] = rig_submit(rig, &request);
    if (i == 0) /* the first one is the one that starts */
      rig_await(rig, (errand_fault_counts){.requests = 1});
  }
  errand_stats stats = wait_for(rig, five_wait);
  assert_int_equal(stats.queued_by_priority[ERRAND_PRIORITY_DEFAULT], 1);
  assert_int_equal(stats.queued_by_priority[ERRAND_PRIORITY_HIGH], 1);
  assert_int_equal(stats.queued_by_priority[ERRAND_PRIORITY_LOW], 3);
  assert_int_equal(stats.in_flight_by_priority[ERRAND_PRIORITY_DEFAULT], 1);
  assert_int_equal(stats.in_flight_by_priority[ERRAND_PRIORITY_LOW], 0);
  /* One that never starts. */
  assert_int_equal(errand_cancel(rig->group, ids[5]), ERRAND_OK);
  stats = wait_for(rig, four_wait);
  assert_int_equal(stats.queued_by_priority[ERRAND_PRIORITY_LOW], 2);
  errand_fault_server_release(rig->server);
  for (size_t i = 0; i < COUNT_OF(priorities); i++)
    collector_wait(&rig->collector, ids[i]);
  stats = wait_for(rig, none_waits);
  for (int i = 0; i < ERRAND_PRIORITIES; i++) {
    assert_int_equal(stats.queued_by_priority[i], 0);
    assert_int_equal(stats.in_flight_by_priority[i], 0);
  }
}

/* A full queue refuses, and counts what it refuses nowhere. */
static void refused_requests_are_not_counted(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(STALL), ERRAND_FAULT_STEP_SEND(OK));
  errand_request items[8];
  for (size_t i = 0; i < COUNT_OF(items); i++) {
    items[i] = rig_request("GET", rig_url(rig, "/"));
    items[i].priority = ERRAND_PRIORITY_HIGH;
  }
  rig_submit(rig, &items[0]);
  rig_await(rig, (errand_fault_counts){.requests = 1});
  size_t accepted = errand_submit(rig->group, items + 1, 7);
  rig->accepted += accepted;
  assert_int_equal(accepted, 2);
  errand_stats stats = rig_stats(rig);
  assert_int_equal(stats.queued, 2);
  assert_int_equal(stats.queued_by_priority[ERRAND_PRIORITY_HIGH], 2);
  assert_int_equal(stats.in_flight_by_priority[ERRAND_PRIORITY_HIGH], 1);
  assert_int_equal(stats.in_flight_by_priority[ERRAND_PRIORITY_DEFAULT], 0);
  assert_int_equal(stats.queued_by_priority[ERRAND_PRIORITY_DEFAULT], 0);
  errand_fault_server_release(rig->server);
  for (size_t i = 0; i < COUNT_OF(items); i++)
    if (items[i].id != 0)
      collector_wait(&rig->collector, items[i].id);
}

static int set_up_one_place(void **state) {
  return rig_set_up_with(state, (errand_group_init){.loops = 1,
                                                    .in_flight_limit = 1,
                                                    .queue_capacity = 2});
}

static int set_up_one_at_a_time(void **state) {
  return rig_set_up_with(state,
                         (errand_group_init){.loops = 1, .in_flight_limit = 1});
}

#define SLOW_MS 60

/* Keeps the loop busy. */
static int slow_filter(void *context, uint64_t tag,
                       const errand_address *address, char *reason) {
  (void) context, (void) tag, (void) address, (void) reason;
  nap(SLOW_MS);
  return 0;
}

static void a_turn_takes_as_long_as_what_is_done_in_it(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  errand_stats stats = {0};
  errand_stats again = {0};
  bool in_time = false;
  /* The group forgets a turn after 15 s. A test that reads later makes another
     request, whose connection the filter is asked about. */
  for (int i = 0; i < 10 && !in_time; i++) {
    errand_request request = rig_request("GET", rig_url(rig, "/"));
    request.flags = ERRAND_REQUEST_FRESH_CONNECTION;
    int64_t start = process_milliseconds();
    rig_expect_response(rig_run(rig, &request), 200, "ok");
    do {
      nap(5);
      stats = rig_stats(rig);
      again = rig_stats(rig);
      in_time = process_milliseconds() - start < 15000;
    } while (in_time && stats.longest_turn_ns < SLOW_MS * MS);
  }
  assert_true(stats.longest_turn_ns >= SLOW_MS * MS);
  assert_true(stats.turn_ns >= stats.longest_turn_ns);
  assert_true(stats.turns > 0);
  /* A read resets nothing. */
  assert_true(again.longest_turn_ns >= SLOW_MS * MS);
  assert_true(again.turn_ns >= stats.turn_ns);
}

static int set_up_slow_filter(void **state) {
  return rig_set_up_with(
      state, (errand_group_init){.loops = 1, .address_filter = slow_filter});
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t) now.tv_sec * 1000 * MS + (uint64_t) now.tv_nsec;
}

/* A signal that was sent 100 ms ago. A turn in these 100 ms would be where the
   lag begins, hence the repetition. */
static void a_signal_has_a_lag(void **state) {
  test_rig *rig = *state;
  errand__loop *loop = &rig->group->loops[0];
  errand_stats stats = rig_stats(rig);
  for (int i = 0; i < 30 && stats.longest_lag_ns < 100 * MS; i++) {
    nap(300);
    errand_stats before = rig_stats(rig);
    errand__counter_set(&loop->woken_ns, now_ns() - 100 * MS);
    errand__loop_wake(loop);
    for (int k = 0; k < 30000 && stats.lags == before.lags; k++) {
      nap(5);
      stats = rig_stats(rig);
    }
    assert_true(stats.lags > before.lags);
    assert_true(stats.wakeups > before.wakeups);
  }
  assert_true(stats.longest_lag_ns >= 100 * MS);
  assert_true(stats.lag_ns >= stats.longest_lag_ns);
}

/* Stops this process, and has it go on after 400 ms. */
static void suspend(void) {
  pid_t parent = getpid();
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    kill(parent, SIGSTOP);
    nap(400);
    kill(parent, SIGCONT);
    _exit(0);
  }
  assert_int_equal(waitpid(child, NULL, 0), child);
}

/* As in a container whose share of the processor is used up. */
static void a_timer_has_a_lag(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(STALL));
  errand_stats stats = rig_stats(rig);
  for (int i = 0; i < 30 && stats.longest_lag_ns < 100 * MS; i++) {
    errand_request request = rig_request("GET", rig_url(rig, "/"));
    request.timeout_total = 200;
    uint64_t seen = rig_counts(rig).requests;
    uint64_t id = rig_submit(rig, &request);
    /* Its time may be up before it is sent. */
    while (rig_counts(rig).requests == seen &&
           collector_peek(&rig->collector, id).order == 0)
      nap(1);
    suspend();
    rig_expect_status(collector_wait(&rig->collector, id),
                      ERRAND_TIMEOUT_TOTAL);
    stats = rig_stats(rig);
  }
  assert_true(stats.longest_lag_ns >= 100 * MS);
  assert_true(stats.lags > 0 && stats.lag_ns >= stats.longest_lag_ns);
}

/* As under taskset, or in a container with a cpuset. */
static void the_default_loops_are_for_usable_cores(void **state) {
  test_rig *rig = *state;
  cpu_set_t all, one;
  assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
  size_t core = 0;
  while (!CPU_ISSET(core, &all))
    core++;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  errand_group_init init = {.allow_denied_library = 1,
                            .on_records = collector_on_records,
                            .context = &rig->collector};
  errand_group *group = NULL;
  assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
  errand_status status = errand_group_create(&init, &group);
  assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
  assert_int_equal(status, ERRAND_OK);
  errand_stats stats;
  errand_group_stats(group, &stats);
  assert_int_equal(stats.loops, 1);
  assert_int_equal(errand_group_destroy(group), ERRAND_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(waiting_requests_are_counted_by_priority,
                                      set_up_one_at_a_time, rig_tear_down),
      cmocka_unit_test_setup_teardown(refused_requests_are_not_counted,
                                      set_up_one_place, rig_tear_down),
      cmocka_unit_test_setup_teardown(
          a_turn_takes_as_long_as_what_is_done_in_it, set_up_slow_filter,
          rig_tear_down),
      RIG_TEST_ONE_LOOP(a_signal_has_a_lag),
      RIG_TEST_ONE_LOOP(a_timer_has_a_lag),
      RIG_TEST_ONE_LOOP(the_default_loops_are_for_usable_cores),
  };
  return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
