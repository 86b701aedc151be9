/* Numeric addresses. */
#ifndef ERRAND_BASE_ADDRESS_H
#define ERRAND_BASE_ADDRESS_H

#include <arpa/inet.h>
#include <stdbool.h>

/* Whether `text` is an IPv4 or IPv6 address, without brackets or a zone. */
static inline bool errand__is_address(const char *text) {
  unsigned char parsed[16];
  return inet_pton(AF_INET, text, parsed) == 1 ||
         inet_pton(AF_INET6, text, parsed) == 1;
}

#endif
