/* The address filter of a request's options or of the group, asked about the
   addresses of connections. */
#ifndef ERRAND_LOOP_ADDRESS_FILTER_H
#define ERRAND_LOOP_ADDRESS_FILTER_H

#include "transfer/slot.h"

/* Whether there is a filter for the slot's options. */
bool errand__has_address_filter(const errand__slot *slot);

/* Whether the slot's transfer may connect to the address; without a filter it
   may. A refusal is noted in the transfer and described in the slot.
   Thread: the loop's. */
bool errand__may_connect(errand__slot *slot, const struct curl_sockaddr *to);

/* Whether the slot's transfer may be sent to the peer of a connection; `ip` is
   its address as libcurl writes it. A refusal is noted as above. A new
   connection without an address may be used: errand__may_connect has judged it.
   There must be a filter.
   Thread: the loop's. */
bool errand__may_send(errand__slot *slot, const char *ip, int port);

#endif
