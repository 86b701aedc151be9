/*
 * The name that is looked up for the host of a URL.
 *
 * Percent escapes are undone and international names are mapped before the name
 * is checked. libcurl gets the resulting name, so it has nothing left to undo
 * or to map.
 */
#ifndef ERRAND_HTTP_HOST_H
#define ERRAND_HTTP_HOST_H

#include <stdbool.h>

#include "include/errand_status.h"

/* Room for the longest name of RFC 1035 2.3.4 and its NUL. */
#define ERRAND__HOST_ROOM 256

/* The ASCII bytes that a host name may have: letters, digits and the unreserved
   marks. None of them is a forbidden domain code point of WHATWG's URL standard
   (3.1). Plain ones are in lower case too. */
enum { ERRAND__IN_HOST = 1, ERRAND__IN_PLAIN_HOST = 2 };
extern const unsigned char errand__host_kinds[256];

/*
 * Whether WHATWG's URL standard takes the host for an IPv4 address, as its last
 * label is a number (3.5). Such a host is an address in some spelling, or an
 * error.
 */
bool errand__host_is_number(const char *host, size_t length);

/* Whether the host is an IPv4 address of four decimal numbers. */
bool errand__host_is_ipv4(const char *host, size_t length);

/*
 * Writes the name that is looked up for the host of a URL: percent escapes
 * undone, international names as A-labels, IPv4 addresses of any spelling
 * ("0x7f.1") as four decimal numbers. The host must not be in brackets.
 * Thread: any. Only a host that is not ASCII calls errand__process_start.
 * Owns: `out`, ERRAND__HOST_ROOM bytes, gets a NUL-terminated string.
 * Returns: like errand_host_ascii.
 */
errand_status errand__host_of_url(const char *text, size_t length, char *out);

#endif
