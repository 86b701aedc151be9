/* The limit of a body's bytes on the wire, before they are decoded. */
#ifndef ERRAND_TRANSFER_WIRE_LIMIT_H
#define ERRAND_TRANSFER_WIRE_LIMIT_H

#include <stdbool.h>

#include "transfer/slot.h"

/* A held head has come. libcurl perhaps does not pass its body on. */
void errand__wire_begin(errand__slot *slot);

/* Whether more bytes came than the limit allows. */
bool errand__wire_limit_passed(const errand__slot *slot);

#endif
