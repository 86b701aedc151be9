/* The setopt calls: once per handle for the options, by difference for each
   request. */
#ifndef ERRAND_TRANSFER_SETUP_H
#define ERRAND_TRANSFER_SETUP_H

#include "transfer/root.h"
#include "transfer/slot.h"

/* What a request needs to know of the place where it runs. */
typedef struct errand__place {
  CURLSH *share;       /* for slots without a jar; NULL: out of memory */
  uint64_t shard;      /* serial of the shard, from 1 */
  errand__root **root; /* of the origin; made where it is needed and NULL */
} errand__place;

/* Sets on a new handle what its options say, and the callbacks for data.
   Returns: OK, or what libcurl's refusal means. */
errand_status errand__slot_apply_options(errand__slot *slot);

/* Sets what this transfer needs and the slot does not have yet.
   Returns: OK, or what libcurl's refusal means. */
errand_status errand__slot_setup(errand__slot *slot, errand__transfer *transfer,
                                 const errand__place *place);

#endif
