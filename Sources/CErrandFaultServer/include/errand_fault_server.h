/*
 * A scripted HTTP/1 server that misbehaves on demand, for tests. It listens
 * on loopback or on a unix socket, runs lists of steps, and records what it
 * saw. No dependencies; one thread to accept and one a connection.
 */
#ifndef ERRAND_FAULT_SERVER_H
#define ERRAND_FAULT_SERVER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__clang__)
#define ERRAND_FAULT_NULLABLE _Nullable
#define ERRAND_FAULT_NONNULL _Nonnull
#pragma clang assume_nonnull begin
#else
#define ERRAND_FAULT_NULLABLE
#define ERRAND_FAULT_NONNULL
#endif

typedef enum errand_fault_step_kind {
  /* Read the next request head. A path's script starts with its head read. */
  ERRAND_FAULT_READ_HEAD = 0,
  /* Read the rest of the current request's body, by its framing. With
     `count`: so many bytes at a time, `milliseconds` apart. */
  ERRAND_FAULT_READ_BODY = 1,
  /* Read `count` bytes off the wire, whatever they are. */
  ERRAND_FAULT_READ_BYTES = 2,
  /* Send `data`, `count` times (0: once, negative: until the client closes).
     With `milliseconds`: byte by byte, so far apart. */
  ERRAND_FAULT_SEND = 3,
  /* Do nothing for `milliseconds`. */
  ERRAND_FAULT_SLEEP = 4,
  /* Do nothing until the client closes, or errand_fault_server_release. */
  ERRAND_FAULT_STALL = 5,
  /* Send FIN, then read until the client closes too. */
  ERRAND_FAULT_FINISH = 6,
  /* Close at once; the kernel sends RST if there is unread input. */
  ERRAND_FAULT_CLOSE = 7,
  /* Close with RST (SO_LINGER of 0), dropping what is unsent. */
  ERRAND_FAULT_RESET = 8,
  /* Read the body (asking for it with 100 where expected), then answer 200
     with the request head and the body as the response body and
     "X-Connection: N". Bodies over ERRAND_FAULT_BODY_KEPT are cut there. */
  ERRAND_FAULT_ECHO = 9,
  /* Answer 200 with a gzip body that decodes to `count` zero bytes, a
     thousandth of that on the wire. */
  ERRAND_FAULT_GZIP_ZEROS = 10,
  /* Act as a proxy to a loopback address: CONNECT opens a tunnel, an absolute
     request target is forwarded. 502 where that host does not answer. */
  ERRAND_FAULT_PROXY = 11,
  /* Go on once a request comes with the right Digest credentials (RFC 7616,
     qop=auth) of `data`, "user:password"; until then read each one's body and
     answer 401 with a challenge and the body "denied\n". `count` 0: MD5, 1:
     SHA-256. */
  ERRAND_FAULT_DIGEST = 12,
  /* Act as a SOCKS5 proxy (RFC 1928) to loopback, for a connection's script;
     with `data`, "user:password", for those alone (RFC 1929). The request is
     recorded as "NAME host:port", where NAME says how the client named the
     host: DOMAIN, IPV4 or IPV6. */
  ERRAND_FAULT_SOCKS5 = 13
} errand_fault_step_kind;

typedef struct errand_fault_step {
  errand_fault_step_kind kind;
  int64_t count;
  uint32_t milliseconds;
  const void *ERRAND_FAULT_NULLABLE data;
  size_t length;
} errand_fault_step;

/* Initialisers for tables of steps in C. `text` is a string literal. */
#define ERRAND_FAULT_STEP(name)                                                \
  { .kind = ERRAND_FAULT_##name }
#define ERRAND_FAULT_STEP_SEND(text)                                           \
  { .kind = ERRAND_FAULT_SEND, .data = "" text, .length = sizeof(text) - 1 }
#define ERRAND_FAULT_STEP_REPEAT(times, text)                                  \
  {                                                                            \
    .kind = ERRAND_FAULT_SEND, .count = (times), .data = "" text,              \
    .length = sizeof(text) - 1                                                 \
  }
#define ERRAND_FAULT_STEP_DRIP(interval, times, text)                          \
  {                                                                            \
    .kind = ERRAND_FAULT_SEND, .count = (times), .milliseconds = (interval),   \
    .data = "" text, .length = sizeof(text) - 1                                \
  }
#define ERRAND_FAULT_STEP_SLEEP(interval)                                      \
  { .kind = ERRAND_FAULT_SLEEP, .milliseconds = (interval) }
#define ERRAND_FAULT_STEP_GZIP_ZEROS(bytes)                                    \
  { .kind = ERRAND_FAULT_GZIP_ZEROS, .count = (bytes) }
#define ERRAND_FAULT_STEP_DIGEST(credentials, algorithm)                       \
  {                                                                            \
    .kind = ERRAND_FAULT_DIGEST, .count = (algorithm), .data = "" credentials, \
    .length = sizeof(credentials) - 1                                          \
  }
#define ERRAND_FAULT_STEP_READ_BYTES(bytes)                                    \
  { .kind = ERRAND_FAULT_READ_BYTES, .count = (bytes) }
#define ERRAND_FAULT_STEP_READ_SLOWLY(bytes, interval)                         \
  {                                                                            \
    .kind = ERRAND_FAULT_READ_BODY, .count = (bytes),                          \
    .milliseconds = (interval)                                                 \
  }

/* Bytes of a request body that are kept for errand_fault_request. */
#define ERRAND_FAULT_BODY_KEPT ((size_t) 1 << 20)

typedef struct errand_fault_server errand_fault_server;

/*
 * Starts a server on 127.0.0.1, at a port of the kernel's choice, or, where
 * `unix_path` is given, on that socket (made, and unlinked by destroy).
 * Thread: any.
 * Owns: *out is the caller's until destroyed.
 * Returns: 0 or an errno; *out is NULL unless 0.
 */
int errand_fault_server_create(
    const char *ERRAND_FAULT_NULLABLE unix_path,
    errand_fault_server *ERRAND_FAULT_NULLABLE *ERRAND_FAULT_NONNULL out);

/* Ends every connection, joins every thread, frees. NULL is fine. */
void errand_fault_server_destroy(
    errand_fault_server *ERRAND_FAULT_NULLABLE server);

/* The port; 0 for a unix socket. */
uint16_t errand_fault_server_port(const errand_fault_server *server);

/*
 * What to do for requests to `path` (the target up to a '?'); NULL: for those
 * to no scripted path. Several scripts of one path are used in the order in
 * which they were added, one a request, the last for all that follow. After
 * the last step the unread body is read and the next request served. Without
 * any script: 404.
 * Thread: any.
 * Owns: the steps and their data are copied.
 * Returns: 0 or ENOMEM.
 */
int errand_fault_server_on_path(errand_fault_server *server,
                                const char *ERRAND_FAULT_NULLABLE path,
                                const errand_fault_step *steps, size_t count);

/*
 * What to do on the n-th connection (1 is the first) before its first request
 * is read; 0: on every connection that has no script of its own. Requests are
 * served after the last step.
 * Thread, Owns, Returns: as errand_fault_server_on_path.
 */
int errand_fault_server_on_connection(errand_fault_server *server,
                                      uint64_t number,
                                      const errand_fault_step *steps,
                                      size_t count);

/* Ends the STALL steps, those under way and those to come. Thread: any. */
void errand_fault_server_release(errand_fault_server *server);
/* From now on STALL steps wait again. Thread: any. */
void errand_fault_server_hold(errand_fault_server *server);

typedef struct errand_fault_counts {
  uint64_t connections; /* accepted */
  uint64_t closed;      /* of those, ended */
  uint64_t requests;    /* heads read */
  uint64_t bodies;      /* request bodies read to their end */
  uint64_t bytes_received;
  uint64_t bytes_sent;
} errand_fault_counts;

/* Thread: any. */
void errand_fault_server_counts(errand_fault_server *server,
                                errand_fault_counts *out);

/*
 * Waits until each count is at least that of `least`.
 * Thread: any.  Returns: 1, or 0 when that did not happen in time.
 */
int errand_fault_server_wait(errand_fault_server *server,
                             const errand_fault_counts *least,
                             uint32_t milliseconds);

/* A recorded request. Strings live as long as the server; none is NULL once
   filled in. */
typedef struct errand_fault_request {
  uint64_t connection;
  const char *ERRAND_FAULT_NULLABLE method;
  const char *ERRAND_FAULT_NULLABLE target;
  const char *ERRAND_FAULT_NULLABLE
      head; /* request line and fields, without the empty line */
  size_t head_length;
  const uint8_t *ERRAND_FAULT_NULLABLE body; /* NULL until read, or empty */
  size_t body_kept;                          /* bytes at `body` */
  uint64_t body_length;                      /* bytes read, kept or not */
  uint64_t body_hash;    /* errand_fault_hash of all of them */
  int32_t body_complete; /* read to its end */
} errand_fault_request;

/* Thread: any.  Returns: 1, or 0 where there is no request of that index. */
int errand_fault_server_request(errand_fault_server *server, size_t index,
                                errand_fault_request *out);

/* FNV-1a of 64 bits; `seed` is 0 or the hash of what came before. */
uint64_t errand_fault_hash(uint64_t seed, const void *data, size_t length);

/*
 * Makes a gzip stream of `decoded` zero bytes.
 * Owns: *out is the caller's, for free().
 * Returns: 0 or ENOMEM.
 */
int errand_fault_gzip_zeros(
    uint64_t decoded, uint8_t *ERRAND_FAULT_NULLABLE *ERRAND_FAULT_NONNULL out,
    size_t *length);

typedef enum errand_fault_port_kind {
  ERRAND_FAULT_PORT_REFUSED = 0, /* nobody listens: ECONNREFUSED */
  ERRAND_FAULT_PORT_SILENT = 1   /* connecting never ends: a full backlog */
} errand_fault_port_kind;

/* A loopback port that keeps its kind until it is destroyed. */
typedef struct errand_fault_port errand_fault_port;

/* Thread: any.  Returns: 0 or an errno; *out is NULL unless 0. */
int errand_fault_port_create(
    errand_fault_port_kind kind,
    errand_fault_port *ERRAND_FAULT_NULLABLE *ERRAND_FAULT_NONNULL out);
uint16_t errand_fault_port_number(const errand_fault_port *port);
/* NULL is fine. */
void errand_fault_port_destroy(errand_fault_port *ERRAND_FAULT_NULLABLE port);

/* Has posix_spawn close every descriptor from `first` on: what other threads
   are about to mark close-on-exec would be inherited. For Swift, which does not
   see the function that does it. `actions`: a posix_spawn_file_actions_t.
   Returns: 0 or an errno. */
int errand_fault_spawn_close_from(void *actions, int first);

#if defined(__clang__)
#pragma clang assume_nonnull end
#endif

#ifdef __cplusplus
}
#endif

#endif
