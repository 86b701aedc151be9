/*
 * Realms. The requests of a realm may share connections, TLS sessions and
 * addresses. All options of one identity have one realm.
 */
#ifndef ERRAND_LOOP_REALM_H
#define ERRAND_LOOP_REALM_H

#include "loop/loop.h"

/* Idle easy handles are in this many lists, by their options. */
#define ERRAND__SLOT_LISTS_LOG2 5
#define ERRAND__SLOT_LISTS (1 << ERRAND__SLOT_LISTS_LOG2)

/* How many shares a realm has. A share of libcurl keeps the TLS sessions of
   eight hosts (25 from 8.12 on; neither number can be set), so the https
   origins are spread over several shares. */
#define ERRAND__SHARES 17

typedef struct errand__realm {
  errand__list link;
  errand__loop *loop;
  uint64_t identity;
  /* Without lock callbacks, as one thread uses them. The first is for http and
     for proxies. */
  CURLSH *shares[ERRAND__SHARES];
  errand__list shards;
  errand__list roomy;                     /* the shards that have room */
  size_t shard_count;                     /* without the retired */
  errand__list slots[ERRAND__SLOT_LISTS]; /* idle ones, last used first */
  errand__list slots_by_age;              /* all of them, last used first */
  size_t idle_slots;
  size_t in_flight;
  uint64_t used_ms;
  uint64_t shards_made;
} errand__realm;

/* The realm of an identity, made if there is none.
   Returns: NULL: out of memory. */
errand__realm *errand__realm_for(errand__loop *loop, uint64_t identity);

/* The share for easy handles of the origin.
   Returns: NULL: out of memory. */
CURLSH *errand__realm_share(errand__realm *realm, bool secure,
                            uint64_t origin_hash);

/* Frees idle shards, slots and realms; called by the tick.
   Returns: whether anything needs the next tick. */
bool errand__realms_tend(errand__loop *loop);

/* Frees all realms. There must be no transfer left. libcurl's callbacks still
   run within this call. */
void errand__realms_free(errand__loop *loop);

#endif
