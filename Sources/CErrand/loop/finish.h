/* The end of a transfer, which writes its one completion record. */
#ifndef ERRAND_LOOP_FINISH_H
#define ERRAND_LOOP_FINISH_H

#include "loop/loop.h"
#include "transfer/transfer.h"

/*
 * Ends a transfer in any phase: takes it out of libcurl and of every list,
 * writes its completion record and frees it. Must not be called from within a
 * callback of libcurl.
 *
 * `status` OK and `code` OK: success. `status` OK and another code: the status
 * is found from the code.
 */
void errand__finish(errand__loop *loop, errand__transfer *transfer,
                    errand_status status, CURLcode code);

/* Ends all transfers: waiting, parked and started. */
void errand__finish_all(errand__loop *loop, errand_status status);

/* Ends the transfers whose held head has a body over its limit: libcurl answers
   the challenge and does not pass that body to the write callback. Called by
   the tick. */
void errand__check_wire_limits(errand__loop *loop);

#endif
