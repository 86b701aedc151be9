#include "base/mem.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/counter.h"
#include "include/errand_stats.h"

/* Threads count in different cache lines, so that they do not contend for one:
   the i-th thread uses line i mod STRIPES. */
#define STRIPES 16

struct stripe {
  _Alignas(64) errand__counter allocations;
  errand__counter frees;
};

static struct stripe stripes[STRIPES];

static _Atomic unsigned threads_seen;

/* The line of this thread plus 1; 0: none yet. With initial-exec an access is
   one instruction in the shared library too. */
static _Thread_local unsigned own_stripe
    __attribute__((tls_model("initial-exec")));

/* The allocation that is to fail, counted from the next; 0: off. */
static _Atomic uint64_t fail_countdown;

static struct stripe *stripe(void) {
  if (__builtin_expect(own_stripe == 0, 0)) {
    unsigned n =
        atomic_fetch_add_explicit(&threads_seen, 1, memory_order_relaxed);
    own_stripe = n % STRIPES + 1;
  }
  return &stripes[own_stripe - 1];
}

/* The slow half of must_fail. Exactly one caller takes the count to 0. */
static int count_down(void) {
  uint64_t left = atomic_load_explicit(&fail_countdown, memory_order_relaxed);
  while (left != 0) {
    if (atomic_compare_exchange_weak_explicit(&fail_countdown, &left, left - 1,
                                              memory_order_relaxed,
                                              memory_order_relaxed))
      return left == 1;
  }
  return 0;
}

static inline int must_fail(void) {
  if (__builtin_expect(
          atomic_load_explicit(&fail_countdown, memory_order_relaxed) == 0, 1))
    return 0;
  return count_down();
}

static void *counted(void *block) {
  if (block != NULL)
    errand__counter_add(&stripe()->allocations, 1);
  return block;
}

void *errand__malloc(size_t size) {
  if (must_fail())
    return NULL;
  return counted(malloc(size != 0 ? size : 1));
}

void *errand__calloc(size_t count, size_t size) {
  if (must_fail())
    return NULL;
  /* calloc checks the product too, but the sanitizers' calloc aborts. */
  size_t product;
  if (__builtin_mul_overflow(count, size, &product))
    return NULL;
  return counted(calloc(1, product != 0 ? product : 1));
}

void *errand__aligned_calloc(size_t size) {
  if (must_fail())
    return NULL;
  size = (size + 63) & ~(size_t) 63;
  void *block = counted(aligned_alloc(64, size));
  if (block != NULL)
    memset(block, 0, size);
  return block;
}

void *errand__realloc(void *old, size_t size) {
  if (old == NULL)
    return errand__malloc(size);
  if (must_fail())
    return NULL;
  return realloc(old, size != 0 ? size : 1);
}

void *errand__memdup(const void *bytes, size_t size) {
  void *copy = errand__malloc(size);
  if (copy != NULL && size != 0)
    memcpy(copy, bytes, size);
  return copy;
}

char *errand__strdup(const char *string) {
  return errand__memdup(string, strlen(string) + 1);
}

void errand__free(void *block) {
  if (block == NULL)
    return;
  errand__counter_add(&stripe()->frees, 1);
  free(block);
}

void errand_memory_read(errand_memory_stats *out) {
  out->allocations = 0;
  out->frees = 0;
  for (int i = 0; i < STRIPES; i++) {
    out->frees += errand__counter_read(&stripes[i].frees);
    out->allocations += errand__counter_read(&stripes[i].allocations);
  }
}

void errand_memory_fail_nth(uint64_t n) {
  atomic_store_explicit(&fail_countdown, n, memory_order_relaxed);
}
