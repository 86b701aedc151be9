#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/wheel.h"
#include "support/random.h"
#include "support/test.h"

#define TOP_SLOT_MS (UINT64_C(1) << 24)
#define RANGE_MS (UINT64_C(1) << 30)

enum { NODES = 300 };

/* The naive model: what is armed, and when, by plain array. */
struct model {
  errand__wheel wheel;
  errand__wheel_node nodes[NODES];
  uint64_t deadline[NODES]; /* NEVER: not armed */
  uint64_t now;
  uint64_t fired_through; /* the advance that runs; 0 outside of one */
  unsigned fired;
  random_source random;
  bool meddle; /* callbacks add and remove nodes */
  bool armed_before[NODES];
};

static void model_init(struct model *m, uint64_t now, uint64_t seed) {
  memset(m, 0, sizeof *m);
  errand__wheel_init(&m->wheel, now);
  m->now = now;
  m->random.state = seed;
  for (int i = 0; i < NODES; i++)
    m->deadline[i] = ERRAND__WHEEL_NEVER;
}

static void model_add(struct model *m, unsigned i, uint64_t deadline) {
  errand__wheel_add(&m->wheel, &m->nodes[i], deadline);
  m->deadline[i] = deadline;
  m->armed_before[i] = false;
  assert_true(m->nodes[i].armed);
}

static void model_remove(struct model *m, unsigned i) {
  errand__wheel_remove(&m->wheel, &m->nodes[i]);
  m->deadline[i] = ERRAND__WHEEL_NEVER;
  assert_false(m->nodes[i].armed);
}

static uint64_t earliest(const struct model *m) {
  uint64_t first = ERRAND__WHEEL_NEVER;
  for (int i = 0; i < NODES; i++)
    if (m->deadline[i] < first)
      first = m->deadline[i];
  return first;
}

/* A distance that lands in any level, near its edges more often than not. */
static uint64_t some_distance(random_source *random) {
  unsigned bits = (unsigned) random_below(random, 34);
  uint64_t distance = random_below(random, UINT64_C(1) << bits);
  if (random_below(random, 3) == 0)
    distance = (UINT64_C(1) << bits) + random_below(random, 3) - 1;
  return distance;
}

static void on_fire(void *context, errand__wheel_node *node) {
  struct model *m = context;
  unsigned i = (unsigned) (node - m->nodes);
  assert_true(i < NODES);
  assert_false(node->armed);
  assert_true(m->armed_before[i]); /* once, and not one added meanwhile */
  assert_true(node->deadline_ms == m->deadline[i]);
  assert_true(m->deadline[i] <= m->fired_through); /* never early */
  m->deadline[i] = ERRAND__WHEEL_NEVER;
  m->armed_before[i] = false;
  m->fired++;
  if (!m->meddle)
    return;
  for (uint64_t n = random_below(&m->random, 4); n > 0; n--) {
    unsigned other = (unsigned) random_below(&m->random, NODES);
    if (random_below(&m->random, 2) == 0)
      model_remove(m, other);
    else
      model_add(m, other,
                m->fired_through + some_distance(&m->random) -
                    random_below(&m->random, 5));
  }
}

static void check_next(struct model *m) {
  uint64_t first = earliest(m);
  uint64_t next = errand__wheel_next(&m->wheel);
  if (first == ERRAND__WHEEL_NEVER) {
    assert_true(next == ERRAND__WHEEL_NEVER);
    return;
  }
  assert_true(next >= m->now);
  if (first <= m->now)
    assert_true(next == m->now);
  else
    assert_true(next <= first);
  if (first > m->now && first / 64 == m->now / 64)
    assert_true(next == first);
}

static void model_advance(struct model *m, uint64_t now) {
  for (int i = 0; i < NODES; i++)
    m->armed_before[i] = m->deadline[i] <= now;
  m->now = m->fired_through = now;
  errand__wheel_advance(&m->wheel, now, on_fire, m);
  for (int i = 0; i < NODES; i++) /* none forgotten */
    assert_false(m->armed_before[i] && m->deadline[i] <= now);
  check_next(m);
}

static void random_walk(uint64_t seed, uint64_t start, bool meddle) {
  struct model *m = malloc(sizeof *m);
  assert_non_null(m);
  model_init(m, start, seed);
  m->meddle = meddle;
  for (int step = 0; step < 4000; step++) {
    unsigned i = (unsigned) random_below(&m->random, NODES);
    switch (random_below(&m->random, 8)) {
    case 0:
      model_remove(m, i);
      break;
    case 1: {
      uint64_t back = random_below(&m->random, 100);
      model_add(m, i, m->now > back ? m->now - back : 0);
      break;
    }
    case 2:
    case 3:
      model_advance(m, m->now + random_below(&m->random, 70));
      break;
    case 4:
      if (random_below(&m->random, 4) == 0)
        model_advance(m, m->now + some_distance(&m->random));
      break;
    case 5: { /* as the loop does: sleep until next */
      uint64_t next = errand__wheel_next(&m->wheel);
      if (next != ERRAND__WHEEL_NEVER)
        model_advance(m, next);
      break;
    }
    default:
      model_add(m, i, m->now + some_distance(&m->random));
    }
    check_next(m);
  }
  m->meddle = false;
  model_advance(m, m->now + 64 * RANGE_MS);
  assert_true(errand__wheel_next(&m->wheel) == ERRAND__WHEEL_NEVER);
  assert_true(m->fired > 0);
  free(m);
}

static void agrees_with_a_naive_model(void **state) {
  (void) state;
  uint64_t seed = random_seed(20260103);
  random_source random = {seed};
  for (uint64_t round = 0; round < 60; round++) {
    /* Starts just before the top level goes round, among others. */
    uint64_t start = round % 3 == 0   ? RANGE_MS - random_below(&random, 200)
                     : round % 3 == 1 ? random_next(&random) >> 20
                                      : random_below(&random, 100);
    random_walk(seed + round, start, round % 2 == 1);
  }
}

static void a_deadline_fires_at_its_millisecond(void **state) {
  (void) state;
  static const uint64_t distances[] = {1,
                                       2,
                                       63,
                                       64,
                                       65,
                                       4095,
                                       4096,
                                       4097,
                                       262143,
                                       262144,
                                       262145,
                                       16777215,
                                       TOP_SLOT_MS,
                                       16777217,
                                       RANGE_MS - TOP_SLOT_MS,
                                       RANGE_MS - 1,
                                       RANGE_MS,
                                       RANGE_MS + 1,
                                       UINT64_C(2592000000)};
  static const uint64_t starts[] = {0, 1, 63, 4095, RANGE_MS - 1, 123456789};
  struct model *m = malloc(sizeof *m);
  assert_non_null(m);
  for (size_t s = 0; s < COUNT_OF(starts); s++)
    for (size_t d = 0; d < COUNT_OF(distances); d++) {
      uint64_t deadline = starts[s] + distances[d];
      model_init(m, starts[s], 0);
      model_add(m, 0, deadline);
      unsigned stops = 0;
      while (errand__wheel_next(&m->wheel) < deadline) {
        model_advance(m, errand__wheel_next(&m->wheel));
        assert_int_equal(m->fired, 0);
        stops++;
      }
      /* One stop a level, and one more each time round the top. */
      assert_true(stops <= ERRAND__WHEEL_LEVELS + 3);
      model_advance(m, deadline - 1);
      assert_int_equal(m->fired, 0);
      model_advance(m, deadline);
      assert_int_equal(m->fired, 1);
    }
  free(m);
}

static void the_farthest_deadline_is_held(void **state) {
  (void) state;
  struct model *m = malloc(sizeof *m);
  assert_non_null(m);
  model_init(m, 5, 0);
  model_add(m, 0, UINT64_MAX - 1);
  model_advance(m, 5 + 100 * RANGE_MS);
  assert_int_equal(m->fired, 0);
  assert_true(errand__wheel_next(&m->wheel) != ERRAND__WHEEL_NEVER);
  model_remove(m, 0);
  assert_true(errand__wheel_next(&m->wheel) == ERRAND__WHEEL_NEVER);
  free(m);
}

/* Fires again and again if an advance took in what its callbacks add. */
static void rearm(void *context, errand__wheel_node *node) {
  errand__wheel *wheel = context;
  errand__wheel_add(wheel, node, 0);
}

static void a_node_rearmed_as_due_waits_for_the_next_advance(void **state) {
  (void) state;
  errand__wheel *wheel = malloc(sizeof *wheel);
  errand__wheel_node node = {0};
  assert_non_null(wheel);
  errand__wheel_init(wheel, 10);
  errand__wheel_add(wheel, &node, 15);
  for (int i = 0; i < 3; i++) {
    errand__wheel_advance(wheel, 20, rearm, wheel);
    assert_true(node.armed);
    assert_true(errand__wheel_next(wheel) == 20);
  }
  errand__wheel_remove(wheel, &node);
  errand__wheel_remove(wheel, &node);
  assert_true(errand__wheel_next(wheel) == ERRAND__WHEEL_NEVER);
  free(wheel);
}

static void record_order(void *context, errand__wheel_node *node) {
  uint64_t **at = context;
  *(*at)++ = node->deadline_ms;
}

static void fires_in_the_order_of_deadlines(void **state) {
  (void) state;
  enum { COUNT = 200 };
  static errand__wheel_node nodes[COUNT];
  uint64_t order[COUNT], *at = order;
  errand__wheel *wheel = malloc(sizeof *wheel);
  random_source random = {random_seed(20260104)};
  assert_non_null(wheel);
  errand__wheel_init(wheel, 1000);
  for (int i = 0; i < COUNT; i++)
    errand__wheel_add(wheel, &nodes[i], 1001 + random_below(&random, 1000000));
  errand__wheel_advance(wheel, 2000000, record_order, &at);
  assert_ptr_equal(at, order + COUNT);
  for (int i = 1; i < COUNT; i++)
    assert_true(order[i - 1] <= order[i]);
  free(wheel);
}

static void count_fired(void *context, errand__wheel_node *node) {
  (void) node;
  ++*(unsigned *) context;
}

/* A year at once: walking it by milliseconds would take minutes. */
static void a_big_jump_costs_little(void **state) {
  (void) state;
  enum { COUNT = 10000 };
  errand__wheel_node *nodes = calloc(COUNT, sizeof *nodes);
  errand__wheel *wheel = malloc(sizeof *wheel);
  random_source random = {random_seed(20260105)};
  unsigned fired = 0;
  assert_non_null(nodes);
  assert_non_null(wheel);
  errand__wheel_init(wheel, 0);
  for (int i = 0; i < COUNT; i++)
    errand__wheel_add(wheel, &nodes[i],
                      random_below(&random, UINT64_C(31536000000)));
  clock_t before = clock();
  errand__wheel_advance(wheel, UINT64_C(31536000000), count_fired, &fired);
  assert_int_equal(fired, COUNT);
  assert_true(clock() - before < 5 * CLOCKS_PER_SEC);
  free(wheel);
  free(nodes);
}

static void time_does_not_run_backwards(void **state) {
  (void) state;
  unsigned fired = 0;
  errand__wheel_node node = {0};
  errand__wheel *wheel = malloc(sizeof *wheel);
  assert_non_null(wheel);
  errand__wheel_init(wheel, 1000);
  errand__wheel_add(wheel, &node, 1010);
  errand__wheel_advance(wheel, 500, count_fired, &fired);
  assert_int_equal(fired, 0);
  assert_true(errand__wheel_next(wheel) == 1010);
  errand__wheel_advance(wheel, 1010, count_fired, &fired);
  assert_int_equal(fired, 1);
  free(wheel);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(agrees_with_a_naive_model),
      cmocka_unit_test(a_deadline_fires_at_its_millisecond),
      cmocka_unit_test(the_farthest_deadline_is_held),
      cmocka_unit_test(a_node_rearmed_as_due_waits_for_the_next_advance),
      cmocka_unit_test(fires_in_the_order_of_deadlines),
      cmocka_unit_test(a_big_jump_costs_little),
      cmocka_unit_test(time_does_not_run_backwards),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
