/*
 * Shards. A shard is one libcurl multi handle with a bounded number of
 * requests, as libcurl's work per request grows with the connections of a multi
 * handle.
 */
#ifndef ERRAND_LOOP_SHARD_H
#define ERRAND_LOOP_SHARD_H

#include "loop/realm.h"

struct errand__origin;

typedef struct errand__shard {
  errand__list link;
  errand__list room_link;
  errand__list origins; /* origin.shard_link: last started here */
  uint32_t origin_count;
  errand__list dirty_link;
  errand__list kicked_link;
  errand__realm *realm;
  CURLM *multi;
  CURL *nudge;     /* for errand__shard_nudge; NULL: not needed */
  uint64_t serial; /* from 1, within its realm */
  uint32_t in_flight;
  uint32_t keep_ms; /* the longest idle time of connections of its requests */
  uint64_t timer_at_ms; /* ERRAND__WHEEL_NEVER: none */
  uint64_t used_ms;
  uint64_t seen_used_ms;  /* used_ms of the last use that set shutdown_ticks */
  uint8_t shutdown_ticks; /* ticks in which errand__shard_end_shutdowns acts */
  bool kick;              /* on the loop's list of kicked shards */
  bool undecided; /* transfers may wait to share a connection that is ready by
                     now */
  bool hung_up;   /* the peer of an idle connection has closed */
  bool retired;   /* see errand__shard_retire */
  errand__list left; /* slots that its connections may still use */
  bool broken; /* its state is undefined: all its transfers end, and it is freed
                */
} errand__shard;

/* A shard of the realm with room for a request: the one where the origin last
   started, so that kept connections are found again; otherwise one that has
   room for another origin's connections.
   Returns: NULL: out of memory. */
errand__shard *errand__shard_for(errand__realm *realm,
                                 const struct errand__origin *origin);

/* A request of the origin has entered the shard, or a request has left it. */
void errand__shard_entered(errand__shard *shard, struct errand__origin *origin);
void errand__shard_left(errand__shard *shard);

/* Gives the shard no more requests. It is freed when its present requests have
   ended. */
void errand__shard_retire(errand__shard *shard);

/* The origin is about to be freed. */
void errand__shard_forget(struct errand__origin *origin);

/* A request that may wait to share a connection is about to start.
   Returns: false: out of memory. */
bool errand__shard_may_wait(errand__shard *shard);

/* A connection that other transfers may wait to share is ready. From libcurl's
   callbacks. */
void errand__shard_connected(errand__shard *shard);

/* Makes libcurl look at those transfers again. */
void errand__shard_nudge(errand__shard *shard);

/* The shard may have messages: errand__collect looks. */
static inline void errand__shard_touch(errand__shard *shard) {
  if (errand__list_is_empty(&shard->dirty_link))
    errand__list_append(&shard->realm->loop->dirty, &shard->dirty_link);
}

/* Frees a shard without requests. */
void errand__shard_discard(errand__shard *shard);

#endif
