/* From libcurl's view of an ended transfer to a record. */
#ifndef ERRAND_TRANSFER_RESULT_H
#define ERRAND_TRANSFER_RESULT_H

#include "transfer/slot.h"

/* "[" IPv6 "]:" port and a NUL. */
#define ERRAND__ADDRESS_MAX 64
#define ERRAND__ADDRESSES_MAX (2 * ERRAND__ADDRESS_MAX)

/* What a CURLcode means for this transfer; its own reason goes first. */
errand_status errand__status_of(const errand__slot *slot, CURLcode code);

/* Has libcurl's words for a failed connection name the options' socket and not
   the URL's host and port, which nobody tried. */
void errand__name_socket(errand__slot *slot, CURLcode code);

/* Fills the parts of a completion, or of a head, that libcurl knows. */
void errand__record_fill(const errand__slot *slot, CURLcode code,
                         errand_record *record);

/* Numeric addresses and ports, the peer's, then ours behind a space; "" while
   there is none. `out` has room for ERRAND__ADDRESSES_MAX bytes. */
void errand__addresses(CURL *easy, char *out);

/*
 * What libcurl calls complete although it is not: a head that ends with the
 * connection (RFC 9112 8), a body over its limit on the wire, an encoded one
 * that ends too early.
 * Returns: OK, or why not.
 */
errand_status errand__check_complete(errand__slot *slot);

/* A head has come whose body libcurl may keep to itself. */
void errand__wire_begin(errand__slot *slot);

/* Whether more came than limit_body_bytes allows. */
bool errand__wire_limit_passed(const errand__slot *slot);

/* Moves the head into a new payload with room for a body; sink.c.
   Returns: false when out of memory. */
bool errand__payload_begin(errand__slot *slot, size_t room);

#endif
