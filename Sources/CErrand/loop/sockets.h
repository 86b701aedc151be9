/* Opening and closing of connections, and the moment when one is ready. */
#ifndef ERRAND_LOOP_SOCKETS_H
#define ERRAND_LOOP_SOCKETS_H

#include "transfer/slot.h"

/* Sets the callbacks for connections on a new handle. Returns: false where
   libcurl refuses. */
bool errand__sockets_attach(errand__slot *slot);

#endif
