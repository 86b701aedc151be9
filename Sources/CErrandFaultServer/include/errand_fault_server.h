/*
 * A scripted HTTP/1 server that misbehaves on demand, for tests. It listens
 * on loopback or on a unix socket, runs lists of steps, and records the
 * requests. No dependencies; one thread accepts, and each connection has a
 * thread.
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
  /* Read the next request head. The head is already read when a path's script
     starts. */
  ERRAND_FAULT_READ_HEAD = 0,
  /* Read the rest of the current request's body, by its framing. With
     `count`: `count` bytes at a time, `milliseconds` apart. */
  ERRAND_FAULT_READ_BODY = 1,
  /* Read `count` bytes from the wire, whatever they are. */
  ERRAND_FAULT_READ_BYTES = 2,
  /* Send `data`, `count` times (0: once, negative: until the client closes).
     With `milliseconds`: byte by byte, that many milliseconds apart. */
  ERRAND_FAULT_SEND = 3,
  /* Do nothing for `milliseconds`. */
  ERRAND_FAULT_SLEEP = 4,
  /* Do nothing until the client closes or errand_fault_server_release is
     called. */
  ERRAND_FAULT_STALL = 5,
  /* Send FIN, then read until the client closes too. */
  ERRAND_FAULT_FINISH = 6,
  /* Close at once; the kernel sends RST if there is unread input. */
  ERRAND_FAULT_CLOSE = 7,
  /* Close with RST (SO_LINGER of 0) and drop unsent data. */
  ERRAND_FAULT_RESET = 8,
  /* Read the body (after a 100 response if the client expects one), then answer
     200 with the request head and the body as the response body and
     "X-Connection: N". Bodies are truncated at ERRAND_FAULT_BODY_KEPT. */
  ERRAND_FAULT_ECHO = 9,
  /* Answer 200 with a gzip body that decodes to `count` zero bytes; on the
     wire it has a thousandth of that size. */
  ERRAND_FAULT_GZIP_ZEROS = 10,
  /* Act as a proxy to a loopback address: CONNECT opens a tunnel, an absolute
     request target is forwarded. Answer 502 if that host does not answer. */
  ERRAND_FAULT_PROXY = 11,
  /* Continue when a request has the right Digest credentials (RFC 7616,
     qop=auth) of `data`, "user:password". For each earlier request, read its
     body and answer 401 with a challenge and the body "denied\n". `count` 0:
     MD5, 1: SHA-256. */
  ERRAND_FAULT_DIGEST = 12,
  /* Act as a SOCKS5 proxy (RFC 1928) to loopback. Only for the script of a
     connection. With `data`, "user:password", only these credentials are
     accepted (RFC 1929). The request is recorded as "NAME host:port", where
     NAME says how the client named the host: DOMAIN, IPV4 or IPV6. With
     `milliseconds`: the reply to it comes in two parts, that many milliseconds
     apart. */
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
 * Starts a server on 127.0.0.1, at a port that the kernel chooses. If
 * `unix_path` is given, the server uses that socket instead (created here,
 * unlinked by destroy).
 * Thread: any.
 * Owns: *out is the caller's until destroyed.
 * Returns: 0 or an errno; *out is NULL unless 0.
 */
int errand_fault_server_create(
    const char *ERRAND_FAULT_NULLABLE unix_path,
    errand_fault_server *ERRAND_FAULT_NULLABLE *ERRAND_FAULT_NONNULL out);

/* Ends every connection, joins every thread, frees. NULL is allowed. */
void errand_fault_server_destroy(
    errand_fault_server *ERRAND_FAULT_NULLABLE server);

/* The port; 0 for a unix socket. */
uint16_t errand_fault_server_port(const errand_fault_server *server);

/*
 * Sets the steps for requests to `path` (the target up to a '?'); NULL: for
 * requests to paths without a script. Several scripts of one path are used in
 * the order in which they were added, one for each request; the last one is
 * used for all further requests. After the last step the server reads the
 * unread body and serves the next request. Without any script: 404.
 * Thread: any.
 * Owns: the steps and their data are copied.
 * Returns: 0 or ENOMEM.
 */
int errand_fault_server_on_path(errand_fault_server *server,
                                const char *ERRAND_FAULT_NULLABLE path,
                                const errand_fault_step *steps, size_t count);

/*
 * Sets the steps for the connection with that number, counted from 1. They
 * run before its first request is read. 0: for every connection that has no
 * script of its own. Requests are served after the last step.
 * Thread, Owns, Returns: as errand_fault_server_on_path.
 */
int errand_fault_server_on_connection(errand_fault_server *server,
                                      uint64_t number,
                                      const errand_fault_step *steps,
                                      size_t count);

/* Ends the current STALL steps and all later ones. Thread: any. */
void errand_fault_server_release(errand_fault_server *server);
/* Later STALL steps wait again. Thread: any. */
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
 * Thread: any.  Returns: 1, or 0 when the counts were not reached in time.
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

/* Thread: any.  Returns: 1, or 0 if there is no request with that index. */
int errand_fault_server_request(errand_fault_server *server, size_t index,
                                errand_fault_request *out);

/* FNV-1a of 64 bits; `seed` is 0 or the hash of the preceding data. */
uint64_t errand_fault_hash(uint64_t seed, const void *data, size_t length);

/*
 * Makes a gzip stream of `decoded` zero bytes.
 * Owns: *out is the caller's, to be released with free().
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
/* NULL is allowed. */
void errand_fault_port_destroy(errand_fault_port *ERRAND_FAULT_NULLABLE port);

/* Makes posix_spawn close every descriptor from `first` on. Otherwise the child
   would inherit descriptors that other threads have opened and not yet marked
   close-on-exec. For Swift, which cannot call
   posix_spawn_file_actions_addclosefrom_np. `actions`: a
   posix_spawn_file_actions_t.
   Returns: 0 or an errno. */
int errand_fault_spawn_close_from(void *actions, int first);

#if defined(__clang__)
#pragma clang assume_nonnull end
#endif

#ifdef __cplusplus
}
#endif

#endif
