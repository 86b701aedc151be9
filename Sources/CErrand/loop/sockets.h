/* libcurl's callbacks for connections: a socket is opened or closed, and a
   connection is ready. */
#ifndef ERRAND_LOOP_SOCKETS_H
#define ERRAND_LOOP_SOCKETS_H

#include "transfer/slot.h"

/* Sets these callbacks on a new handle.
   Returns: false if libcurl refuses. */
bool errand__sockets_attach(errand__slot *slot);

#endif
