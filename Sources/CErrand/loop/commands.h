/* What comes in through a loop's submission queue. */
#ifndef ERRAND_LOOP_COMMANDS_H
#define ERRAND_LOOP_COMMANDS_H

#include "loop/loop.h"

/* Carries out all that is queued. Returns: whether there was anything. */
bool errand__commands_run(errand__loop *loop);

/* Closes the queue; what was left in it is ended or dropped. */
void errand__commands_close(errand__loop *loop);

#endif
