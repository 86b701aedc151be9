/* Limits over all loops of a group. Thread: the loop's own, unless said. */
#ifndef ERRAND_LOOP_QUOTA_H
#define ERRAND_LOOP_QUOTA_H

#include "loop/loop.h"

/* How many requests of an origin the loop may have in flight. The sum over the
   loops of the origin is exactly the limit. Thread: any. */
uint32_t errand__quota_of_origin(const errand__shared *shared,
                                 uint64_t origin_hash, uint32_t loop_index);

/* Over how many loops, from its home on, the requests of an origin spread.
   Thread: any. */
uint32_t errand__quota_loops(const errand__shared *shared);

/* Takes a place of the group's in_flight for a request of that rank. Where
   there is none, or another loop has a better request waiting, the loop is
   noted as starved. Returns: whether it has the place. */
bool errand__quota_acquire(errand__loop *loop, int rank);

/* A loop that is noted as starved has nothing waiting any more. */
void errand__quota_sated(errand__loop *loop);

/* Gives a place back, and wakes the loops that wait for one for the best
   request. */
void errand__quota_release(errand__loop *loop);

#endif
