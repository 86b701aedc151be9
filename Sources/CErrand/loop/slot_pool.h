/* The slots of a realm: easy handles in use, and idle ones kept for the next
   request with the same options. */
#ifndef ERRAND_LOOP_SLOT_POOL_H
#define ERRAND_LOOP_SLOT_POOL_H

#include "loop/shard.h"
#include "transfer/slot.h"

/* A slot with `options` applied. Returns: NULL: out of memory. */
errand__slot *errand__slot_take(errand__realm *realm, errand_options *options,
                                struct errand__jar *jar);

/* Idle slots beyond the requests in flight. */
#define ERRAND__IDLE_SLOTS_MAX 512

/* Back to the pool; its easy handle is in no multi handle. `reusable`: false
   frees it, as does single_use. Where the pool is full the slot that was used
   longest ago makes room. */
void errand__slot_give(errand__slot *slot, bool reusable);

/* In place of errand__slot_give where a connection of its shard may name the
   handle for as long as it lives: the shard is retired, and the slot freed with
   it. */
void errand__slot_leave(errand__slot *slot);
/* Frees those, once the shard's connections are closed. */
void errand__slots_left(errand__shard *shard);

/* Frees the idle slots that were used longest ago until there are only `spare`
   more than requests in flight. */
void errand__slots_trim(errand__realm *realm, size_t spare);

#endif
