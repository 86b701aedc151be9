/* The setopt calls. A new handle gets all of its options once; each request
   sets only the values that differ. */
#ifndef ERRAND_TRANSFER_SETUP_H
#define ERRAND_TRANSFER_SETUP_H

#include "transfer/root.h"
#include "transfer/slot.h"

/* Sets the options of a new handle, and the callbacks for data.
   Returns: OK, or the status for libcurl's refusal. */
errand_status errand__slot_apply_options(errand__slot *slot);

/*
 * Sets the values that this transfer needs and the handle does not have yet.
 *
 * `share`: of the realm, for a slot without a jar; NULL: out of memory.
 * `shard`: the serial of the shard, from 1. `root`: of the origin; made if it
 * is NULL and needed.
 *
 * Returns: OK, or the status for libcurl's refusal.
 */
errand_status errand__slot_setup(errand__slot *slot, errand__transfer *transfer,
                                 CURLSH *share, uint64_t shard,
                                 errand__root **root);

#endif
