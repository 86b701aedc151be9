/*
 * Admission: when a waiting request starts. libcurl's own queue is not used, as
 * it costs 20 us a request and ignores timeouts before 8.8.
 *
 * An origin has a queue for each priority and a quota. Among the origins that
 * may start a request, those with the best waiting request go first and take
 * turns. The group has a limit over all loops, whose places are given in the
 * same order (quota.c).
 *
 * libcurl resolves the host of each request in a separate thread. So a cold
 * origin, whose host is not in the address cache, starts only a few requests
 * and holds the others until one of the few has a connection. If all of the few
 * fail to connect, the requests that waited for them end with the same status.
 */
#ifndef ERRAND_LOOP_ADMISSION_H
#define ERRAND_LOOP_ADMISSION_H

#include "loop/origin.h"

/* Puts a transfer into its origin's queue. Returns: false: out of memory. */
bool errand__admission_enqueue(errand__loop *loop, errand__transfer *transfer);

/* Takes a waiting or parked transfer out of its origin, because the transfer
   ends. */
void errand__admission_dequeue(errand__loop *loop, errand__transfer *transfer);

/* Parks a waiting transfer, or puts a parked one back into its queue. */
void errand__admission_park(errand__loop *loop, errand__transfer *transfer);
void errand__admission_unpark(errand__loop *loop, errand__transfer *transfer);

/* Whether any origin has a request that may start. */
bool errand__admission_may_start(const errand__loop *loop);

/* Starts the requests that may start.
   Returns: whether any did. */
bool errand__admission_run(errand__loop *loop);

/* A started transfer has ended, with this record, and is out of libcurl. */
void errand__admission_ended(errand__loop *loop, errand__transfer *transfer,
                             const errand_record *record);

/* The number of requests that the origin may start has changed. */
void errand__admission_refresh(errand__loop *loop, errand__origin *origin);

/* The transfer has a connection. */
void errand__origin_connected(errand__loop *loop, errand__transfer *transfer);

#endif
