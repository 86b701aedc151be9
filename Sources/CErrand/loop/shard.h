/*
 * Shards. A shard is one libcurl multi handle with a bounded number of
 * requests, as libcurl's work per request grows with the connections in a multi
 * handle.
 */
#ifndef ERRAND_LOOP_SHARD_H
#define ERRAND_LOOP_SHARD_H

#include "loop/realm.h"

struct errand__origin;

typedef struct errand__shard {
  errand__list link;
  errand__list room_link;
  errand__list origins; /* that last started here: errand__origin.shard_link */
  uint32_t origin_count;
  errand__list dirty_link;
  errand__list kicked_link;
  errand__realm *realm;
  CURLM *multi;
  CURL *nudge;     /* see errand__shard_nudge; NULL: not needed */
  uint64_t serial; /* from 1, in its realm */
  uint32_t in_flight;
  uint64_t timer_at_ms; /* ERRAND__WHEEL_NEVER: none */
  uint64_t used_ms;
  bool kick;         /* the timer is due */
  bool undecided;    /* transfers may wait for a connection that is ready */
  bool hung_up;      /* an idle connection's peer has gone */
  bool retired;      /* see errand__shard_retire */
  errand__list left; /* slots that its connections may still name */
  bool broken;       /* its state is undefined: fail all, make it anew */
} errand__shard;

/* A shard of the realm with room: the one where the origin last started, so
   that kept connections are found again; else one with room for another
   origin's connections. Returns: NULL: out of memory. */
errand__shard *errand__shard_for(errand__realm *realm,
                                 const struct errand__origin *origin);

/* A request of the origin is in the shard, or has left it. */
void errand__shard_entered(errand__shard *shard, struct errand__origin *origin);
void errand__shard_left(errand__shard *shard);

/* It gets no more requests, and is freed when those it has have ended. */
void errand__shard_retire(errand__shard *shard);

/* The origin is about to be freed. */
void errand__shard_forget(struct errand__origin *origin);

/* A request is about to start that may wait to share a connection. Returns:
   false: out of memory. */
bool errand__shard_may_wait(errand__shard *shard);

/* A connection is ready that others may have waited to share; from libcurl's
   callbacks. */
void errand__shard_connected(errand__shard *shard);

/* Has those look again. */
void errand__shard_nudge(errand__shard *shard);

/* It may have messages. */
static inline void errand__shard_touch(errand__shard *shard) {
  if (errand__list_is_empty(&shard->dirty_link))
    errand__list_append(&shard->realm->loop->dirty, &shard->dirty_link);
}

/* Frees a shard without requests. */
void errand__shard_discard(errand__shard *shard);

#endif
