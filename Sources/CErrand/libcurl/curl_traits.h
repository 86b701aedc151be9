/* The differences between versions of libcurl. The libcurl that runs is asked.
   It may be another version than the one at build time. Only this file compares
   versions. */
#ifndef ERRAND_LIBCURL_CURL_TRAITS_H
#define ERRAND_LIBCURL_CURL_TRAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CURLE_TOO_LARGE, which older headers lack (8.6.0). */
#define ERRAND__CURLE_TOO_LARGE 100

/* The rows in curl_traits.c name for each trait the versions, the reason and
   the test that shows it. */
typedef enum errand__curl_trait {
  /* Reuses a connection that has unread bytes, or that was reset. */
  ERRAND__CURL_KEEPS_UNCLEAN_CONNECTIONS,
  /* Cannot send on a reused HTTP/2 connection in clear text. */
  ERRAND__CURL_LOSES_CLEAR_HTTP2,
  /* After a response, a handle keeps a pointer to a field that was freed. */
  ERRAND__CURL_KEEPS_FREED_FIELDS,
  /* Does not return to bytes for which the buffer of an HTTP/2 stream had no
     room. */
  ERRAND__CURL_FORGETS_REST_OF_STREAMS,
  /* Reports an HTTP/2 body as complete although its connection was lost. */
  ERRAND__CURL_ENDS_CUT_HTTP2_BODIES,
  /* Waits for a timer before it tries the next address. */
  ERRAND__CURL_WAITS_AFTER_REFUSAL,
  /* Reports OUT_OF_MEMORY for a header line that is too long. */
  ERRAND__CURL_LACKS_MEMORY_FOR_LONG_LINES,
  /* Notes the first round of Digest, which has no body, for the whole
     connection. */
  ERRAND__CURL_SHARES_FIRST_ROUNDS,
  /* Uses all of a CPU while curl_easy_pause pauses a transfer that has more to
     read; not while the write callback pauses it. */
  ERRAND__CURL_SPINS_WHILE_PAUSED,
  /* Reads on, into its own memory, while a response is paused and its upload is
     not. Uses all of a CPU then, unless the upload's source has no bytes. */
  ERRAND__CURL_READS_ON_WHILE_SENDING,
  /* Wants each connected socket for reading, even of a paused transfer. */
  ERRAND__CURL_LISTENS_WHILE_PAUSED,
  /* Does not count the chunks of a body that it does not pass on. */
  ERRAND__CURL_COUNTS_NO_IGNORED_CHUNKS,
  /* Leaks the trailers of a response if another response follows on the
     connection. */
  ERRAND__CURL_LEAKS_TRAILERS,
  /* exec inherits the pipes that wake its multi handles. */
  ERRAND__CURL_LEAVES_PIPES,
  /* Borrows one receive buffer for each multi handle, instead of one for each
     transfer. */
  ERRAND__CURL_BORROWS_BUFFERS,
  /* Reads a response, perhaps all of it, before it wants the socket for
     reading. */
  ERRAND__CURL_READS_AT_ONCE,
  /* CURLINFO_REQUEST_SIZE has the bytes of bodies, too. */
  ERRAND__CURL_COUNTS_BODIES_WITH_HEADS,
  /* Compares each connection in use when it searches for an idle one. */
  ERRAND__CURL_COMPARES_BUSY_CONNECTIONS,
  /* Transfers that wait to share a connection (CURLOPT_PIPEWAIT) keep waiting
     if the connection uses HTTP/1.1. */
  ERRAND__CURL_LEAVES_WAITING,
  /* Has OpenSSL read ahead more records than libcurl asks for. */
  ERRAND__CURL_READS_AHEAD,
  /* Closes an idle HTTP/2 connection whose server allows no streams. */
  ERRAND__CURL_DROPS_SHUT_CONNECTIONS,
  /* Sends a cookie with an empty "Path=" to every path. */
  ERRAND__CURL_KEEPS_EMPTY_PATHS,
  /* Reports COULDNT_CONNECT if it remembers that a name does not resolve. */
  ERRAND__CURL_HIDES_FAILED_NAMES,
  /* The pause of a transfer also pauses the next transfer of the handle. */
  ERRAND__CURL_KEEPS_PAUSES,
  /* Wants the wake-up descriptor of a multi handle while the handle has
     transfers. */
  ERRAND__CURL_WATCHES_ITS_WAKE_UP,
  /* Asks for IPv4 and IPv6 addresses in two calls of getaddrinfo. */
  ERRAND__CURL_RESOLVES_TWICE,
  /* A CAPATH of NULL means none. Later versions take it for the built-in one.
   */
  ERRAND__CURL_TAKES_NO_CAPATH,
  /* Cannot send to an IPv6 literal through an HTTP proxy without a tunnel. */
  ERRAND__CURL_LACKS_IPV6_BY_PROXY,
  /* Uses an ended handle when nghttp2 drops its unsent HEADERS. */
  ERRAND__CURL_KEEPS_ENDED_STREAMS,
  /* Writes the Cookie field from entries of the jar after it unlocked the jar.
   */
  ERRAND__CURL_READS_UNLOCKED_COOKIES,
  /* Does not watch the sockets of connections that it shuts down. */
  ERRAND__CURL_LEAVES_SHUTDOWNS,
  /* Has WebSocket if it was built with it. Earlier it was an experiment. */
  ERRAND__CURL_SPEAKS_WEBSOCKET,
  ERRAND__CURL_TRAITS
} errand__curl_trait;

/* Versions as libcurl writes them, 0x075801 for 7.88.1. */
typedef struct errand__curl_trait_row {
  uint32_t from;   /* the first version; 0: the first of all */
  uint32_t before; /* the first version without the trait; 0: none so far */
  const char *why; /* commit or issue of libcurl */
  const char *test;
} errand__curl_trait_row;

/* Versions that are refused because their faults have no workaround. */
typedef struct errand__curl_denial {
  uint32_t from, to; /* both included */
  const char *why;
  const char *test; /* our test, which fails with that version */
} errand__curl_denial;

/* Whether the libcurl that runs has the trait.
   Thread: any. */
bool errand__curl_does(errand__curl_trait trait);

/* The row of a trait, for tests and the documentation's table. */
const errand__curl_trait_row *errand__curl_trait_row_of(errand__curl_trait);

/* The refused versions.
   Returns: how many there are. */
size_t errand__curl_denials(const errand__curl_denial **out);

/* Whether the version is refused. */
bool errand__curl_denied(uint32_t version);

#endif
