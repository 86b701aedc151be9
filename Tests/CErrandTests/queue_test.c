#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "queue/submit_queue.h"
#include "support/random.h"
#include "support/test.h"

struct item {
  errand__queue_node node;
  unsigned producer;
  unsigned number;
};

static struct item *item_of(errand__queue_node *node) {
  return (struct item *) (void *) node; /* first field */
}

/* Links items[0 ... count - 1] in order, as a caller of push does. */
static void chain(struct item *items, size_t count) {
  for (size_t i = 0; i < count; i++)
    items[i].node.next = i + 1 < count ? &items[i + 1].node : NULL;
}

static bool push(errand__queue *queue, struct item *items, size_t count) {
  chain(items, count);
  return errand__queue_push(queue, &items[0].node, &items[count - 1].node);
}

static void takes_in_order(void **state) {
  (void) state;
  errand__queue queue;
  struct item items[7] = {0};
  errand__queue_init(&queue);
  assert_true(errand__queue_is_empty(&queue));
  assert_null(errand__queue_take(&queue));
  for (unsigned i = 0; i < COUNT_OF(items); i++)
    items[i].number = i;

  /* What `last` points to is none of the queue's. */
  chain(&items[0], 5);
  assert_true(errand__queue_push(&queue, &items[0].node, &items[2].node));
  assert_true(push(&queue, &items[3], 1));
  assert_true(push(&queue, &items[4], 2));
  assert_false(errand__queue_is_empty(&queue));

  errand__queue_node *node = errand__queue_take(&queue);
  for (unsigned i = 0; i < 6; i++, node = node->next)
    assert_int_equal(item_of(node)->number, i);
  assert_null(node);
  assert_true(errand__queue_is_empty(&queue));

  assert_true(push(&queue, &items[6], 1));
  assert_false(errand__queue_is_empty(&queue));
  node = errand__queue_take(&queue);
  assert_ptr_equal(node, &items[6].node);
  assert_null(node->next);
}

static void close_gives_the_rest_and_refuses(void **state) {
  (void) state;
  errand__queue queue;
  struct item items[5] = {0};
  errand__queue_init(&queue);
  assert_true(push(&queue, &items[0], 2));

  errand__queue_node *left = errand__queue_close(&queue);
  assert_ptr_equal(left, &items[0].node);
  assert_ptr_equal(left->next, &items[1].node);
  assert_null(left->next->next);

  assert_true(errand__queue_is_empty(&queue));
  assert_false(push(&queue, &items[2], 3));
  /* refused: linked as before */
  assert_ptr_equal(items[2].node.next, &items[3].node);
  assert_ptr_equal(items[3].node.next, &items[4].node);
  assert_null(items[4].node.next);
  assert_null(errand__queue_take(&queue));
  assert_null(errand__queue_close(&queue));
  assert_false(push(&queue, &items[2], 1));
}

enum { PRODUCERS = 8, ITEMS = 20000, LONGEST_BATCH = 9 };

struct storm {
  errand__queue queue;
  struct item *items[PRODUCERS];
  unsigned accepted[PRODUCERS];
  unsigned next[PRODUCERS]; /* what the consumer expects of each */
  _Atomic unsigned running;
  _Atomic bool go;
  uint64_t seed;
};

struct producer {
  struct storm *storm;
  unsigned index;
};

static void *produce(void *context) {
  struct producer *producer = context;
  struct storm *storm = producer->storm;
  struct item *items = storm->items[producer->index];
  random_source random = {storm->seed + producer->index};
  unsigned at = 0;
  while (!atomic_load(&storm->go))
    sched_yield();
  while (at < ITEMS) {
    unsigned count = 1 + (unsigned) random_below(&random, LONGEST_BATCH);
    if (count > ITEMS - at)
      count = ITEMS - at;
    for (unsigned i = at; i < at + count; i++) {
      items[i].producer = producer->index;
      items[i].number = i;
    }
    if (!push(&storm->queue, &items[at], count))
      break;
    at += count;
    if (random_below(&random, 50) == 0)
      sched_yield();
  }
  storm->accepted[producer->index] = at;
  atomic_fetch_sub(&storm->running, 1);
  return NULL;
}

/* Returns: the number of nodes; fails on a loss, a double or a swap. */
static unsigned check(struct storm *storm, errand__queue_node *node) {
  unsigned count = 0;
  while (node != NULL) {
    struct item *item = item_of(node);
    node = node->next;
    assert_int_equal(item->number, storm->next[item->producer]);
    storm->next[item->producer]++;
    count++;
  }
  return count;
}

/* Producers against one consumer, which closes after `close_after` items. */
static void run_storm(uint64_t seed, unsigned close_after) {
  struct storm *storm = calloc(1, sizeof *storm);
  struct producer producers[PRODUCERS];
  pthread_t threads[PRODUCERS];
  assert_non_null(storm);
  errand__queue_init(&storm->queue);
  storm->seed = seed;
  atomic_store(&storm->running, PRODUCERS);
  for (unsigned i = 0; i < PRODUCERS; i++) {
    storm->items[i] = calloc(ITEMS, sizeof *storm->items[i]);
    assert_non_null(storm->items[i]);
    producers[i] = (struct producer){storm, i};
    assert_int_equal(pthread_create(&threads[i], NULL, produce, &producers[i]),
                     0);
  }
  unsigned taken = 0;
  atomic_store(&storm->go, true);
  while (atomic_load(&storm->running) != 0 && taken < close_after)
    taken += check(storm, errand__queue_take(&storm->queue));
  taken += check(storm, errand__queue_close(&storm->queue));
  unsigned accepted = 0;
  for (unsigned i = 0; i < PRODUCERS; i++) {
    pthread_join(threads[i], NULL);
    accepted += storm->accepted[i];
    assert_int_equal(storm->next[i], storm->accepted[i]);
    free(storm->items[i]);
  }
  assert_int_equal(taken, accepted);
  if (close_after > PRODUCERS * ITEMS)
    assert_int_equal(accepted, PRODUCERS * ITEMS);
  free(storm);
}

static void eight_producers_lose_nothing(void **state) {
  (void) state;
  uint64_t seed = random_seed(20260101);
  for (uint64_t round = 0; round < 5; round++)
    run_storm(seed + round * 100, UINT32_MAX);
}

static void close_in_the_middle_loses_nothing(void **state) {
  (void) state;
  uint64_t seed = random_seed(20260102);
  random_source random = {seed};
  for (uint64_t round = 0; round < 40; round++)
    run_storm(seed + round * 100,
              (unsigned) random_below(&random, PRODUCERS * ITEMS / 2));
}

/* A closer on another thread than the taker: no push between its close and
   a take may open the queue again. */
static void *close_it(void *context) {
  errand__queue *queue = context;
  for (int i = 0; i < 200; i++)
    sched_yield();
  return errand__queue_close(queue);
}

static void close_against_take(void **state) {
  (void) state;
  for (int round = 0; round < 200; round++) {
    static struct item items[2000];
    errand__queue queue;
    pthread_t closer;
    unsigned pushed = 0, taken = 0;
    void *left;
    errand__queue_init(&queue);
    assert_int_equal(pthread_create(&closer, NULL, close_it, &queue), 0);
    while (pushed < COUNT_OF(items)) {
      if (!push(&queue, &items[pushed], 1))
        break;
      pushed++;
      for (errand__queue_node *node = errand__queue_take(&queue); node != NULL;
           node = node->next)
        taken++;
    }
    pthread_join(closer, &left);
    for (errand__queue_node *node = left; node != NULL; node = node->next)
      taken++;
    assert_int_equal(taken, pushed);
    assert_false(push(&queue, &items[0], 1));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(takes_in_order),
      cmocka_unit_test(close_gives_the_rest_and_refuses),
      cmocka_unit_test(eight_producers_lose_nothing),
      cmocka_unit_test(close_in_the_middle_loses_nothing),
      cmocka_unit_test(close_against_take),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
