/* Checks of option values that libcurl would only report in mid-flight. */
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

/* A file that can be opened for reading and is no directory; NULL is none.
   Returns: OK, FILE_UNREADABLE, OUT_OF_DESCRIPTORS. */
errand_status errand__check_readable(const char *path);

/* What CURLOPT_INTERFACE wants before an address or the name of an interface:
   without it libcurl resolves what it does not know, and waits for that.
   Returns: NULL for what is neither. */
const char *errand__interface_prefix(const char *name);

#endif
