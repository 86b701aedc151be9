/* PROGRESS records. */
#ifndef ERRAND_LOOP_PROGRESS_H
#define ERRAND_LOOP_PROGRESS_H

#include "loop/loop.h"
#include "transfer/transfer.h"

/* The part of a transfer's block that only reported ones have. */
typedef struct errand__progress {
  errand__list link; /* loop->progressing, while started */
  errand__transfer *transfer;
  uint64_t sent; /* as last reported */
  uint64_t received;
} errand__progress;

/* Thread: any. */
void errand__progress_init(errand__progress *progress,
                           errand__transfer *transfer);

/* The transfer is in libcurl from now on. */
void errand__progress_started(errand__loop *loop, errand__transfer *transfer);

/* Reports every transfer whose bytes moved, and arms the next tick. */
void errand__progress_run(errand__loop *loop);

/* The last report of a transfer that is about to leave libcurl.
   Returns: false when out of memory. */
bool errand__progress_ended(errand__loop *loop, errand__transfer *transfer);

#endif
