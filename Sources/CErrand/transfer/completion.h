/* The end of a response: whether it is whole, and the payload of its completion
   record. */
#ifndef ERRAND_TRANSFER_COMPLETION_H
#define ERRAND_TRANSFER_COMPLETION_H

#include "transfer/slot.h"

/*
 * What libcurl calls complete although it is not: a head that ends with the
 * connection (RFC 9112 8), a body over its limit on the wire, an encoded one
 * that ends too early.
 * Returns: OK, or why not.
 */
errand_status errand__check_complete(errand__slot *slot);

/* Gives the record its payload: the head unless its HEAD record was written
   for a streamed response, the trailers, and the text of a failure. */
void errand__complete_payload(errand__slot *slot, bool failed,
                              errand_record *record);

/* Where a connection to a Unix socket failed, has libcurl's words name the
   socket, and not the host and port of the URL, which nobody tried. */
void errand__name_socket(errand__slot *slot, CURLcode code);

#endif
