/* The memory of a response, in one allocation. */
#ifndef ERRAND_TRANSFER_PAYLOAD_H
#define ERRAND_TRANSFER_PAYLOAD_H

#include <stdbool.h>

#include "include/errand_record.h"

/* head | addresses | body, which grows | trailers | error text */
struct errand_payload {
  size_t capacity; /* of bytes[] */
  size_t head_length;
  size_t addresses_length; /* "remote local", "remote", or none */
  size_t body_length;
  size_t trailers_length;
  size_t text_length;
  uint8_t bytes[];
};

/*
 * Makes a payload with room for `room` bytes behind the head.
 * Thread: loop.
 * Owns: the caller frees with errand_payload_free.
 * Returns: NULL when out of memory.
 */
errand_payload *errand__payload_create(const void *head, size_t head_length,
                                       const char *addresses, size_t room);

/*
 * Appends to the body, and makes the payload half as large again where room is
 * missing. Not after trailers or text.
 * Returns: false when out of memory; the payload stays as it was.
 */
bool errand__payload_append(errand_payload **payload, const void *bytes,
                            size_t length);

/*
 * Room of at least `least` bytes behind the body; *room is how many. Bytes
 * written there become part of the body by errand__payload_extend.
 * Returns: NULL when out of memory; the payload stays as it was.
 */
uint8_t *errand__payload_room(errand_payload **payload, size_t least,
                              size_t *room);
void errand__payload_extend(errand_payload *payload, size_t length);

/* Add the trailers and the error text, once each, after the body.
   Returns: like append. */
bool errand__payload_set_trailers(errand_payload **payload, const void *bytes,
                                  size_t length);
bool errand__payload_set_text(errand_payload **payload, const char *text);

#endif
