/*
 * The name that is looked up for the host of a URL. What is checked is the
 * result: percent escapes are undone and international names mapped first, and
 * libcurl gets the result, so that it has nothing left to undo or to map.
 */
#ifndef ERRAND_HTTP_HOST_H
#define ERRAND_HTTP_HOST_H

#include <stdbool.h>

#include "include/errand_status.h"

/* A name of RFC 1035 2.3.4 with its NUL, and some. */
#define ERRAND__HOST_ROOM 256

/* Bytes of a host name in ASCII: letters, digits and the unreserved marks. None
   is a forbidden domain code point of WHATWG's URL standard (3.1). Plain ones
   need no lower case either. */
enum { ERRAND__IN_HOST = 1, ERRAND__IN_PLAIN_HOST = 2 };
extern const unsigned char errand__host_kinds[256];

/*
 * Whether WHATWG's URL standard reads the host as an IPv4 address: its last
 * label is a number ("ends in a number", 3.5). Such a host is an address in
 * some spelling, or wrong.
 */
bool errand__host_is_number(const char *host, size_t length);

/* Whether it is an IPv4 address of four decimal numbers, as they are sent. */
bool errand__host_is_ipv4(const char *host, size_t length);

/*
 * Writes the name that is looked up for a host as URLs have it: percent escapes
 * undone, international names as A-labels, IPv4 addresses of any spelling
 * ("0x7f.1") in four decimal numbers. Brackets are not known here.
 * Thread: any; the process has been started for hosts in ASCII alone.
 * Owns: `out`, ERRAND__HOST_ROOM bytes, gets a NUL-terminated string.
 * Returns: as errand_host_ascii.
 */
errand_status errand__host_of_url(const char *text, size_t length, char *out);

#endif
