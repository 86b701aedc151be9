/* Checks of option values that libcurl would report only during a transfer. */
#ifndef ERRAND_TRANSFER_OPTIONS_CHECK_H
#define ERRAND_TRANSFER_OPTIONS_CHECK_H

#include <stdbool.h>

#include "include/errand_status.h"

/* "sha256//" and 44 characters of base64, separated by semicolons. */
bool errand__check_pins(const char *pins);

/* http, https, socks4, socks4a, socks5 or socks5h, with a host. */
bool errand__check_proxy(const char *url);

/* "host:port:address[,address]". */
bool errand__check_resolve(const char *entry);

/* "host:port"; the host is a name of letters, digits, '-', '_' and '.', an IPv4
   address, or an IPv6 address in brackets. */
bool errand__check_connect_to(const char *place);

/* Checks that a file can be opened for reading and is no directory; NULL
   passes.
   Returns: OK, FILE_UNREADABLE, OUT_OF_DESCRIPTORS. */
errand_status errand__check_readable(const char *path);

/* The prefix that CURLOPT_INTERFACE needs before an address or an interface's
   name. Without the prefix libcurl resolves a name that it does not know, and
   blocks. Returns: NULL if `name` is neither. */
const char *errand__interface_prefix(const char *name);

#endif
