/* What differs by the version of libcurl that runs, which need not be the one
   this was built with. Nothing else in the core compares versions. */
#ifndef ERRAND_LIBCURL_CURL_TRAITS_H
#define ERRAND_LIBCURL_CURL_TRAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CURLE_TOO_LARGE, which older headers lack (8.6.0). */
#define ERRAND__CURLE_TOO_LARGE 100

/* curl_traits.c says of each in which versions, why, and which test shows it.
 */
typedef enum errand__curl_trait {
  /* Uses a kept connection that has bytes to read, or that was reset. */
  ERRAND__CURL_KEEPS_UNCLEAN_CONNECTIONS,
  /* Cannot send on a kept HTTP/2 connection in clear text. */
  ERRAND__CURL_LOSES_CLEAR_HTTP2,
  /* Lets a used handle point to a freed field of its response before. */
  ERRAND__CURL_KEEPS_FREED_FIELDS,
  /* Does not look again at what an HTTP/2 stream's buffer had no room for. */
  ERRAND__CURL_FORGETS_REST_OF_STREAMS,
  /* Says that an HTTP/2 body is whole where its connection was lost. */
  ERRAND__CURL_ENDS_CUT_HTTP2_BODIES,
  /* Waits for a timer before it tries the next address. */
  ERRAND__CURL_WAITS_AFTER_REFUSAL,
  /* Says OUT_OF_MEMORY of a header line that is too long. */
  ERRAND__CURL_LACKS_MEMORY_FOR_LONG_LINES,
  /* Notes Digest's round without a body in the connection. */
  ERRAND__CURL_SHARES_FIRST_ROUNDS,
  /* Takes turns without end where curl_easy_pause stops a transfer that has
     more to read; not where the write callback does. */
  ERRAND__CURL_SPINS_WHILE_PAUSED,
  /* Reads on, into its own memory, while a response is paused and its upload is
     not; takes turns without end where that is not because the upload's source
     has nothing. */
  ERRAND__CURL_READS_ON_WHILE_SENDING,
  /* Wants each connected socket for reading, also where the transfer is
     paused. */
  ERRAND__CURL_LISTENS_WHILE_PAUSED,
  /* Does not count the chunks of a body that it keeps to itself. */
  ERRAND__CURL_COUNTS_NO_IGNORED_CHUNKS,
  /* Forgets to free a response's trailers where its connection has another
     response. */
  ERRAND__CURL_LEAKS_TRAILERS,
  /* Lets exec inherit the pipes that wake its multi handles. */
  ERRAND__CURL_LEAVES_PIPES,
  /* Borrows one receive buffer per multi handle, in place of one per transfer.
   */
  ERRAND__CURL_BORROWS_BUFFERS,
  /* Reads a response, perhaps all of it, before it asks for readability. */
  ERRAND__CURL_READS_AT_ONCE,
  /* Compares each connection that is in use in its search for an idle one. */
  ERRAND__CURL_COMPARES_BUSY_CONNECTIONS,
  /* Leaves transfers that wait to share a connection (CURLOPT_PIPEWAIT) where
     they are when it turns out to be of HTTP/1.1. */
  ERRAND__CURL_LEAVES_WAITING,
  /* Has OpenSSL read more records ahead than it asks for. */
  ERRAND__CURL_READS_AHEAD,
  /* Gives up an idle HTTP/2 connection whose server allows no streams. */
  ERRAND__CURL_DROPS_SHUT_CONNECTIONS,
  /* Sends a cookie with an empty "Path=" to every path. */
  ERRAND__CURL_KEEPS_EMPTY_PATHS,
  /* Says COULDNT_CONNECT where it remembers that a name has no address. */
  ERRAND__CURL_HIDES_FAILED_NAMES,
  /* Has the pause of one transfer hold the next one of the same handle. */
  ERRAND__CURL_KEEPS_PAUSES,
  /* Wants its multi handle's wake-up descriptor while it has transfers. */
  ERRAND__CURL_WATCHES_ITS_WAKE_UP,
  /* Asks for IPv4 and IPv6 addresses in two calls of getaddrinfo. */
  ERRAND__CURL_RESOLVES_TWICE,
  /* Takes a CAPATH of NULL for none; later ones for the built-in one. */
  ERRAND__CURL_TAKES_NO_CAPATH,
  /* Cannot send to an IPv6 literal by an HTTP proxy without a tunnel. */
  ERRAND__CURL_LACKS_IPV6_BY_PROXY,
  /* Looks at an ended handle when nghttp2 drops its unsent HEADERS. */
  ERRAND__CURL_KEEPS_ENDED_STREAMS,
  /* Writes the Cookie field from the jar's entries after it unlocked the jar.
   */
  ERRAND__CURL_READS_UNLOCKED_COOKIES,
  /* Has WebSocket for good, where it was built with it; an experiment before.
   */
  ERRAND__CURL_SPEAKS_WEBSOCKET,
  ERRAND__CURL_TRAITS
} errand__curl_trait;

/* Versions as libcurl writes them, 0x075801 for 7.88.1. */
typedef struct errand__curl_trait_row {
  uint32_t from;   /* the first version; 0: all before `before` */
  uint32_t before; /* the first that has it no more; 0: none so far */
  const char *why; /* libcurl's commit or issue */
  const char *test;
} errand__curl_trait_row;

/* A version that is refused, for want of a way round what it does. */
typedef struct errand__curl_denial {
  uint32_t from, to; /* both included */
  const char *why;
  const char *test; /* of ours, which that version fails */
} errand__curl_denial;

/* Whether the libcurl that runs has it. Thread: any. */
bool errand__curl_does(errand__curl_trait trait);

/* The row of a trait, for tests and the documentation's table. */
const errand__curl_trait_row *errand__curl_trait_row_of(errand__curl_trait);

/* The denied versions. Returns: how many. */
size_t errand__curl_denials(const errand__curl_denial **out);

/* Whether that version number is denied. */
bool errand__curl_denied(uint32_t version);

#endif
