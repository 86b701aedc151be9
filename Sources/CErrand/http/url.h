/* Finds the parts of a URL that the core needs, without copying. */
#ifndef ERRAND_HTTP_URL_H
#define ERRAND_HTTP_URL_H

#include <stdbool.h>

#include "http/host.h"

/* The URL to send. It is the given URL without its fragment and with a path.
   Its host is the name that is looked up, even if the given URL spells the host
   in another way. */
typedef struct errand__url {
  bool secure;      /* https, wss */
  bool websocket;   /* ws, wss */
  bool literal;     /* the host is an IP address */
  bool plain;       /* no user; a lower-case host that libcurl takes as it is */
  bool respelled;   /* the host is spelt in another way than it was given */
  bool adds_slash;  /* the authority is followed by nothing, or by a query */
  uint16_t port;    /* the one given, or the scheme's */
  const char *host; /* borrowed; without brackets */
  uint32_t host_length;
  uint32_t length;  /* of the whole */
  uint32_t target;  /* where the path begins */
  uint32_t host_at; /* in the given URL, and in the URL to send */
  uint32_t given_host_length;
} errand__url;

/*
 * Checks a URL and finds its parts. A URL whose fault only libcurl detects
 * passes here. Its request ends with INVALID_URL before a socket is opened.
 * Thread: any.
 * Owns: `out` points into `text`, or into `host`, ERRAND__HOST_ROOM bytes of
 * the caller's.
 * Returns: OK; INVALID_URL (no scheme or host, white space, control or NUL
 * bytes, bytes above 127 after the authority, a backslash in it, a host that is
 * not valid once escapes are undone and its name is mapped, a port that is not
 * valid, brackets that do not match); UNSUPPORTED_SCHEME; what
 * errand_host_ascii returns for a host that is not ASCII.
 */
errand_status errand__url_parse(errand_bytes text, char *host,
                                errand__url *out);

/*
 * Writes the URL to send and a NUL, `url->length` + 1 bytes.
 * Owns: `url->host` points into `out` afterwards.
 */
void errand__url_write(errand__url *url, const char *given, char *out);

/* A seeded hash of scheme, lower-cased host and port. */
uint64_t errand__url_origin_hash(const errand__url *url, uint64_t seed);

#endif
