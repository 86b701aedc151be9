/* The bytes of a response's body, and their decoder. */
#ifndef ERRAND_TRANSFER_BODY_H
#define ERRAND_TRANSFER_BODY_H

#include <stddef.h>

#include "transfer/slot.h"

/* A CURLOPT_WRITEFUNCTION; the context is the errand__slot. */
size_t errand__on_body(char *bytes, size_t size, size_t count, void *context);

/* Frees the decoder of the body, and clears the reason of a failure to decode.
 */
void errand__slot_drop_decoder(errand__slot *slot);

#endif
