/* The parts of a URL that the core needs, found without copying. */
#ifndef ERRAND_HTTP_URL_H
#define ERRAND_HTTP_URL_H

#include <stdbool.h>

#include "http/host.h"

/* The URL to send: what was given without its fragment, with the host that is
   looked up where that is written in another way, and with a path. */
typedef struct errand__url {
  bool secure;      /* https, wss */
  bool websocket;   /* ws, wss */
  bool literal;     /* the host is an IP address */
  bool plain;       /* no user, and a host that libcurl takes as it is */
  bool respelled;   /* the host is written in another way */
  bool adds_slash;  /* nothing, or a query, follows the authority */
  uint16_t port;    /* explicit, or the scheme's */
  const char *host; /* borrowed; brackets left out */
  size_t host_length;
  size_t length;  /* of the whole */
  size_t target;  /* where the path begins */
  size_t host_at; /* in what was given, as in the URL to send */
  size_t given_host_length;
} errand__url;

/*
 * Checks a URL and finds its parts. What is let through here but malformed
 * in a way only libcurl sees ends as INVALID_URL too, before any socket.
 * Thread: any.
 * Owns: `out` points into `text`, or into `host`, which are ERRAND__HOST_ROOM
 * bytes of the caller's.
 * Returns: OK; INVALID_URL (no scheme or host, white space, control or NUL
 * bytes, bytes above 127 after the authority, a backslash in it, a host that is
 * none once escapes are undone and its name is mapped, a port that is none,
 * brackets that do not match); UNSUPPORTED_SCHEME; what errand_host_ascii says
 * of a host that is not ASCII.
 */
errand_status errand__url_parse(errand_bytes text, char *host,
                                errand__url *out);

/*
 * Writes the URL to send and a NUL, `url->length` + 1 bytes.
 * Owns: `url->host` points into `out` afterwards.
 */
void errand__url_write(errand__url *url, const char *given, char *out);

/* Hash of scheme, lower-cased host and port, seeded. */
uint64_t errand__url_origin_hash(const errand__url *url, uint64_t seed);

#endif
