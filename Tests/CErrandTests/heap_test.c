#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "support/test.h"

static int enter(void **state) {
  (void) state;
  return errand__heap_enter(true) ? 0 : -1;
}

static int leave(void **state) {
  (void) state;
  errand__heap_leave();
  return 0;
}

static void a_freed_block_is_the_next_of_its_size(void **state) {
  (void) state;
  /* As glibc rounds sizes; the sanitizers do not. */
  const size_t sizes[] = {24, 104, 600, 1496, 2008, ERRAND__HEAP_BUFFER};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    char *block = errand__heap_malloc(sizes[i]);
    memset(block, 7, sizes[i]);
    errand__heap_free(block);
    assert_true(errand__heap_kept() > 0);
    assert_ptr_equal(errand__heap_malloc(sizes[i]), block);
    assert_int_equal(errand__heap_kept(), 0);
    errand__heap_free(block);
    errand__heap_leave();
    assert_true(errand__heap_enter(true));
  }
}

/* Of each size what was asked for: the sanitizers see a byte too few. */
static void a_block_is_never_too_small(void **state) {
  (void) state;
  for (size_t freed = 1; freed < 2200; freed += 7) {
    errand__heap_free(errand__heap_malloc(freed));
    for (size_t size = freed > 24 ? freed - 24 : 0; size < freed + 24; size++) {
      char *block = errand__heap_malloc(size);
      assert_non_null(block);
      assert_true(malloc_usable_size(block) >= size);
      memset(block, 1, size);
      errand__heap_free(block);
    }
  }
}

static void calloc_clears_a_used_block(void **state) {
  (void) state;
  void *used = errand__heap_malloc(760);
  memset(used, 0xff, 760);
  errand__heap_free(used);
  unsigned char *block = errand__heap_calloc(8, 95);
  assert_ptr_equal(block, used);
  for (int i = 0; i < 760; i++)
    assert_int_equal(block[i], 0);
  errand__heap_free(block);
  /* volatile: the compiler would warn of what is meant. */
  volatile size_t half = SIZE_MAX / 2;
  assert_null(errand__heap_calloc(half, 4));
}

static void realloc_keeps_the_bytes(void **state) {
  (void) state;
  char text[4096];
  for (size_t i = 0; i < sizeof text; i++)
    text[i] = (char) (i * 31);
  /* So that there is a kept block to grow into at some sizes. */
  for (size_t size = 64; size < 2048; size *= 2)
    errand__heap_free(errand__heap_malloc(size));
  char *block = errand__heap_realloc(NULL, 1);
  size_t length = 1;
  block[0] = text[0];
  for (size_t size = 32; size <= sizeof text; size += 32) {
    block = errand__heap_realloc(block, size);
    assert_memory_equal(block, text, length);
    memcpy(block, text, size);
    length = size;
  }
  block = errand__heap_realloc(block, 10);
  assert_memory_equal(block, text, 10);
  block = errand__heap_realloc(block, 40 * 1024);
  assert_memory_equal(block, text, 10);
  errand__heap_free(block);
}

static void failures_are_counted(void **state) {
  (void) state;
  uint64_t before = errand__heap_failures();
  void *block = errand__heap_malloc(100);
  assert_non_null(block);
  assert_int_equal(errand__heap_failures(), before);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  volatile size_t most = PTRDIFF_MAX;
  assert_null(errand__heap_malloc(most));
  assert_null(errand__heap_calloc(1, most));
  assert_null(errand__heap_realloc(block, most));
  assert_int_equal(errand__heap_failures(), before + 3);
#endif
  errand__heap_free(block);
}

static void strdup_copies_the_nul(void **state) {
  (void) state;
  char *used = errand__heap_malloc(30);
  memset(used, 'x', 30);
  errand__heap_free(used);
  char *copy = errand__heap_strdup("twenty-four and some more");
  assert_string_equal(copy, "twenty-four and some more");
  errand__heap_free(copy);
  errand__heap_free(NULL);
}

enum { BLOCKS = 6000 };

static void what_is_kept_is_bounded(void **state) {
  (void) state;
  static void *blocks[BLOCKS];
  for (int i = 0; i < BLOCKS; i++)
    blocks[i] = errand__heap_malloc(56);
  for (int i = 0; i < BLOCKS; i++)
    errand__heap_free(blocks[i]);
  size_t one = errand__heap_kept();
  assert_true(one > ERRAND__HEAP_CLASS_BYTES / 2);
  assert_true(one <= ERRAND__HEAP_CLASS_BYTES);
  /* Other sizes find room beside it, up to the limit of all. */
  for (size_t size = 100; size < 2048; size += 100) {
    for (int i = 0; i < 1000; i++)
      blocks[i] = errand__heap_malloc(size);
    for (int i = 0; i < 1000; i++)
      errand__heap_free(blocks[i]);
  }
  size_t small = errand__heap_kept();
  assert_true(small > ERRAND__HEAP_SMALL_BYTES - 4096);
  assert_true(small <= ERRAND__HEAP_SMALL_BYTES);
  for (int i = 0; i < 200; i++)
    blocks[i] = errand__heap_malloc(ERRAND__HEAP_BUFFER);
  for (int i = 0; i < 200; i++)
    errand__heap_free(blocks[i]);
  size_t buffers = errand__heap_kept() - small;
  assert_true(buffers > ERRAND__HEAP_BUFFER_BYTES - 2 * ERRAND__HEAP_BUFFER);
  assert_true(buffers <= ERRAND__HEAP_BUFFER_BYTES);
}

static void other_sizes_are_not_kept(void **state) {
  (void) state;
  const size_t sizes[] = {4096, ERRAND__HEAP_BUFFER / 2,
                          2 * ERRAND__HEAP_BUFFER, 1024 * 1024};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    errand__heap_free(errand__heap_malloc(sizes[i]));
    assert_int_equal(errand__heap_kept(), 0);
  }
}

/* A copy of a text that has the size of the shared buffer. */
static char *long_copy(void) {
  static char text[ERRAND__HEAP_SHARED];
  memset(text, 'x', sizeof text - 1);
  return errand__heap_strdup(text);
}

static void the_shared_buffer_is_one(void **state) {
  (void) state;
  assert_true(errand__heap_may_share());
  errand__heap_share(true);
  char *first = errand__heap_malloc(ERRAND__HEAP_SHARED);
  assert_non_null(first);
  assert_int_equal(errand__heap_kept(), ERRAND__HEAP_SHARED);
  memset(first, 'a', ERRAND__HEAP_SHARED);
  assert_ptr_equal(errand__heap_malloc(ERRAND__HEAP_SHARED), first);
  errand__heap_free(first);
  assert_int_equal(first[ERRAND__HEAP_SHARED - 1], 'a');
  /* A resized block is one of its own. */
  for (size_t size = 100; size < 1024 * 1024; size *= 100) {
    char *own = errand__heap_realloc(first, size);
    size_t most = size < ERRAND__HEAP_SHARED ? size : ERRAND__HEAP_SHARED;
    assert_ptr_not_equal(own, first);
    assert_memory_equal(own, first, most);
    memset(own, 'b', size);
    errand__heap_free(own);
  }
  assert_int_equal(first[0], 'a');
  assert_ptr_equal(errand__heap_malloc(ERRAND__HEAP_SHARED), first);
  /* The shared buffer is neither what realloc returns, nor of another size, nor
     cleared memory. */
  void *others[] = {errand__heap_realloc(NULL, ERRAND__HEAP_SHARED),
                    long_copy(), errand__heap_malloc(ERRAND__HEAP_SHARED - 1),
                    errand__heap_malloc(ERRAND__HEAP_SHARED + 1),
                    errand__heap_calloc(1, ERRAND__HEAP_SHARED)};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    assert_ptr_not_equal(others[i], first);
    errand__heap_free(others[i]);
  }
  assert_int_equal(first[0], 'a');
  errand__heap_share(false);
  char *own = errand__heap_malloc(ERRAND__HEAP_SHARED);
  assert_ptr_not_equal(own, first);
  errand__heap_free(own);
}

static void *free_elsewhere(void *block) {
  errand__heap_free(block);
  return (void *) (uintptr_t) errand__heap_kept();
}

static void a_thread_that_did_not_enter_keeps_nothing(void **state) {
  (void) state;
  pthread_t thread;
  void *kept = NULL;
  void *ours = errand__heap_malloc(100);
  assert_int_equal(pthread_create(&thread, NULL, free_elsewhere, ours), 0);
  pthread_join(thread, &kept);
  assert_null(kept);
  assert_int_equal(errand__heap_kept(), 0);
  /* And blocks are malloc's own, both ways. */
  free(errand__heap_malloc(100));
  errand__heap_free(malloc(100));
}

static void leaving_gives_everything_back(void **state) {
  (void) state;
  errand__heap_free(errand__heap_malloc(100));
  errand__heap_free(errand__heap_malloc(ERRAND__HEAP_BUFFER));
  errand__heap_leave(); /* what stays is a leak to the sanitizers */
  assert_int_equal(errand__heap_kept(), 0);
  errand__heap_free(errand__heap_malloc(100));
  assert_int_equal(errand__heap_kept(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_freed_block_is_the_next_of_its_size,
                                      enter, leave),
      cmocka_unit_test_setup_teardown(a_block_is_never_too_small, enter, leave),
      cmocka_unit_test_setup_teardown(calloc_clears_a_used_block, enter, leave),
      cmocka_unit_test_setup_teardown(realloc_keeps_the_bytes, enter, leave),
      cmocka_unit_test_setup_teardown(failures_are_counted, enter, leave),
      cmocka_unit_test_setup_teardown(strdup_copies_the_nul, enter, leave),
      cmocka_unit_test_setup_teardown(what_is_kept_is_bounded, enter, leave),
      cmocka_unit_test_setup_teardown(other_sizes_are_not_kept, enter, leave),
      cmocka_unit_test_setup_teardown(the_shared_buffer_is_one, enter, leave),
      cmocka_unit_test_setup_teardown(a_thread_that_did_not_enter_keeps_nothing,
                                      enter, leave),
      cmocka_unit_test_setup_teardown(leaving_gives_everything_back, enter,
                                      leave),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
