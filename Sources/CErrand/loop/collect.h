/* Transfers that have ended inside libcurl, as its messages report. */
#ifndef ERRAND_LOOP_COLLECT_H
#define ERRAND_LOOP_COLLECT_H

#include "loop/loop.h"

/* Takes the messages of the dirty shards. Each transfer of a message ends, or
   is given to libcurl once more.
   Returns: whether there were any. */
bool errand__collect(errand__loop *loop);

#endif
