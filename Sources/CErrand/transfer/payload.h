/* The memory of a response, in one allocation unless its body is outside. */
#ifndef ERRAND_TRANSFER_PAYLOAD_H
#define ERRAND_TRANSFER_PAYLOAD_H

#include <stdbool.h>

#include "include/errand_record.h"

/* A body in memory that the caller provides. */
typedef struct errand__outside {
  const errand_body_memory *memory;
  void *owner;
  uint8_t *bytes;
  size_t length;
  size_t capacity;
} errand__outside;

/* head | addresses | body, which grows | trailers | error text */
struct errand_payload {
  errand__outside *outside; /* has the body instead of bytes[]; NULL: none */
  size_t capacity;          /* of bytes[] */
  size_t head_length;
  size_t addresses_length; /* "remote local", "remote", or none */
  size_t body_length;      /* in bytes[] */
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
 * Puts the body of a payload that has none yet into the caller's memory, with
 * room for `room` bytes. Returns: false when out of memory; the payload stays
 * as it was.
 */
bool errand__payload_place_body(errand_payload *payload,
                                const errand_body_memory *memory, size_t room);

/*
 * Appends to the body. If there is not enough room, the payload grows by at
 * least half. Not for a payload that has trailers or text.
 * Returns: false when out of memory; the payload stays as it was.
 */
bool errand__payload_append(errand_payload **payload, const void *bytes,
                            size_t length);

/*
 * Room of at least `least` bytes behind the body; *room is its size. Bytes
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
