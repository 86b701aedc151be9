/* How long turns take, and how late they begin: errand_stats.h.
   Thread: the loop's. */
#ifndef ERRAND_LOOP_TURN_TIME_H
#define ERRAND_LOOP_TURN_TIME_H

#include "loop/loop.h"

/* Begins a turn, unless one has begun. libuv has just read its clock. */
void errand__turn_begin(errand__loop *loop);

/* The timer of the loop has begun this turn. */
void errand__turn_by_timer(errand__loop *loop);

/* Ends the turn. */
void errand__turn_end(errand__loop *loop);

#endif
