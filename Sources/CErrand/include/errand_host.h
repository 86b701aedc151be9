/*
 * Names of hosts. Code that keeps something by host (a policy, a credential)
 * has to compare the name that a request looks up, not the name as it was
 * written.
 */
#ifndef ERRAND_HOST_H
#define ERRAND_HOST_H

#include "errand_status.h"

ERRAND_BEGIN_DECLS

/*
 * Writes the name that a request looks up for `host`, which is UTF-8 without
 * percent escapes.
 *
 * International names become A-labels ("xn--..."), by libcurl's mapping (UTS
 * #46, non-transitional, as in browsers). IPv4 addresses of any spelling
 * ("0x7f.1") become four decimal numbers. An address in brackets and any other
 * name stay as they are.
 *
 * The result is checked (WHATWG's URL standard, 3.5): a name is refused if it
 * maps to a space, a slash or another code point that hosts may not have, or if
 * its last label is a number although the whole name is no address.
 *
 * Thread: any.
 * Owns: both buffers stay the caller's; `out` gets a NUL-terminated string,
 * which is empty unless OK.
 * Returns: OK; INVALID_URL (empty, longer than 255 bytes, not a host name, no
 * A-label for it, or no room for it); and, only if the name is not ASCII:
 * UNSUPPORTED_FEATURE (this libcurl has no IDN); OUT_OF_MEMORY; SYSTEM (libcurl
 * could not be initialised); FORKED (in a child of a process that had already
 * started the engine).
 */
ERRAND_API errand_status errand_host_ascii(errand_bytes host,
                                           char *ERRAND_NONNULL out,
                                           size_t capacity);

ERRAND_END_DECLS

#endif
