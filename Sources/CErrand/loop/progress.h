/* PROGRESS records. */
#ifndef ERRAND_LOOP_PROGRESS_H
#define ERRAND_LOOP_PROGRESS_H

#include "loop/loop.h"
#include "transfer/transfer.h"

/* The transfer is in libcurl from now on. */
void errand__progress_started(errand__loop *loop, errand__transfer *transfer);

/* Reports every transfer whose counts have grown, and arms the next tick. */
void errand__progress_run(errand__loop *loop);

/* The last report of a transfer that is about to leave libcurl.
   Returns: false when out of memory. */
bool errand__progress_ended(errand__loop *loop, errand__transfer *transfer);

#endif
