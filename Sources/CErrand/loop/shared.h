/* The state that the loops of one group share. Thread: any. */
#ifndef ERRAND_LOOP_SHARED_H
#define ERRAND_LOOP_SHARED_H

#include <stdatomic.h>

#include "base/counter.h"
#include "include/errand_group.h"

struct errand__jar;
struct errand__loop;

/* An id has the index of its loop in the low bits and a sequence number above.
 */
#define ERRAND__LOOP_BITS 6
#define ERRAND__LOOPS_MAX (1u << ERRAND__LOOP_BITS)

/* Ranks of waiting requests: high, default, low. */
#define ERRAND__PRIORITIES ERRAND_PRIORITIES

typedef struct errand__shared {
  /* Fixed once created; limits and options have their defaults filled in. */
  errand_group_init init;
  errand_options *options;
  struct errand__jar *jar; /* NULL: no cookies */
  struct errand__loop *loops;
  uint32_t loop_count;

  _Alignas(64) errand__counter queued; /* submitters and loops */
  /* The parts of `queued`, by errand_priority. The part of the default priority
     is not counted, as it is the rest. So most requests cost one atomic
     operation. */
  errand__counter queued_apart[ERRAND_PRIORITIES];
  _Alignas(64) errand__counter in_flight; /* loops */
  /* Bit i: loop i waits for in_flight to fall. The index is the rank of its
     best waiting request. */
  _Atomic uint64_t starved[ERRAND__PRIORITIES];

  /* Bit i: loop i has to close its idle connections, as a loop of the group was
     refused a socket. */
  _Atomic uint64_t descriptors_wanted;

  _Atomic int stopping;        /* no request is accepted any more */
  _Atomic uint64_t stop_at_ms; /* when what is left is cancelled */
  _Atomic uint32_t running;    /* loops whose thread has not ended */
} errand__shared;

/* Counts one more accepted request that has not started.
   Thread: any.  Returns: how many there were before. */
static inline uint64_t errand__queued_add(errand__shared *shared,
                                          uint8_t priority) {
  if (priority != ERRAND_PRIORITY_DEFAULT)
    errand__counter_add(&shared->queued_apart[priority], 1);
  return errand__counter_add(&shared->queued, 1);
}

/* Counts one fewer.
   Thread: any. */
static inline void errand__queued_remove(errand__shared *shared,
                                         uint8_t priority) {
  if (priority != ERRAND_PRIORITY_DEFAULT)
    errand__counter_sub(&shared->queued_apart[priority], 1);
  errand__counter_sub(&shared->queued, 1);
}

#endif
