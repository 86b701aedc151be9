/* The order of work in one turn of a loop. */
#ifndef ERRAND_LOOP_LOOP_TURN_H
#define ERRAND_LOOP_LOOP_TURN_H

#include "loop/loop.h"

/* One pass over all work. Thread: the loop's, outside libcurl. */
void errand__loop_turn(errand__loop *loop);

/* Keeps the tick of once a second running. Thread: the loop's. */
void errand__loop_keep_ticking(errand__loop *loop);

#endif
