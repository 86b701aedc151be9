/*
 * Realms and shards. A realm is what may share connections, sessions and
 * addresses: one for all options of one identity.
 * A shard is one libcurl multi handle with a bounded number of requests, as
 * libcurl's work per request grows with the connections in a multi handle.
 */
#ifndef ERRAND_LOOP_SHARD_H
#define ERRAND_LOOP_SHARD_H

#include <curl/curl.h>
#include <stdbool.h>

#include "base/list.h"
#include "loop/loop.h"

struct errand__origin;
struct errand__slot;

/* Idle easy handles are found by their options in one of so many lists. */
#define ERRAND__SLOT_LISTS_LOG2 5
#define ERRAND__SLOT_LISTS (1 << ERRAND__SLOT_LISTS_LOG2)

/* A share of libcurl keeps the TLS sessions of eight hosts (25 from 8.12 on,
   neither can be set), so that the origins of https are spread over several. */
#define ERRAND__SHARES 17

typedef struct errand__realm {
  errand__list link;
  errand__loop *loop;
  uint64_t identity;
  /* No lock callbacks: one thread. The first is for http and for proxies. */
  CURLSH *shares[ERRAND__SHARES];
  errand__list shards;
  errand__list roomy;                     /* those of them that have room */
  size_t shard_count;                     /* without the retired */
  errand__list slots[ERRAND__SLOT_LISTS]; /* idle ones, last used first */
  errand__list slots_by_age;              /* all of them, last used first */
  size_t idle_slots;
  size_t in_flight;
  uint64_t used_ms;
  uint64_t shards_made;
} errand__realm;

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

/* The realm of an identity, made on demand. Returns: NULL: out of memory. */
errand__realm *errand__realm_for(errand__loop *loop, uint64_t identity);

/* What easy handles for the origin share. Returns: NULL: out of memory. */
CURLSH *errand__realm_share(errand__realm *realm, bool secure,
                            uint64_t origin_hash);

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

/* libcurl's interest in the connection of a slot in use, or its pause, has
   changed: what libcurl must not read while it is paused is not told to it
   (ERRAND__CURL_LISTENS_WHILE_PAUSED). */
void errand__shard_hold(struct errand__slot *slot);

/* It may have messages. */
void errand__shard_touch(errand__shard *shard);

/* libcurl is to be told of a socket event. */
void errand__shard_socket(errand__shard *shard, int fd, unsigned directions);

/* Runs what is due. Returns: whether anything was. */
bool errand__shards_kick(errand__loop *loop);

/* Frees a shard without requests. */
void errand__shard_discard(errand__shard *shard);

/* Marks shards whose timer has come; returns the earliest of the others. */
uint64_t errand__shards_timer(errand__loop *loop);

/* Tends idle shards and realms; from the tick. Returns: whether there is
   anything left to tend. */
bool errand__realms_tend(errand__loop *loop);

/* Frees all; no transfer is left. libcurl's callbacks still run in it. */
void errand__realms_free(errand__loop *loop);

#endif
