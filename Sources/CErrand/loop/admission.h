/*
 * Who may start. libcurl's own queue is not used: it costs 20 us a request
 * and ignores timeouts before 8.8. An origin has a queue for each priority
 * and a quota; of the origins that may start those go first that have the best
 * waiting, and take turns among themselves; the group has a limit of its own
 * over all loops, whose places go by the same order (quota.c).
 *
 * A cold origin, one whose name is not in the address cache, starts a few
 * requests and holds the others until one of them has a connection: libcurl
 * resolves once per request, on a thread each (core-facts 0.5). Where all of
 * these fail to connect, those that waited for them end with the same status.
 */
#ifndef ERRAND_LOOP_ADMISSION_H
#define ERRAND_LOOP_ADMISSION_H

#include "loop/origin.h"

/* Puts a transfer into its origin's queue. Returns: false: out of memory. */
bool errand__admission_enqueue(errand__loop *loop, errand__transfer *transfer);

/* Takes a waiting or parked transfer out: it ends. */
void errand__admission_dequeue(errand__loop *loop, errand__transfer *transfer);

/* A waiting transfer is held back, a parked one waits again. */
void errand__admission_park(errand__loop *loop, errand__transfer *transfer);
void errand__admission_unpark(errand__loop *loop, errand__transfer *transfer);

/* Whether an origin has a request that it may start. */
bool errand__admission_may_start(const errand__loop *loop);

/* Starts what may start. Returns: whether anything did. */
bool errand__admission_run(errand__loop *loop);

/* A started transfer has ended and is out of libcurl; as its record says. */
void errand__admission_ended(errand__loop *loop, errand__transfer *transfer,
                             const errand_record *record);

/* Its rules of who may start have changed. */
void errand__admission_refresh(errand__loop *loop, errand__origin *origin);

/* A transfer has a connection. */
void errand__origin_connected(errand__loop *loop, errand__transfer *transfer);

#endif
