/* Limits over all loops of a group. Thread: the loop's own, unless said. */
#ifndef ERRAND_LOOP_QUOTA_H
#define ERRAND_LOOP_QUOTA_H

#include "loop/loop.h"

/* How many requests of an origin the loop may have in flight. The sum over the
   origin's loops is exactly the limit.
   Thread: any. */
uint32_t errand__quota_of_origin(const errand__shared *shared,
                                 uint64_t origin_hash, uint32_t loop_index);

/* Over how many loops the requests of an origin spread. The first is its home
   loop.
   Thread: any. */
uint32_t errand__quota_loops(const errand__shared *shared);

/* Takes a place in the group's in_flight for a request of that rank. If there
   is no place, or if another loop has a better request waiting, notes the loop
   as starved.
   Returns: whether the loop has the place. */
bool errand__quota_acquire(errand__loop *loop, int rank);

/* The loop, which is noted as starved, has no request waiting any more. */
void errand__quota_sated(errand__loop *loop);

/* Gives a place back, and wakes the loops that wait for a place for the best
   rank. */
void errand__quota_release(errand__loop *loop);

#endif
