/* The slots of a realm: takes an idle easy handle for a request, or makes one,
   and keeps it afterwards for a request with the same options. */
#ifndef ERRAND_LOOP_SLOT_POOL_H
#define ERRAND_LOOP_SLOT_POOL_H

#include "loop/shard.h"
#include "transfer/slot.h"

/* Returns: a slot with `options` set; NULL: out of memory. */
errand__slot *errand__slot_take(errand__realm *realm, errand_options *options,
                                struct errand__jar *jar);

/* How many idle slots a realm may have beyond its requests in flight. */
#define ERRAND__IDLE_SLOTS_MAX 512

/* Puts a slot back. Its easy handle must be in no multi handle. Frees the slot
   if `reusable` is false or single_use is set. If the pool is full, the slot
   that was used longest ago is freed. */
void errand__slot_give(errand__slot *slot, bool reusable);

/* Used instead of errand__slot_give if a connection of the shard may still use
   the handle: the shard is retired, and the slot is freed with it. */
void errand__slot_leave(errand__slot *slot);
/* Frees those slots, once the connections of the shard are closed. */
void errand__slots_left(errand__shard *shard);

/* Frees the idle slots that were used longest ago, until there are at most
   `spare` more than requests in flight. */
void errand__slots_trim(errand__realm *realm, size_t spare);

#endif
