/*
 * The progress of a transfer's response. Only the functions below write the
 * state.
 *
 *   AWAITED ---- status line ----> STATUS_LINE ---- next line ----> IN_HEAD
 *   IN_HEAD ---- end of a 1xx ---> AWAITED
 *   IN_HEAD ---- end of a head --> HELD or HEAD
 *   HELD ------- status line ----> STATUS_LINE
 *   HELD ------- field ----------> HELD_TRAILERS
 *   HELD, HELD_TRAILERS - release > HEAD, EMPTY_TRAILERS
 *   HEAD ------- field ----------> EMPTY_TRAILERS
 *   HEAD, EMPTY_TRAILERS - body --> BODY
 *   BODY ------- field ----------> TRAILERS
 *   any -------- next round -----> AWAITED
 *
 * A head is held if libcurl may answer the challenge in it by itself. Whether
 * libcurl does shows only when body bytes, another head or the end come.
 */
#ifndef ERRAND_TRANSFER_RESPONSE_H
#define ERRAND_TRANSFER_RESPONSE_H

#include <stdbool.h>

#include "http/decode.h"
#include "include/errand_record.h"

typedef enum __attribute__((packed)) errand__response_state {
  ERRAND__RESPONSE_AWAITED = 0, /* no status line, or only 1xx so far */
  ERRAND__RESPONSE_STATUS_LINE = 1,
  ERRAND__RESPONSE_IN_HEAD = 2, /* behind the line after the status line */
  ERRAND__RESPONSE_HELD = 3,    /* complete, perhaps not the last one */
  ERRAND__RESPONSE_HELD_TRAILERS = 4, /* trailers came behind such a head */
  ERRAND__RESPONSE_HEAD = 5, /* complete and the last; no byte of the body */
  ERRAND__RESPONSE_EMPTY_TRAILERS = 6, /* trailers of an empty body */
  ERRAND__RESPONSE_BODY = 7,
  ERRAND__RESPONSE_TRAILERS = 8 /* behind the body */
} errand__response_state;

typedef struct errand__response {
  errand__response_state state;
  uint16_t http_status; /* 0: malformed, or none yet */
  uint8_t http_major;
  uint8_t http_minor;
  errand__codings codings; /* of the body; the core undoes them */
  bool head_reported;      /* a HEAD record was written */
  int64_t header_bytes;    /* of all heads of this request together */
  int64_t header_count;
  int64_t content_length; /* as the head says; -1: it does not */
  int64_t body_taken;     /* bytes of the body from libcurl, still encoded */
  int64_t body_bytes;     /* bytes of the body, decoded */
  /* Of a streamed response: bytes that may still come. The credit falls below 0
     if one read brings more, except for a decoded body. */
  int64_t credit;
  errand_payload *payload;
} errand__response;

/* Whether a head other than a 1xx is complete. It may be held. */
static inline bool errand__has_head(const errand__response *r) {
  return r->state >= ERRAND__RESPONSE_HELD;
}

static inline bool errand__is_held(const errand__response *r) {
  return r->state == ERRAND__RESPONSE_HELD ||
         r->state == ERRAND__RESPONSE_HELD_TRAILERS;
}

/* Whether the head is complete and the last one. */
static inline bool errand__has_last_head(const errand__response *r) {
  return r->state >= ERRAND__RESPONSE_HEAD;
}

static inline bool errand__has_body(const errand__response *r) {
  return r->state >= ERRAND__RESPONSE_BODY;
}

/* Whether a line that begins with "HTTP/" begins a head here. In other states
   the line is a field, even if it looks like a status line: within a head, or
   as a trailer of an empty body. */
static inline bool errand__may_begin_head(const errand__response *r) {
  return r->state == ERRAND__RESPONSE_AWAITED ||
         r->state == ERRAND__RESPONSE_HELD;
}

/* A status line has come. Behind a held head it means that libcurl has answered
   the challenge. */
static inline void errand__response_begin_head(errand__response *r) {
  r->state = ERRAND__RESPONSE_STATUS_LINE;
  r->codings.count = 0;
  r->content_length = -1;
  r->body_taken = 0;
}

/* A line has come.
   Returns: whether it is the first behind a status line. */
static inline bool errand__response_line(errand__response *r) {
  if (r->state != ERRAND__RESPONSE_STATUS_LINE)
    return false;
  r->state = ERRAND__RESPONSE_IN_HEAD;
  return true;
}

/* The head of an interim response (1xx) has ended. */
static inline void errand__response_end_interim(errand__response *r) {
  r->state = ERRAND__RESPONSE_AWAITED;
}

static inline void errand__response_end_head(errand__response *r, bool held) {
  r->state = held ? ERRAND__RESPONSE_HELD : ERRAND__RESPONSE_HEAD;
}

/* The held head is the last one after all. */
static inline void errand__response_release(errand__response *r) {
  r->state = r->state == ERRAND__RESPONSE_HELD_TRAILERS
                 ? ERRAND__RESPONSE_EMPTY_TRAILERS
                 : ERRAND__RESPONSE_HEAD;
}

/* A field has come behind a complete head. Returns: whether it is the first. */
static inline bool errand__response_trailer(errand__response *r) {
  switch (r->state) {
  case ERRAND__RESPONSE_HELD:
    r->state = ERRAND__RESPONSE_HELD_TRAILERS;
    return true;
  case ERRAND__RESPONSE_HEAD:
    r->state = ERRAND__RESPONSE_EMPTY_TRAILERS;
    return true;
  case ERRAND__RESPONSE_BODY:
    r->state = ERRAND__RESPONSE_TRAILERS;
    return true;
  default:
    return false;
  }
}

/* The first byte of the body has come. */
static inline void errand__response_begin_body(errand__response *r) {
  r->state = ERRAND__RESPONSE_BODY;
}

/* libcurl answers a challenge and sends the request once more. Nothing of the
   response so far belongs to the next response. */
static inline void errand__response_next_round(errand__response *r) {
  r->state = ERRAND__RESPONSE_AWAITED;
  r->codings.count = 0;
  errand_payload_free(r->payload);
  r->payload = NULL;
}

#endif
