/* A group's own state, shared by its loops and its callers. */
#ifndef ERRAND_GROUP_GROUP_H
#define ERRAND_GROUP_GROUP_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/counter.h"
#include "include/errand_stats.h"
#include "loop/loop.h"

/* An id is a sequence number above the index of its loop. */
#define ERRAND__LOOP_BITS 6
#define ERRAND__LOOPS_MAX (1u << ERRAND__LOOP_BITS)

struct errand_group {
  /* Fixed once created; limits and options have their defaults filled in. */
  errand_group_init init;
  errand_options *options;
  uint32_t loop_count;
  struct errand__jar *jar; /* NULL: no cookies */

  _Alignas(64) errand__counter next_sequence; /* submitters */
  errand__counter refused;             /* ids that a closed loop did not take */
  _Alignas(64) errand__counter queued; /* submitters and loops */
  _Alignas(64) errand__counter in_flight; /* loops */
  /* Bit i: loop i waits for in_flight to fall; by the rank of the best that it
     has waiting. */
  _Atomic uint64_t starved[ERRAND__PRIORITIES];

  /* Bit i: loop i is to close its idle connections, as one loop was refused a
     socket. */
  _Atomic uint64_t descriptors_wanted;

  _Atomic int stopping;        /* intake closed */
  _Atomic uint64_t stop_at_ms; /* uv_hrtime / 1e6: cancel what is left */
  _Atomic uint32_t running;    /* loops whose thread has not ended */

  errand__loop loops[];
};

/* Milliseconds of the clock that uv_now uses. Any thread. */
uint64_t errand__now_ms(void);

/* How many requests of an origin a loop may have in flight, so that the sum
   over the origin's loops is exactly the limit. */
uint32_t errand__origin_quota(const struct errand_group *group,
                              uint64_t origin_hash, uint32_t loop_index);

/* Over how many loops, from its home on, an origin's requests spread. */
uint32_t errand__origin_loops(const struct errand_group *group);

/* A loop takes a place of the group's in_flight for a request of that rank,
   or, where there is none or another loop has a better one waiting, is noted
   as starved. The loop's own thread. */
bool errand__group_acquire(errand__loop *loop, int rank);

/* A loop that is noted as starved has nothing waiting any more. The loop's own
   thread. */
void errand__group_sated(errand__loop *loop);

/* Gives a place back and wakes who starves for the best. Loop threads. */
void errand__group_release(struct errand_group *group, uint32_t loop_index);

/* The last thing a loop thread does. */
void errand__group_loop_ended(struct errand_group *group);

#endif
