#include "loop/address_filter.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "loop/loop.h"
#include "loop/realm.h"
#include "loop/shared.h"

typedef struct judge {
  errand_address_filter ask; /* NULL: every address is allowed */
  void *context;
} judge;

static judge judge_of(const errand__slot *slot) {
  const errand_options *options = slot->options;
  if (options->address_policy != ERRAND_ADDRESSES_GROUP)
    return (judge){options->address_filter, options->address_filter_context};
  const errand_group_init *init = &slot->realm->loop->shared->init;
  return (judge){init->address_filter, init->address_filter_context};
}

bool errand__has_address_filter(const errand__slot *slot) {
  return judge_of(slot).ask != NULL;
}

static void describe(errand__slot *slot, const errand_address *address,
                     const char *reason) {
  char ip[INET6_ADDRSTRLEN] = "";
  bool v6 = address->family == AF_INET6;
  const char *open = reason[0] ? " (" : "";
  const char *close = reason[0] ? ")" : "";
  if (address->family == AF_UNIX)
    snprintf(slot->refusal, sizeof slot->refusal,
             "the address filter refused the Unix socket%s%s%s", open, reason,
             close);
  else if (!inet_ntop(address->family, address->bytes, ip, sizeof ip))
    snprintf(slot->refusal, sizeof slot->refusal,
             "the address filter refused an address that cannot be read%s%s%s",
             open, reason, close);
  else
    snprintf(slot->refusal, sizeof slot->refusal,
             "the address filter refused %s%s%s:%u%s%s%s", v6 ? "[" : "", ip,
             v6 ? "]" : "", (unsigned) address->port, open, reason, close);
}

static bool allows(errand__slot *slot, const errand_address *address) {
  judge by = judge_of(slot);
  errand__transfer *t = slot->transfer;
  char reason[ERRAND_REASON_MAX] = "";
  if (by.ask(by.context, t->tag, address, reason) == 0)
    return true;
  reason[sizeof reason - 1] = '\0';
  if (!t->attempt.address_refused)
    describe(slot, address, reason);
  t->attempt.address_refused = true;
  return false;
}

bool errand__may_connect(errand__slot *slot, const struct curl_sockaddr *to) {
  if (!errand__has_address_filter(slot))
    return true;
  errand_address address = {.family = to->family};
  if (to->family == AF_INET) {
    struct sockaddr_in in;
    memcpy(&in, &to->addr, sizeof in);
    address.port = ntohs(in.sin_port);
    memcpy(address.bytes, &in.sin_addr, 4);
  } else if (to->family == AF_INET6) {
    /* The storage of libcurl behind `addr` has room for any sockaddr. */
    struct sockaddr_in6 in;
    memcpy(&in, (const void *) &to->addr, sizeof in);
    address.port = ntohs(in.sin6_port);
    memcpy(address.bytes, &in.sin6_addr, 16);
  }
  return allows(slot, &address);
}

bool errand__may_send(errand__slot *slot, const char *ip, int port) {
  errand_address address = {.family = AF_UNSPEC, .port = (uint16_t) port};
  if (ip && inet_pton(AF_INET, ip, address.bytes) == 1)
    address.family = AF_INET;
  else if (ip && inet_pton(AF_INET6, ip, address.bytes) == 1)
    address.family = AF_INET6;
  else if (slot->options->unix_socket_path)
    address = (errand_address){.family = AF_UNIX};
  /* libcurl before 8.7 (fcef00db1a) asks the kernel for the peer of a new
     connection. The kernel has no peer if the server has reset the connection,
     and libcurl then has no address. errand__may_connect has judged the address
     before. */
  else if (slot->transfer->attempt.opened && (!ip || !ip[0]))
    return true;
  address.is_open = slot->transfer->attempt.opened;
  return allows(slot, &address);
}
