/* The parts of a URL that the core needs, found without copying. */
#ifndef ERRAND_TRANSFER_URL_H
#define ERRAND_TRANSFER_URL_H

#include <stdbool.h>

#include "include/errand_status.h"

typedef struct errand__url {
  bool secure;      /* https */
  bool literal;     /* the host is an IP address */
  bool plain;       /* no user, and a host that libcurl takes as it is */
  uint16_t port;    /* explicit, or the scheme's */
  const char *host; /* borrowed; brackets left out */
  size_t host_length;
  size_t length; /* of the URL without its fragment */
  size_t target; /* where the path begins; `length` where there is none */
} errand__url;

/*
 * Checks a URL and finds its parts. What is let through here but malformed
 * in a way only libcurl sees ends as INVALID_URL too, before any socket.
 * Thread: any.
 * Returns: OK; INVALID_URL (no scheme or host, white space, control or NUL
 * bytes, bytes above 127 after the authority, a port that is none, brackets
 * that do not match); UNSUPPORTED_SCHEME.
 */
errand_status errand__url_parse(errand_bytes text, errand__url *out);

/* Hash of scheme, lower-cased host and port, seeded. */
uint64_t errand__url_origin_hash(const errand__url *url, uint64_t seed);

#endif
