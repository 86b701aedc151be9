/*
 * Names of hosts. Whoever keeps something by host (a policy, a credential)
 * has to compare the name that a request will look up, not the one that was
 * written.
 */
#ifndef ERRAND_HOST_H
#define ERRAND_HOST_H

#include "errand_status.h"

ERRAND_BEGIN_DECLS

/*
 * Writes the name that a request looks up for `host`, which is UTF-8 without
 * percent escapes: international names as A-labels ("xn--..."), by libcurl's
 * own mapping (UTS #46, non-transitional, as browsers do); IPv4 addresses of
 * any spelling ("0x7f.1") in four decimal numbers; an address in brackets and
 * all else as it is. The result is checked: what is mapped to a space, a slash
 * or another code point that hosts may not have is no host's name (WHATWG's
 * URL standard, 3.5), nor is a last label that is a number where the whole is
 * no address.
 * Thread: any.
 * Owns: both stay the caller's; `out` gets a NUL-terminated string.
 * Returns: OK; INVALID_URL (empty, longer than 255 bytes, no host's name, no
 * A-label for it, or no room for it); UNSUPPORTED_FEATURE (this libcurl has no
 * IDN); OUT_OF_MEMORY; SYSTEM (libcurl could not be initialised); FORKED (in a
 * child of a process that had already started the engine). The last four only
 * where the name is not ASCII. `out` is empty unless OK.
 */
ERRAND_API errand_status errand_host_ascii(errand_bytes host,
                                           char *ERRAND_NONNULL out,
                                           size_t capacity);

ERRAND_END_DECLS

#endif
