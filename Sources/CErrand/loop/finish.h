/* The end of a transfer: its one completion record. */
#ifndef ERRAND_LOOP_FINISH_H
#define ERRAND_LOOP_FINISH_H

#include "loop/loop.h"
#include "transfer/transfer.h"

/*
 * Ends a transfer in whatever phase it is: takes it out of libcurl and of
 * every list, writes its completion and frees it. Not from within a libcurl
 * callback.
 * `status` OK with `code` OK is success; `status` OK with another code means
 * what the code means.
 */
void errand__finish(errand__loop *loop, errand__transfer *transfer,
                    errand_status status, CURLcode code);

/* Ends everything: waiting, parked and started. */
void errand__finish_all(errand__loop *loop, errand_status status);

/* Ends bodies of challenges that libcurl answers, and keeps from the sink, once
   they are over their limit; from the tick. */
void errand__check_wire_limits(errand__loop *loop);

#endif
