/*
 * The five timeouts of a request, with one node in the loop's wheel.
 *
 * The node is moved only to an earlier time. A byte that arrives only sets the
 * time of the last activity. The deadlines are computed again when the node
 * fires.
 */
#ifndef ERRAND_TRANSFER_DEADLINE_H
#define ERRAND_TRANSFER_DEADLINE_H

#include "transfer/agenda.h"

/* Arms the node for the earliest deadline of the transfer's phase. */
void errand__deadline_set(errand__agenda *agenda, errand__transfer *transfer);

/* The transfer had a connection and is about to get another: the connect
   timeout starts again. */
void errand__deadline_reconnect(errand__agenda *agenda,
                                errand__transfer *transfer);

/*
 * Notes bytes that libcurl moved without a callback: a body from memory on its
 * way out. Called when the node fires.
 */
void errand__deadline_look(errand__transfer *transfer, uint64_t now_ms);

/*
 * Finds a deadline that has passed.
 * Returns: a TIMEOUT_* status; or OK, and *next is the next deadline
 * (ERRAND__WHEEL_NEVER: none).
 */
errand_status errand__deadline_check(const errand__transfer *transfer,
                                     uint64_t now_ms, uint64_t *next);

#endif
