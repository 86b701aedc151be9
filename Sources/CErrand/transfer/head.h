/* The lines of a response's head and of its trailers. */
#ifndef ERRAND_TRANSFER_HEAD_H
#define ERRAND_TRANSFER_HEAD_H

#include <stdbool.h>
#include <stddef.h>

#include "transfer/slot.h"

/* A CURLOPT_HEADERFUNCTION; the context is the errand__slot. */
size_t errand__on_header(char *bytes, size_t size, size_t count, void *context);

/* The held head is the last one after all. Returns: false when out of memory.
 */
bool errand__head_release(errand__slot *slot);

/* Moves the lines of the head from the scratch into a new payload with room for
   a body. Returns: false when out of memory. */
bool errand__payload_begin(errand__slot *slot, size_t room);

/* A blank right behind the status line begins a line that continues nothing
   (RFC 9112 2.2). */
static inline bool errand__continues_nothing(errand__response *response,
                                             const char *line) {
  return errand__response_line(response) && (line[0] == ' ' || line[0] == '\t');
}

/* Makes libcurl give the transfer up, with the status that its record will
   have. Returns: 0, what a callback answers that was given any bytes. */
static inline size_t errand__give_up(errand__transfer *transfer,
                                     errand_status reason) {
  if (transfer->reason == ERRAND_OK)
    transfer->reason = reason;
  return 0;
}

#endif
