/* From libcurl's view of an ended transfer to a record. */
#ifndef ERRAND_TRANSFER_RESULT_H
#define ERRAND_TRANSFER_RESULT_H

#include "transfer/slot.h"

/* "[" IPv6 "]:" port and a NUL. */
#define ERRAND__ADDRESS_MAX 64
#define ERRAND__ADDRESSES_MAX (2 * ERRAND__ADDRESS_MAX)

/* What a CURLcode means for this transfer; its own reason goes first. */
errand_status errand__status_of(const errand__slot *slot, CURLcode code);

/* Fills the parts of a completion, or of a head, that libcurl knows. */
void errand__record_fill(const errand__slot *slot, CURLcode code,
                         errand_record *record);

/* Numeric addresses and ports, the peer's, then ours behind a space; "" while
   there is none. `out` has room for ERRAND__ADDRESSES_MAX bytes. */
void errand__addresses(CURL *easy, char *out);

#endif
