/* Records on the way to the receiver: chunks, credit, and the batch. */
#ifndef ERRAND_LOOP_REPORT_H
#define ERRAND_LOOP_REPORT_H

#include "loop/loop.h"
#include "transfer/transfer.h"

/* Writes the records that a streamed transfer owes.
   Returns: false when out of memory; nothing was lost yet. */
bool errand__report(errand__loop *loop, errand__transfer *transfer);

/* A record of that kind, without a payload, for a transfer in libcurl.
   Returns: false when out of memory. */
bool errand__report_event(errand__loop *loop, const errand__transfer *transfer,
                          errand_record_kind kind);

/* Reports everything on the flush list. */
void errand__report_all(errand__loop *loop);

/* Hands the turn's records over in one call. Returns: whether there were. */
bool errand__deliver(errand__loop *loop);

/* A completion for a request that no table could take. */
void errand__deliver_refusal(errand__loop *loop, errand__transfer *transfer,
                             errand_status status);

#endif
