/* The lines of a response's head and of its trailers. */
#ifndef ERRAND_TRANSFER_HEAD_H
#define ERRAND_TRANSFER_HEAD_H

#include <stdbool.h>
#include <stddef.h>

#include "transfer/slot.h"

/* A CURLOPT_HEADERFUNCTION; the context is the errand__slot. */
size_t errand__on_header(char *bytes, size_t size, size_t count, void *context);

/* The held head is the last one.
   Returns: false when out of memory. */
bool errand__head_release(errand__slot *slot);

/* Moves the lines of the head from the scratch into a new payload with room for
   a body. Returns: false when out of memory. */
bool errand__payload_begin(errand__slot *slot, size_t room);

/* Whether the line begins with a blank right behind the status line, where
   there is no line that it could continue (RFC 9112 2.2). */
static inline bool errand__continues_nothing(errand__response *response,
                                             const char *line) {
  return errand__response_line(response) && (line[0] == ' ' || line[0] == '\t');
}

/* Has libcurl give up the transfer, whose record will have this status.
   Returns: 0, which tells libcurl that a callback failed. */
static inline size_t errand__give_up(errand__transfer *transfer,
                                     errand_status reason) {
  if (transfer->reason == ERRAND_OK)
    transfer->reason = reason;
  return 0;
}

#endif
