/* The memory of a response: one allocation for everything in it. */
#ifndef ERRAND_TRANSFER_PAYLOAD_H
#define ERRAND_TRANSFER_PAYLOAD_H

#include <stdbool.h>

#include "include/errand_record.h"

/* head | addresses | body, growing | trailers | error text. */
struct errand_payload {
  size_t capacity; /* of bytes[] */
  size_t head_length;
  size_t addresses_length; /* "remote local", or less */
  size_t body_length;
  size_t trailers_length;
  size_t text_length;
  uint8_t bytes[];
};

/*
 * Thread: loop.  Owns: the caller frees with errand_payload_free.
 * Returns: NULL when out of memory. `room` is for what comes after the head.
 */
errand_payload *errand__payload_create(const void *head, size_t head_length,
                                       const char *addresses, size_t room);

/*
 * Appends to the body, growing by half where room is missing. Must precede
 * trailers and text.
 * Returns: false when out of memory; the payload stays as it was.
 */
bool errand__payload_append(errand_payload **payload, const void *bytes,
                            size_t length);

/*
 * Room behind the body for at least `least` bytes, *room of them; what was
 * written there becomes body by errand__payload_extend.
 * Returns: NULL when out of memory; the payload stays as it was.
 */
uint8_t *errand__payload_room(errand_payload **payload, size_t least,
                              size_t *room);
void errand__payload_extend(errand_payload *payload, size_t length);

/* Add the end parts, once, after the body. Returns: like append. */
bool errand__payload_set_trailers(errand_payload **payload, const void *bytes,
                                  size_t length);
bool errand__payload_set_text(errand_payload **payload, const char *text);

#endif
