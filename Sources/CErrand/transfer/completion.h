/* The end of a response: whether it is complete, and the payload of its
   completion record. */
#ifndef ERRAND_TRANSFER_COMPLETION_H
#define ERRAND_TRANSFER_COMPLETION_H

#include "transfer/slot.h"

/*
 * Finds responses that libcurl calls complete although they are not: a head
 * that ends with the connection (RFC 9112 8), a body over its limit on the
 * wire, and an encoded body that ends too early.
 * Returns: OK, or the status of the failure.
 */
errand_status errand__check_complete(errand__slot *slot);

/* Gives the record its payload: the head, unless a HEAD record of a streamed
   response had it, then the body, the trailers, and the text of a failure. */
void errand__complete_payload(errand__slot *slot, bool failed,
                              errand_record *record);

/* If a connection to a Unix socket failed, libcurl's text gets the name of the
   socket instead of the URL's host and port, which were never tried. */
void errand__name_socket(errand__slot *slot, CURLcode code);

#endif
