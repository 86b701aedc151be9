/*
 * A lack of descriptors for sockets, in the process (EMFILE) or the system
 * (ENFILE). All loops of the group then close the shards without requests, with
 * their kept connections. The request that got no descriptor, of which nothing
 * was sent, connects again after a pause.
 */
#ifndef ERRAND_LOOP_DESCRIPTORS_H
#define ERRAND_LOOP_DESCRIPTORS_H

#include <stdbool.h>

#include "loop/loop.h"

/* socket() or curl_multi_init has failed with this errno. */
void errand__descriptors_refused(errand__loop *loop, errand__transfer *transfer,
                                 int error);

/* The transfer could not enter libcurl, because there was no descriptor.
   Returns: whether it is tried again. */
bool errand__descriptors_wait(errand__loop *loop, errand__transfer *transfer);

/* libcurl has given up the transfer with an error.
   Returns: whether it is tried again. Until then its easy handle is in no multi
   handle. */
bool errand__descriptors_retry(errand__loop *loop, errand__transfer *transfer);

/* Closes idle connections if a loop of the group needs descriptors. Called in
   each turn, outside libcurl. */
void errand__descriptors_follow(errand__loop *loop);

/* Transfers whose pause has passed connect again. */
void errand__descriptors_run(errand__loop *loop);

/* If the record's status is OUT_OF_DESCRIPTORS, writes which limit was reached
   into `text`, and the errno into the record. */
void errand__descriptors_describe(const errand__transfer *transfer,
                                  errand_record *record,
                                  char text[static CURL_ERROR_SIZE]);

#endif
