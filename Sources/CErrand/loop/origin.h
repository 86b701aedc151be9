/*
 * Origins. An origin is a scheme, host, port and options. A loop has an
 * errand__origin for each origin that it has requests for, with the waiting
 * requests and the numbers that limit their start (admission.c).
 */
#ifndef ERRAND_LOOP_ORIGIN_H
#define ERRAND_LOOP_ORIGIN_H

#include "loop/loop.h"
#include "transfer/root.h"

struct errand__shard;

typedef struct errand__origin {
  struct errand__origin *next; /* in its bucket */
  errand__list ready_link; /* one of the loop's ready lists, while it may start
                              a request */
  errand__list waiting[ERRAND__PRIORITIES]; /* high, default, low */
  uint64_t hash;
  uint64_t identity;
  int ready_rank;   /* the rank of that list */
  uint32_t keep_ms; /* as of its shard */
  size_t waiting_count;
  size_t parked_count; /* paused before their start, so in no queue */
  uint32_t quota;
  uint32_t in_flight;
  uint32_t connecting;
  uint32_t http2_active;
  uint64_t warm_until_ms;
  uint64_t used_ms;
  /* Its present connections are the first try of the host, and one of them has
     failed. Requests that give the host no more time than the failed request
     did will end with the same status (unreachable.c). */
  errand__list unreachable_link; /* the loop's list, once all have failed */
  errand_status failure;         /* OK: none has failed */
  int64_t failure_patience; /* milliseconds that the failed one gave the host */
  struct errand__shard *shard; /* of its last request; NULL: that is gone */
  errand__list shard_link;     /* that shard's list */
  errand__root *root;          /* of its plain URLs; NULL: not made yet */
  uint16_t port;
  bool secure;
  bool gated; /* its host is a name that has to be resolved */
  size_t host_length;
  char host[]; /* lower case */
} errand__origin;

/* The origin of a transfer, made if there is none.
   Returns: NULL: out of memory. */
errand__origin *errand__origin_for(errand__loop *loop,
                                   const errand__transfer *transfer);

/* Frees the origins without requests that were not used for a while, or all of
   them if `everything`. */
void errand__origins_tend(errand__loop *loop, bool everything);

#endif
