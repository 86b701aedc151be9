#include "loop/quota.h"

/* Above this many requests in flight, the requests of an origin use a second
   loop. */
#define ORIGIN_PER_LOOP 256u

uint32_t errand__quota_of_origin(const errand__shared *shared, uint64_t hash,
                                 uint32_t index) {
  uint32_t limit = shared->init.origin_in_flight_limit;
  uint32_t n = errand__quota_loops(shared);
  uint32_t home = (uint32_t) (hash % shared->loop_count);
  uint32_t place = (index + shared->loop_count - home) % shared->loop_count;
  return limit / n + (place < limit % n ? 1 : 0);
}

uint32_t errand__quota_loops(const errand__shared *shared) {
  uint32_t limit = shared->init.origin_in_flight_limit;
  uint32_t n = (limit + ORIGIN_PER_LOOP - 1) / ORIGIN_PER_LOOP;
  return n < shared->loop_count ? n : shared->loop_count;
}

/* The count never goes above the limit, not even for a moment: another loop
   would take the group for full and go to sleep, and no loop would wake it. */
static bool take_place(errand__shared *shared) {
  _Atomic uint64_t *places = &shared->in_flight.value;
  uint64_t taken = atomic_load_explicit(places, memory_order_relaxed);
  while (taken < shared->init.in_flight_limit)
    if (atomic_compare_exchange_weak_explicit(places, &taken, taken + 1,
                                              memory_order_relaxed,
                                              memory_order_relaxed))
      return true;
  return false;
}

static uint64_t others_starved(const errand__shared *shared, int rank,
                               uint32_t index) {
  return atomic_load_explicit(&shared->starved[rank], memory_order_relaxed) &
         ~((uint64_t) 1 << index);
}

static bool yields(const errand__shared *shared, int rank, uint32_t index) {
  for (int better = 0; better < rank; better++)
    if (others_starved(shared, better, index))
      return true;
  return false;
}

/*
 * The bits stay until their loops have tried again, so that this loop, if it
 * tries first, still sees the better ranks. A loop that was woken and gets no
 * place moves or clears its bit, and then wakes the next.
 */
static void wake_best(errand__shared *shared, uint32_t index) {
  uint64_t others = 0;
  for (int rank = 0; !others && rank < ERRAND__PRIORITIES; rank++)
    others = others_starved(shared, rank, index);
  while (others) {
    errand__loop_wake(&shared->loops[__builtin_ctzll(others)]);
    others &= others - 1;
  }
}

static void wake_best_for_free(errand__shared *shared, uint32_t index) {
  if (errand__counter_read(&shared->in_flight) < shared->init.in_flight_limit)
    wake_best(shared, index);
}

/* Moves the loop's bit to a rank; -1 clears it. */
static void note(errand__loop *loop, int rank) {
  errand__shared *shared = loop->shared;
  uint64_t bit = (uint64_t) 1 << loop->index;
  if (loop->starving == rank)
    return;
  if (rank >= 0)
    atomic_fetch_or_explicit(&shared->starved[rank], bit, memory_order_seq_cst);
  if (loop->starving >= 0)
    atomic_fetch_and_explicit(&shared->starved[loop->starving], ~bit,
                              memory_order_seq_cst);
  loop->starving = rank;
}

bool errand__quota_acquire(errand__loop *loop, int rank) {
  errand__shared *shared = loop->shared;
  if (!yields(shared, rank, loop->index) && take_place(shared))
    return true;
  note(loop, rank);
  atomic_thread_fence(memory_order_seq_cst);
  /* A place may have been given back, or a better request may have gone, before
     other loops could see the bit. */
  if (!yields(shared, rank, loop->index))
    return take_place(shared);
  wake_best_for_free(shared, loop->index);
  return false;
}

void errand__quota_sated(errand__loop *loop) {
  note(loop, -1);
  atomic_thread_fence(memory_order_seq_cst);
  wake_best_for_free(loop->shared, loop->index);
}

void errand__quota_release(errand__loop *loop) {
  errand__counter_sub(&loop->shared->in_flight, 1);
  atomic_thread_fence(memory_order_seq_cst);
  wake_best(loop->shared, loop->index); /* this loop tries in its turn anyway */
}
