#include "transfer/payload.h"

#include <string.h>

#include "base/mem.h"

static size_t used(const errand_payload *p) {
  return p->head_length + p->addresses_length + p->body_length +
         p->trailers_length + p->text_length;
}

errand_payload *errand__payload_create(const void *head, size_t head_length,
                                       const char *addresses, size_t room) {
  size_t addresses_length = addresses ? strlen(addresses) : 0;
  size_t capacity = head_length + addresses_length + room;
  errand_payload *p = errand__malloc(sizeof *p + capacity);
  if (!p)
    return NULL;
  *p = (errand_payload){.capacity = capacity,
                        .head_length = head_length,
                        .addresses_length = addresses_length};
  if (head_length)
    memcpy(p->bytes, head, head_length);
  if (addresses_length)
    memcpy(p->bytes + head_length, addresses, addresses_length);
  return p;
}

static bool reserve(errand_payload **payload, size_t length) {
  errand_payload *p = *payload;
  size_t needed = used(p) + length;
  if (needed <= p->capacity)
    return true;
  size_t capacity = p->capacity + p->capacity / 2;
  if (capacity < needed)
    capacity = needed;
  p = errand__realloc(p, sizeof *p + capacity);
  if (!p)
    return false;
  p->capacity = capacity;
  *payload = p;
  return true;
}

static bool append(errand_payload **payload, const void *bytes, size_t length) {
  if (!reserve(payload, length))
    return false;
  if (length)
    memcpy((*payload)->bytes + used(*payload), bytes, length);
  return true;
}

bool errand__payload_place_body(errand_payload *payload,
                                const errand_body_memory *memory, size_t room) {
  errand__outside *outside = errand__malloc(sizeof *outside);
  if (!outside)
    return false;
  *outside = (errand__outside){.memory = memory, .capacity = room};
  outside->bytes =
      memory->create(memory->context, &outside->capacity, &outside->owner);
  if (!outside->bytes || outside->capacity < room) {
    if (outside->bytes)
      memory->release(outside->owner);
    errand__free(outside);
    return false;
  }
  payload->outside = outside;
  return true;
}

static bool reserve_outside(errand__outside *outside, size_t length) {
  size_t needed = outside->length + length;
  if (needed <= outside->capacity)
    return true;
  size_t capacity = needed;
  const errand_body_memory *memory = outside->memory;
  uint8_t *bytes =
      memory->grow(memory->context, outside->owner, outside->length, &capacity);
  if (!bytes)
    return false;
  /* The block may have moved even if it is too small. */
  outside->bytes = bytes;
  outside->capacity = capacity;
  return needed <= capacity;
}

static bool append_outside(errand__outside *outside, const void *bytes,
                           size_t length) {
  if (!reserve_outside(outside, length))
    return false;
  if (length)
    memcpy(outside->bytes + outside->length, bytes, length);
  outside->length += length;
  return true;
}

bool errand__payload_append(errand_payload **payload, const void *bytes,
                            size_t length) {
  if ((*payload)->outside)
    return append_outside((*payload)->outside, bytes, length);
  if (!append(payload, bytes, length))
    return false;
  (*payload)->body_length += length;
  return true;
}

uint8_t *errand__payload_room(errand_payload **payload, size_t least,
                              size_t *room) {
  errand__outside *outside = (*payload)->outside;
  if (outside) {
    if (!reserve_outside(outside, least))
      return NULL;
    *room = outside->capacity - outside->length;
    return outside->bytes + outside->length;
  }
  if (!reserve(payload, least))
    return NULL;
  errand_payload *p = *payload;
  *room = p->capacity - used(p);
  return p->bytes + used(p);
}

void errand__payload_extend(errand_payload *payload, size_t length) {
  if (payload->outside)
    payload->outside->length += length;
  else
    payload->body_length += length;
}

bool errand__payload_set_trailers(errand_payload **payload, const void *bytes,
                                  size_t length) {
  if (!append(payload, bytes, length))
    return false;
  (*payload)->trailers_length = length;
  return true;
}

bool errand__payload_set_text(errand_payload **payload, const char *text) {
  size_t length = strlen(text);
  if (!append(payload, text, length))
    return false;
  (*payload)->text_length = length;
  return true;
}

errand_bytes errand_payload_head(const errand_payload *p) {
  return (errand_bytes){p->bytes, p->head_length};
}

/* The length of the peer's address. */
static size_t remote_length(const errand_payload *p) {
  if (p->addresses_length == 0)
    return 0;
  const uint8_t *begin = p->bytes + p->head_length;
  const uint8_t *space = memchr(begin, ' ', p->addresses_length);
  return space ? (size_t) (space - begin) : p->addresses_length;
}

errand_bytes errand_payload_remote_address(const errand_payload *p) {
  return (errand_bytes){p->bytes + p->head_length, remote_length(p)};
}

errand_bytes errand_payload_local_address(const errand_payload *p) {
  size_t before = remote_length(p);
  if (before < p->addresses_length)
    before += 1;
  return (errand_bytes){p->bytes + p->head_length + before,
                        p->addresses_length - before};
}

errand_bytes errand_payload_body(const errand_payload *p) {
  if (p->outside)
    return (errand_bytes){p->outside->bytes, p->outside->length};
  return (errand_bytes){p->bytes + p->head_length + p->addresses_length,
                        p->body_length};
}

void *errand_payload_body_owner(const errand_payload *p) {
  return p->outside ? p->outside->owner : NULL;
}

errand_bytes errand_payload_trailers(const errand_payload *p) {
  return (errand_bytes){p->bytes + p->head_length + p->addresses_length +
                            p->body_length,
                        p->trailers_length};
}

errand_bytes errand_payload_error_text(const errand_payload *p) {
  errand_bytes trailers = errand_payload_trailers(p);
  return (errand_bytes){trailers.data + trailers.length, p->text_length};
}

static void free_outside(errand__outside *outside) {
  outside->memory->release(outside->owner);
  errand__free(outside);
}

void errand_payload_free(errand_payload *payload) {
  if (payload && payload->outside)
    free_outside(payload->outside);
  errand__free(payload);
}
