/*
 * Origins: scheme, host, port and options. A loop keeps one for each that it
 * has requests for, with the requests that wait for it and the limits by which
 * these start (admission.c).
 */
#ifndef ERRAND_LOOP_ORIGIN_H
#define ERRAND_LOOP_ORIGIN_H

#include "loop/loop.h"
#include "transfer/root.h"

struct errand__shard;

typedef struct errand__origin {
  struct errand__origin *next; /* in its bucket */
  errand__list ready_link;     /* a ready list of the loop's, while eligible */
  errand__list waiting[ERRAND__PRIORITIES]; /* high, default, low */
  uint64_t hash;
  uint64_t identity;
  int ready_rank; /* which ready list; while it is on one */
  size_t waiting_count;
  size_t parked_count; /* paused before their start; in no queue */
  uint32_t quota;
  uint32_t in_flight;
  uint32_t connecting;
  uint32_t http2_active;
  uint64_t warm_until_ms;
  uint64_t used_ms;
  /* Its connections of now are a first try of the host, and one has failed;
     requests with no more patience than that end with it (unreachable.c). */
  errand__list unreachable_link; /* the loop's list, once the last has */
  errand_status failure;         /* OK: none has */
  int64_t failure_patience;      /* milliseconds that the host was given */
  struct errand__shard *shard;   /* where it last started; NULL: gone */
  errand__list shard_link;       /* that shard's list */
  errand__root *root;            /* of its plain URLs; NULL: none yet */
  uint16_t port;
  bool secure;
  bool gated; /* its host is a name that has to be resolved */
  size_t host_length;
  char host[]; /* lower case */
} errand__origin;

/* The origin of a transfer, made on demand. Returns: NULL: out of memory. */
errand__origin *errand__origin_for(errand__loop *loop,
                                   const errand__transfer *transfer);

/* Frees the origins that have no request and were not used for a while; all of
   them if `everything`. */
void errand__origins_tend(errand__loop *loop, bool everything);

#endif
