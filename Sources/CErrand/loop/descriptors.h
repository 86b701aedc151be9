/*
 * Where the process has no descriptor left for a socket (EMFILE), or the system
 * none (ENFILE): all loops of the group close the shards that carry no request,
 * with their kept connections, and the request connects again after a moment,
 * as nothing of it was sent.
 */
#ifndef ERRAND_LOOP_DESCRIPTORS_H
#define ERRAND_LOOP_DESCRIPTORS_H

#include <stdbool.h>

#include "loop/loop.h"

/* socket() has failed by that error number, inside libcurl; or
   curl_multi_init. */
void errand__descriptors_refused(errand__loop *loop, errand__transfer *transfer,
                                 int error);

/* It could not enter libcurl for want of a descriptor. Returns: whether it is
   tried again. */
bool errand__descriptors_wait(errand__loop *loop, errand__transfer *transfer);

/* libcurl has given the transfer up with an error. Returns: whether it is tried
   again; until then its easy handle is in no multi handle. */
bool errand__descriptors_retry(errand__loop *loop, errand__transfer *transfer);

/* Closes what is idle where a loop of the group wants descriptors. In each
   turn, outside libcurl. */
void errand__descriptors_follow(errand__loop *loop);

/* The moment has passed: those that wait connect again. */
void errand__descriptors_run(errand__loop *loop);

/* Says in `text` which limit was reached, and in the record which error it
   was, where its status is OUT_OF_DESCRIPTORS. */
void errand__descriptors_describe(const errand__transfer *transfer,
                                  errand_record *record,
                                  char text[static CURL_ERROR_SIZE]);

#endif
