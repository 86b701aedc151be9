/* The setopt calls: once per handle for the options, by difference for each
   request. */
#ifndef ERRAND_TRANSFER_SETUP_H
#define ERRAND_TRANSFER_SETUP_H

#include "transfer/root.h"
#include "transfer/slot.h"

/* Sets on a new handle what its options say, and the callbacks for data.
   Returns: OK, or what libcurl's refusal means. */
errand_status errand__slot_apply_options(errand__slot *slot);

/*
 * Sets what this transfer needs and the slot does not have yet.
 * `share`: of the realm, for a slot without a jar; NULL: out of memory.
 * `shard`: the serial of the shard, from 1.
 * `root`: of the origin; made where it is needed and NULL.
 * Returns: OK, or what libcurl's refusal means.
 */
errand_status errand__slot_setup(errand__slot *slot, errand__transfer *transfer,
                                 CURLSH *share, uint64_t shard,
                                 errand__root **root);

#endif
