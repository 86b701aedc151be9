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

bool errand__group_acquire(struct errand_group *group, uint32_t index) {
  uint64_t limit = group->init.in_flight_limit;
  if (errand__counter_add(&group->in_flight, 1) < limit)
    return true;
  errand__counter_sub(&group->in_flight, 1);
  atomic_fetch_or_explicit(&group->starved, (uint64_t) 1 << index,
                           memory_order_seq_cst);
  /* A place may have been given back before the bit could be seen. */
  if (errand__counter_add(&group->in_flight, 1) < limit)
    return true;
  errand__counter_sub(&group->in_flight, 1);
  return false;
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
