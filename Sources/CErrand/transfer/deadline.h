/*
 * The five timeouts of a request over one node of the loop's wheel. The node
 * is moved only to an earlier time; bytes that come only note the time, and
 * the node, when it fires, works out what really is due.
 */
#ifndef ERRAND_TRANSFER_DEADLINE_H
#define ERRAND_TRANSFER_DEADLINE_H

#include "transfer/agenda.h"

/* Arms the node for the earliest deadline of the present phase. */
void errand__deadline_set(errand__agenda *agenda, errand__transfer *transfer);

/* The transfer had a connection and is about to get another: the time to
   connect begins anew. */
void errand__deadline_reconnect(errand__agenda *agenda,
                                errand__transfer *transfer);

/*
 * Notes bytes that libcurl moved without a callback of ours: a body from
 * memory on its way out. From the node.
 */
void errand__deadline_look(errand__transfer *transfer, uint64_t now_ms);

/*
 * What is overdue now.
 * Returns: OK, and *next is the next deadline (ERRAND__WHEEL_NEVER: none); or
 * a TIMEOUT_* status.
 */
errand_status errand__deadline_check(const errand__transfer *transfer,
                                     uint64_t now_ms, uint64_t *next);

#endif
