/* Timeout: 240 s */
/* One limit over all loops: it holds exactly, and a place that is given back
   finds the loop that waits for it, whatever is cancelled meanwhile. */

#include "support/random.h"
#include "support/rig.h"

#define ORIGINS 16

/* The same server under many identities, which spread over the loops. */
static void make_options(errand_options **options) {
  for (int i = 0; i < ORIGINS; i++) {
    errand_options_init init = {.local_interface = "127.0.0.1"};
    assert_int_equal(errand_options_create(&init, &options[i]), ERRAND_OK);
  }
}

static test_rig *make_rig(void **state, errand_group_init init) {
  assert_int_equal(rig_set_up_with(state, init), 0);
  test_rig *rig = *state;
  RIG_ON(rig, "/small",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
                                "ok"));
  RIG_ON(rig, "/stall", ERRAND_FAULT_STEP(STALL),
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 204 No Content\r\n\r\n"));
  return rig;
}

static void run(uint32_t limit, uint64_t seed) {
  void *state = NULL;
  random_source random = {seed};
  test_rig *rig = make_rig(
      &state, (errand_group_init){.loops = 4, .in_flight_limit = limit});
  errand_options *options[ORIGINS];
  make_options(options);
  for (int i = 0; i < 1500; i++) {
    errand_request r = rig_request("GET", rig_url(rig, "/small"));
    r.options = options[random_below(&random, ORIGINS)];
    r.priority = (errand_priority) random_below(&random, 3);
    uint64_t id = rig_submit(rig, &r);
    if (random_below(&random, 3) == 0)
      assert_int_equal(errand_cancel(rig->group, id), ERRAND_OK);
    /* The moment in which one loop hands its place to another. */
    if (random_below(&random, 4) == 0)
      collector_wait_completions(&rig->collector, rig->accepted);
  }
  collector_wait_completions(&rig->collector, rig->accepted);
  assert_int_equal(rig_stats(rig).queued, 0);
  assert_int_equal(rig_stats(rig).in_flight, 0);
  for (int i = 0; i < ORIGINS; i++)
    errand_options_release(options[i]);
  assert_int_equal(rig_tear_down(&state), 0);
}

static void one_place_for_four_loops(void **state) {
  (void) state;
  uint64_t seed = random_seed(1);
  run(1, seed);
  run(1, seed + 1);
}

static void three_places_for_four_loops(void **state) {
  (void) state;
  run(3, random_seed(10));
}

/* The limit is used up to the last place, and not beyond. */
static void the_limit_is_exact(void **state) {
  (void) state;
  void *made = NULL;
  test_rig *rig =
      make_rig(&made, (errand_group_init){.loops = 4, .in_flight_limit = 10});
  errand_options *options[ORIGINS];
  make_options(options);
  for (int i = 0; i < 3 * ORIGINS; i++) {
    errand_request r = rig_request("GET", rig_url(rig, "/stall"));
    r.options = options[i % ORIGINS];
    rig_submit(rig, &r);
  }
  rig_await(rig, (errand_fault_counts){.requests = 10});
  assert_int_equal(rig_stats(rig).in_flight, 10);
  assert_int_equal(rig_stats(rig).queued, 3 * ORIGINS - 10);
  assert_int_equal(rig_counts(rig).requests, 10);
  errand_fault_server_release(rig->server);
  collector_wait_completions(&rig->collector, rig->accepted);
  for (int i = 0; i < ORIGINS; i++)
    errand_options_release(options[i]);
  assert_int_equal(rig_tear_down(&made), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_place_for_four_loops),
      cmocka_unit_test(three_places_for_four_loops),
      cmocka_unit_test(the_limit_is_exact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
