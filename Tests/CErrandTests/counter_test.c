#include <pthread.h>

#include "base/counter.h"
#include "support/test.h"

enum { THREADS = 8, ROUNDS = 20000 };

static errand__counter shared, single;

static void *add(void *unused) {
  (void) unused;
  for (int i = 0; i < ROUNDS; i++)
    errand__counter_add(&shared, 3);
  for (int i = 0; i < ROUNDS; i++)
    errand__counter_sub(&shared, 1);
  return NULL;
}

static void *bump(void *unused) {
  (void) unused;
  for (int i = 0; i < ROUNDS; i++)
    errand__counter_bump(&single, 1);
  return NULL;
}

static void many_writers_lose_nothing(void **state) {
  (void) state;
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, add, NULL), 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  assert_int_equal(errand__counter_read(&shared), 2 * THREADS * ROUNDS);
}

static void a_reader_sees_one_writer_go_up(void **state) {
  (void) state;
  pthread_t writer;
  assert_int_equal(pthread_create(&writer, NULL, bump, NULL), 0);
  uint64_t seen = 0;
  while (seen < ROUNDS) {
    uint64_t now = errand__counter_read(&single);
    assert_true(now >= seen && now <= ROUNDS);
    seen = now;
  }
  pthread_join(writer, NULL);
}

static void answers_the_value_before(void **state) {
  (void) state;
  errand__counter counter = {0};
  errand__counter_set(&counter, 5);
  assert_int_equal(errand__counter_add(&counter, 2), 5);
  assert_int_equal(errand__counter_sub(&counter, 4), 7);
  errand__counter_bump(&counter, (uint64_t) -1);
  assert_int_equal(errand__counter_read(&counter), 2);
  assert_int_equal(errand__counter_take(&counter), 2);
  assert_int_equal(errand__counter_read(&counter), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(many_writers_lose_nothing),
      cmocka_unit_test(a_reader_sees_one_writer_go_up),
      cmocka_unit_test(answers_the_value_before),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
