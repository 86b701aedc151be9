/* From libcurl's view of a transfer to a status and a record. */
#ifndef ERRAND_TRANSFER_RESULT_H
#define ERRAND_TRANSFER_RESULT_H

#include "transfer/slot.h"

/* "[" IPv6 "]:" port and a NUL. */
#define ERRAND__ADDRESS_MAX 64
#define ERRAND__ADDRESSES_MAX (2 * ERRAND__ADDRESS_MAX)

/* The status for a CURLcode of this transfer. The transfer's own reason, if
   any, takes precedence. */
errand_status errand__status_of(const errand__slot *slot, CURLcode code);

/* Fills in the fields of a completion or HEAD record that libcurl knows. The
   resends and rounds that this record reports are not reported again. */
void errand__record_fill(const errand__slot *slot, CURLcode code,
                         errand_record *record);

/* Writes numeric addresses and ports: the peer's, a space, and the local one;
   "" if there is no connection yet. `out` has room for ERRAND__ADDRESSES_MAX
   bytes. */
void errand__addresses(CURL *easy, char *out);

#endif
