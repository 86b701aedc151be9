/* CONNECTED records: the facts about the connection that carries a request. */
#ifndef ERRAND_TRANSFER_CONNECTION_H
#define ERRAND_TRANSFER_CONNECTION_H

#include <stdbool.h>

#include "transfer/slot.h"

/*
 * Writes a CONNECTED record. Called in CURLOPT_PREREQFUNCTION, where libcurl
 * has the connection. `reused`: whether the connection is reused. Thread: loop.
 * Returns: false when out of memory.
 */
bool errand__connection_report(errand__slot *slot, bool reused);

#endif
