/*
 * 64-bit counters that any thread reads without a lock. All accesses are
 * relaxed: a counter orders no other memory.
 */
#ifndef ERRAND_BASE_COUNTER_H
#define ERRAND_BASE_COUNTER_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct errand__counter {
  _Atomic uint64_t value;
} errand__counter;

/* Thread: any. */
static inline uint64_t errand__counter_read(const errand__counter *counter) {
  return atomic_load_explicit(&((errand__counter *) counter)->value,
                              memory_order_relaxed);
}

/* Thread: the counter's only writer, so no locked instruction is needed. */
static inline void errand__counter_set(errand__counter *counter, uint64_t n) {
  atomic_store_explicit(&counter->value, n, memory_order_relaxed);
}

/* Thread: the counter's only writer. `n` may be negative, as (uint64_t) -1. */
static inline void errand__counter_bump(errand__counter *counter, uint64_t n) {
  errand__counter_set(counter, errand__counter_read(counter) + n);
}

/* Thread: any.  Returns: the value before. */
static inline uint64_t errand__counter_add(errand__counter *counter,
                                           uint64_t n) {
  return atomic_fetch_add_explicit(&counter->value, n, memory_order_relaxed);
}

/* Thread: any.  Returns: the value before. */
static inline uint64_t errand__counter_sub(errand__counter *counter,
                                           uint64_t n) {
  return atomic_fetch_sub_explicit(&counter->value, n, memory_order_relaxed);
}

/* Sets the counter to 0.  Thread: any.  Returns: the value before. */
static inline uint64_t errand__counter_take(errand__counter *counter) {
  return atomic_exchange_explicit(&counter->value, 0, memory_order_relaxed);
}

#endif
