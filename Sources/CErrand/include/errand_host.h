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
 * Writes the name that libcurl looks up for `host`, which is UTF-8 without
 * percent escapes: international names as A-labels ("xn--..."), by libcurl's
 * own mapping, all else as it is.
 * Thread: any.
 * Owns: both stay the caller's; `out` gets a NUL-terminated string.
 * Returns: OK; INVALID_URL (empty, no host's name, no A-label for it, or no
 * room for it); UNSUPPORTED_FEATURE (this libcurl has no IDN); OUT_OF_MEMORY;
 * SYSTEM (libcurl could not be initialised); FORKED (in a child of a process
 * that had already started the engine). `out` is empty unless OK.
 */
ERRAND_API errand_status errand_host_ascii(errand_bytes host,
                                           char *ERRAND_NONNULL out,
                                           size_t capacity);

ERRAND_END_DECLS

#endif
