/*
 * The loop's decisions about pauses: the pauses and grants of callers, and the
 * review list, which brings libcurl's pause of each transfer in line with them.
 * The code that stops a response inside libcurl is in transfer/pausing.c.
 */
#ifndef ERRAND_LOOP_PAUSES_H
#define ERRAND_LOOP_PAUSES_H

#include "loop/loop.h"

/* errand_pause and errand_resume. */
void errand__set_paused(errand__loop *loop, errand__transfer *transfer,
                        bool paused);

/* errand_grant. */
void errand__credit_grant(errand__loop *loop, errand__transfer *transfer,
                          uint64_t bytes);

/* A socket of the transfer did not connect. libcurl tries the next address when
   it looks at the transfer again. This makes it do so in this turn. */
void errand__loop_look_again(errand__loop *loop, errand__transfer *transfer);

/* Once a second: lets transfers that rest (errand__slot_rest) go on for a
   moment, so that uploads whose responses are not read can end. */
void errand__rests_tend(errand__loop *loop);

/* Brings libcurl's pause in line for all transfers on the review list.
   Returns: whether there were any. */
bool errand__review_run(errand__loop *loop);

#endif
