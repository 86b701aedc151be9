/*
 * Realms. A realm is what may share connections, TLS sessions and addresses:
 * there is one for all options of one identity.
 */
#ifndef ERRAND_LOOP_REALM_H
#define ERRAND_LOOP_REALM_H

#include "loop/loop.h"

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

/* The realm of an identity, made on demand. Returns: NULL: out of memory. */
errand__realm *errand__realm_for(errand__loop *loop, uint64_t identity);

/* What easy handles for the origin share. Returns: NULL: out of memory. */
CURLSH *errand__realm_share(errand__realm *realm, bool secure,
                            uint64_t origin_hash);

/* Tends idle shards and realms; from the tick. Returns: whether there is
   anything left to tend. */
bool errand__realms_tend(errand__loop *loop);

/* Frees all realms. No transfer is left; libcurl's callbacks still run in it.
 */
void errand__realms_free(errand__loop *loop);

#endif
