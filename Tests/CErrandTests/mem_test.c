#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "include/errand_stats.h"
#include "support/test.h"

static errand_memory_stats since(const errand_memory_stats *before) {
  errand_memory_stats now;
  errand_memory_read(&now);
  now.allocations -= before->allocations;
  now.frees -= before->frees;
  return now;
}

static void counts_allocations_and_frees(void **state) {
  (void) state;
  errand_memory_stats before, moved;
  errand_memory_read(&before);

  void *a = errand__malloc(10);
  unsigned char *b = errand__calloc(4, 8);
  void *c = errand__realloc(NULL, 5);
  char *d = errand__strdup("text");
  unsigned char *e = errand__memdup("\1\2\3", 3);
  assert_non_null(a);
  for (int i = 0; i < 32; i++)
    assert_int_equal(b[i], 0);
  assert_string_equal(d, "text");
  assert_memory_equal(e, "\1\2\3", 3);
  moved = since(&before);
  assert_int_equal(moved.allocations, 5);
  assert_int_equal(moved.frees, 0);

  memset(c, 7, 5);
  unsigned char *grown = errand__realloc(c, 5000);
  for (int i = 0; i < 5; i++)
    assert_int_equal(grown[i], 7);
  assert_int_equal(since(&before).allocations, 5);

  errand__free(a);
  errand__free(b);
  errand__free(grown);
  errand__free(d);
  errand__free(e);
  errand__free(NULL);
  moved = since(&before);
  assert_int_equal(moved.allocations, 5);
  assert_int_equal(moved.frees, 5);
}

static void zero_bytes_are_memory(void **state) {
  (void) state;
  void *a = errand__malloc(0);
  void *b = errand__calloc(0, 8);
  void *c = errand__calloc(8, 0);
  void *d = errand__memdup(NULL, 0);
  assert_non_null(a);
  assert_non_null(b);
  assert_non_null(c);
  assert_non_null(d);
  void *shrunk = errand__realloc(a, 0);
  assert_non_null(shrunk);
  errand__free(shrunk);
  errand__free(b);
  errand__free(c);
  errand__free(d);
}

static void calloc_refuses_an_overflow(void **state) {
  (void) state;
  errand_memory_stats before;
  errand_memory_read(&before);
  /* volatile: the compiler would warn of what is meant. */
  volatile size_t half = SIZE_MAX / 2;
  assert_null(errand__calloc(half, 4));
  assert_int_equal(since(&before).allocations, 0);
}

static void fails_the_nth_once(void **state) {
  (void) state;
  errand_memory_stats before;
  errand_memory_read(&before);
  for (unsigned n = 1; n <= 6; n++) {
    errand_memory_fail_nth(n);
    for (unsigned i = 1; i <= 8; i++) {
      void *block = i % 2 ? errand__malloc(1) : errand__calloc(1, 1);
      assert_true((block == NULL) == (i == n));
      errand__free(block);
    }
  }
  errand_memory_stats moved = since(&before);
  assert_int_equal(moved.allocations, 6 * 7);
  assert_int_equal(moved.allocations, moved.frees);
}

static void a_failed_realloc_keeps_the_block(void **state) {
  (void) state;
  char *block = errand__strdup("kept");
  errand_memory_fail_nth(1);
  assert_null(errand__realloc(block, 100));
  assert_string_equal(block, "kept");
  errand_memory_fail_nth(1);
  assert_null(errand__memdup(block, 5));
  errand_memory_fail_nth(1);
  assert_null(errand__realloc(NULL, 5));
  errand__free(block);
}

static void zero_turns_failing_off(void **state) {
  (void) state;
  errand_memory_fail_nth(1);
  errand_memory_fail_nth(0);
  void *block = errand__malloc(1);
  assert_non_null(block);
  errand__free(block);
}

enum { THREADS = 24, ROUNDS = 4000 };

static _Atomic unsigned failures;

static void *allocate_and_free(void *unused) {
  (void) unused;
  for (int i = 0; i < ROUNDS; i++) {
    void *block = errand__malloc(16);
    if (block == NULL)
      atomic_fetch_add(&failures, 1);
    errand__free(block);
  }
  return NULL;
}

/* More threads than stripes: lines are shared, counts stay exact. */
static void threads_count_exactly_and_one_fails(void **state) {
  (void) state;
  pthread_t threads[THREADS];
  errand_memory_stats before;
  errand_memory_read(&before);
  atomic_store(&failures, 0);
  errand_memory_fail_nth(THREADS * ROUNDS / 2);
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, allocate_and_free, NULL),
                     0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  errand_memory_stats moved = since(&before);
  assert_int_equal(atomic_load(&failures), 1);
  assert_int_equal(moved.allocations, THREADS * ROUNDS - 1);
  assert_int_equal(moved.frees, THREADS * ROUNDS - 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_allocations_and_frees),
      cmocka_unit_test(zero_bytes_are_memory),
      cmocka_unit_test(calloc_refuses_an_overflow),
      cmocka_unit_test(fails_the_nth_once),
      cmocka_unit_test(a_failed_realloc_keeps_the_block),
      cmocka_unit_test(zero_turns_failing_off),
      cmocka_unit_test(threads_count_exactly_and_one_fails),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
