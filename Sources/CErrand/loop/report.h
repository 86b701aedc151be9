/* Records on their way to the receiver: chunks, credit, and the batch of a
   turn. */
#ifndef ERRAND_LOOP_REPORT_H
#define ERRAND_LOOP_REPORT_H

#include "loop/loop.h"
#include "transfer/transfer.h"

/* Writes the CHUNK and UPLOAD_CREDIT records that are due for a transfer.
   Returns: false when out of memory; nothing is lost then. */
bool errand__report(errand__loop *loop, errand__transfer *transfer);

/* Writes a record of that kind, without a payload.
   Returns: false when out of memory. */
bool errand__report_event(errand__loop *loop, const errand__transfer *transfer,
                          errand_record_kind kind);

/* Reports every transfer on the flush list. */
void errand__report_all(errand__loop *loop);

/* Delivers the records of the turn in one call.
   Returns: whether there were any. */
bool errand__deliver(errand__loop *loop);

/* Delivers the completion of a request for which there was no memory. */
void errand__deliver_refusal(errand__loop *loop, errand__transfer *transfer,
                             errand_status status);

#endif
