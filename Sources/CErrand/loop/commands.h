/* The requests and orders in a loop's submission queue. */
#ifndef ERRAND_LOOP_COMMANDS_H
#define ERRAND_LOOP_COMMANDS_H

#include "loop/loop.h"

/* Carries out everything in the queue.
   Returns: whether there was anything. */
bool errand__commands_run(errand__loop *loop);

/* Closes the queue. Requests that were left in it are accepted, and orders are
   carried out. */
void errand__commands_close(errand__loop *loop);

#endif
