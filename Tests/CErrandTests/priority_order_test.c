/* Who starts first where places are short: by priority, over origins, options
   and loops. */
#include "support/rig.h"

#include "group/group.h"

#include <time.h>

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define EACH 4

static test_rig *make_rig(void **state, uint32_t loops) {
  errand_group_init init = {.loops = loops, .in_flight_limit = 1};
  assert_int_equal(rig_set_up_with(state, init), 0);
  test_rig *rig = *state;
  RIG_ON(rig, "/hold", ERRAND_FAULT_STEP(STALL), ERRAND_FAULT_STEP_SEND(OK));
  RIG_ON(rig, NULL, ERRAND_FAULT_STEP_SEND(OK));
  return rig;
}

/* Queues a request. Returns: its id. */
static uint64_t queue(test_rig *rig, const char *url, errand_options *options,
                      errand_priority priority) {
  errand_request request = rig_request("GET", url);
  request.options = options;
  request.priority = priority;
  return rig_submit(rig, &request);
}

/* The targets in the order in which the server saw them, first letters. */
static void expect_order(test_rig *rig, const char *expected) {
  char seen[64] = "";
  errand_fault_request request;
  errand_fault_server_release(rig->server);
  collector_wait_completions(&rig->collector, rig->accepted);
  for (size_t i = 1;
       i < sizeof seen && errand_fault_server_request(rig->server, i, &request);
       i++)
    seen[i - 1] = request.target[1];
  assert_string_equal(seen, expected);
}

static uint64_t loop_of(uint64_t id) {
  return id & (ERRAND__LOOPS_MAX - 1);
}

static void hold(test_rig *rig, errand_options *options) {
  queue(rig, rig_url(rig, "/hold"), options, ERRAND_PRIORITY_DEFAULT);
  rig_await(rig, (errand_fault_counts){.requests = 1});
}

static void over_origins(void **state) {
  test_rig *rig = make_rig(state, 1);
  uint16_t port = errand_fault_server_port(rig->server);
  hold(rig, NULL);
  for (int i = 0; i < EACH; i++)
    queue(rig, rig_url(rig, "/low"), NULL, ERRAND_PRIORITY_LOW);
  for (int i = 0; i < EACH; i++)
    queue(rig, text("http://local.test:%u/normal", port), NULL,
          ERRAND_PRIORITY_DEFAULT);
  for (int i = 0; i < EACH; i++)
    queue(rig, text("http://localb.test:%u/high", port), NULL,
          ERRAND_PRIORITY_HIGH);
  /* A ready origin rises with what is queued behind its low ones. */
  queue(rig, rig_url(rig, "/high"), NULL, ERRAND_PRIORITY_HIGH);
  expect_order(rig, "hhhhhnnnnllll");
  assert_int_equal(rig_tear_down(state), 0);
}

/* Origins of one rank still take turns. */
static void in_turns_within_a_rank(void **state) {
  test_rig *rig = make_rig(state, 1);
  uint16_t port = errand_fault_server_port(rig->server);
  hold(rig, NULL);
  for (int i = 0; i < EACH; i++)
    queue(rig, rig_url(rig, "/a"), NULL, ERRAND_PRIORITY_HIGH);
  for (int i = 0; i < EACH; i++)
    queue(rig, text("http://local.test:%u/b", port), NULL,
          ERRAND_PRIORITY_HIGH);
  expect_order(rig, "abababab");
  assert_int_equal(rig_tear_down(state), 0);
}

static errand_options *own_options(void) {
  errand_options *options = NULL;
  errand_options_init init = {.local_interface = "127.0.0.1"};
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  return options;
}

static void over_options(void **state) {
  test_rig *rig = make_rig(state, 1);
  errand_options *a = own_options();
  errand_options *b = own_options();
  hold(rig, a);
  for (int i = 0; i < EACH; i++)
    queue(rig, rig_url(rig, "/low"), a, ERRAND_PRIORITY_LOW);
  for (int i = 0; i < EACH; i++)
    queue(rig, rig_url(rig, "/high"), b, ERRAND_PRIORITY_HIGH);
  expect_order(rig, "hhhhllll");
  errand_options_release(a);
  errand_options_release(b);
  assert_int_equal(rig_tear_down(state), 0);
}

/* Waits until both loops have asked for a place in vain, for the best they
   have. */
static void settle(test_rig *rig, uint64_t low, uint64_t high) {
  uint64_t wanted[] = {(uint64_t) 1 << high, (uint64_t) 1 << low};
  int64_t end = process_milliseconds() + 150000;
  for (;;) {
    uint64_t at_high = atomic_load(&rig->group->shared.starved[0]);
    uint64_t at_low = atomic_load(&rig->group->shared.starved[2]);
    if ((at_high & wanted[0]) && (at_low & wanted[1]) &&
        errand__queue_is_empty(&rig->group->loops[low].queue) &&
        errand__queue_is_empty(&rig->group->loops[high].queue))
      break;
    assert_true(process_milliseconds() < end);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
}

/* `low_first`: the loop that gives the place back has the low ones. */
static void over_loops(bool low_first) {
  void *state = NULL;
  test_rig *rig = make_rig(&state, 4);
  errand_options *options[64];
  errand_options *first = own_options();
  size_t made = 0;
  uint64_t home = loop_of(queue(rig, rig_url(rig, "/hold"), first, 0));
  uint64_t other = home;
  rig_await(rig, (errand_fault_counts){.requests = 1});
  /* Identities spread over the loops. */
  for (; other == home && made < COUNT_OF(options); made++) {
    options[made] = own_options();
    uint64_t id = queue(rig, rig_url(rig, "/first"), options[made], 0);
    other = loop_of(id);
    assert_int_equal(errand_cancel(rig->group, id), ERRAND_OK);
    rig_expect_status(collector_wait(&rig->collector, id), ERRAND_CANCELLED);
  }
  assert_int_not_equal(other, home);
  errand_options *second = options[made - 1];
  for (int i = 0; i < EACH; i++)
    queue(rig, rig_url(rig, "/low"), low_first ? first : second,
          ERRAND_PRIORITY_LOW);
  for (int i = 0; i < EACH; i++)
    queue(rig, rig_url(rig, "/high"), low_first ? second : first,
          ERRAND_PRIORITY_HIGH);
  settle(rig, low_first ? home : other, low_first ? other : home);
  expect_order(rig, "hhhhllll");
  for (size_t i = 0; i < made; i++)
    errand_options_release(options[i]);
  errand_options_release(first);
  assert_int_equal(rig_tear_down(&state), 0);
}

static void over_loops_to_another(void **state) {
  (void) state;
  for (int i = 0; i < 20; i++)
    over_loops(true);
}

static void over_loops_at_home(void **state) {
  (void) state;
  for (int i = 0; i < 20; i++)
    over_loops(false);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(over_origins),
      cmocka_unit_test(in_turns_within_a_rank),
      cmocka_unit_test(over_options),
      cmocka_unit_test(over_loops_to_another),
      cmocka_unit_test(over_loops_at_home),
  };
  return cmocka_run_group_tests_name("priority_order", tests, NULL, NULL);
}
