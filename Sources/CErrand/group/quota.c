/* Limits over all loops of a group. */
#include "group/group.h"

/* Above this many requests in flight an origin gets a second loop. */
#define ORIGIN_PER_LOOP 256u

uint32_t errand__origin_quota(const struct errand_group *group, uint64_t hash,
                              uint32_t index) {
  uint32_t limit = group->init.origin_in_flight_limit;
  uint32_t n = errand__origin_loops(group);
  uint32_t home = (uint32_t) (hash % group->loop_count);
  uint32_t place = (index + group->loop_count - home) % group->loop_count;
  return limit / n + (place < limit % n ? 1 : 0);
}

uint32_t errand__origin_loops(const struct errand_group *group) {
  uint32_t limit = group->init.origin_in_flight_limit;
  uint32_t n = (limit + ORIGIN_PER_LOOP - 1) / ORIGIN_PER_LOOP;
  return n < group->loop_count ? n : group->loop_count;
}

/* Never beyond the limit, not even for a moment: another loop would take that
   for a full group and go to sleep with nobody left to wake it. */
static bool take_place(struct errand_group *group) {
  _Atomic uint64_t *places = &group->in_flight.value;
  uint64_t taken = atomic_load_explicit(places, memory_order_relaxed);
  while (taken < group->init.in_flight_limit)
    if (atomic_compare_exchange_weak_explicit(places, &taken, taken + 1,
                                              memory_order_relaxed,
                                              memory_order_relaxed))
      return true;
  return false;
}

bool errand__group_acquire(struct errand_group *group, uint32_t index) {
  if (take_place(group))
    return true;
  atomic_fetch_or_explicit(&group->starved, (uint64_t) 1 << index,
                           memory_order_seq_cst);
  atomic_thread_fence(memory_order_seq_cst);
  /* A place may have been given back before the bit could be seen. */
  return take_place(group);
}

void errand__group_release(struct errand_group *group, uint32_t index) {
  errand__counter_sub(&group->in_flight, 1);
  atomic_thread_fence(memory_order_seq_cst);
  if (!atomic_load_explicit(&group->starved, memory_order_relaxed))
    return;
  uint64_t others =
      atomic_exchange_explicit(&group->starved, 0, memory_order_seq_cst);
  others &= ~((uint64_t) 1 << index); /* this one is about to look anyway */
  while (others) {
    errand__loop_wake(&group->loops[__builtin_ctzll(others)]);
    others &= others - 1;
  }
}
