/*
 * Requests: the description of what to send, and the calls on a request while
 * it runs.
 */
#ifndef ERRAND_REQUEST_H
#define ERRAND_REQUEST_H

#include "errand_options.h"
#include "errand_record.h"

ERRAND_BEGIN_DECLS

typedef struct errand_group errand_group;

typedef enum ERRAND_CLOSED_ENUM errand_body_kind {
  ERRAND_BODY_NONE ERRAND_SWIFT_NAME("none") = 0,
  /* `body`: errand_submit copies it into the block of the request. If
     `body_release` is set, the bytes are instead borrowed until it is called.
   */
  ERRAND_BODY_MEMORY ERRAND_SWIFT_NAME("memory") = 1,
  /* `body_fd`: `body_length` bytes of a regular file, from `body_offset` on.
     errand_submit duplicates the descriptor. Its file offset is neither used
     nor moved. */
  ERRAND_BODY_DESCRIPTOR ERRAND_SWIFT_NAME("descriptor") = 2,
  /* `body_path`: errand_submit opens it. Otherwise like a descriptor. */
  ERRAND_BODY_FILE ERRAND_SWIFT_NAME("file") = 3,
  /* Written by errand_upload_write and errand_upload_lend. Set `body_length` if
     it is known. */
  ERRAND_BODY_STREAM ERRAND_SWIFT_NAME("stream") = 4
} errand_body_kind;

/* Which waiting request starts first when a limit makes requests wait. This
   order applies across all origins, options and loops of a group. Origins whose
   best requests have the same priority take turns. No priority lets a request
   exceed the limit of its own origin. If several loops want a place at the same
   moment, the fastest of them gets it. With HTTP/2 the priority also sets the
   weight of the stream (CURLOPT_STREAM_WEIGHT): default 16, low 8, high 32. */
typedef enum ERRAND_CLOSED_ENUM errand_priority {
  ERRAND_PRIORITY_DEFAULT ERRAND_SWIFT_NAME("normal") = 0,
  ERRAND_PRIORITY_LOW ERRAND_SWIFT_NAME("low") = 1,
  ERRAND_PRIORITY_HIGH ERRAND_SWIFT_NAME("high") = 2
} errand_priority;

/* How many priorities there are. */
#define ERRAND_PRIORITIES 3

typedef enum ERRAND_CLOSED_ENUM errand_authentication {
  ERRAND_AUTHENTICATION_NONE ERRAND_SWIFT_NAME("none") = 0,
  /* Digest (RFC 7616). The first try has no credentials, and no body. libcurl
     answers the challenge within the same request. The limits count all heads
     together. The records describe only the last response, which is a 401 if
     the password is wrong. The easy handle is not reused. On libcurl before 8.7
     such requests use HTTP/1.1: over HTTP/2, uploads that share a connection
     with a first try would never end. */
  ERRAND_AUTHENTICATION_DIGEST ERRAND_SWIFT_NAME("digest") = 1
} errand_authentication;

enum {
  /* Delivers HEAD and CHUNK records instead of buffering the body. */
  ERRAND_REQUEST_STREAM_RESPONSE = 1,
  /* Reuses no connection, and no later request reuses this one. */
  ERRAND_REQUEST_FRESH_CONNECTION = 2,
  /* libcurl resends a request when a kept connection turns out to be dead
     before any byte of a response has come. For methods that are not idempotent
     (RFC 9110 9.2.2) that is an error, CONNECTION_LOST, unless this flag is
     set. The engine cannot resend a streamed body after some of its bytes were
     sent. If a resend would be allowed, here or in a round of Digest, such a
     request ends with UPLOAD_NOT_REPLAYABLE, and the caller may submit it
     again. */
  ERRAND_REQUEST_ALLOW_REPLAY = 4,
  /* Also delivers STARTED, SENT and, if the response is buffered, HEAD. */
  ERRAND_REQUEST_REPORT_EVENTS = 8,
  /* Also delivers PROGRESS. */
  ERRAND_REQUEST_REPORT_PROGRESS = 16,
  /* Neither sends nor keeps the group's cookies. */
  ERRAND_REQUEST_NO_COOKIES = 32,
  /* Counts the bytes of the body against the limits and drops them: the
     response has no body. Ignored if the response is streamed. For load
     generators. */
  ERRAND_REQUEST_DISCARD_BODY = 64,
  /* A WebSocket (RFC 6455): a GET of a ws or wss URL with a streamed response,
     a streamed body of unknown length, and a Sec-WebSocket-Key from the caller.
     libcurl adds the other fields of the handshake. The head of a 101 is
     reported like any other. From then on the bytes of the body are the
     server's frames, and the bytes of the upload are the caller's frames. Both
     pass unchanged: the caller masks, checks and joins frames. The idle and
     total timeouts and the limits of the body no longer apply after the
     handshake. HTTP/1.1 only; a proxy is used with CONNECT. A response with
     another status has no body, as libcurl does not read it.
     Refused with UNSUPPORTED_FEATURE if ERRAND_FEATURE_WEBSOCKET is missing. */
  ERRAND_REQUEST_WEBSOCKET = 128,
  /* Also delivers CONNECTED: which connection carries the request. */
  ERRAND_REQUEST_REPORT_CONNECTION = 256,
  /* HEAD and COMPLETION records count the bytes of heads. For load generators:
     this costs one query to libcurl for each record. */
  ERRAND_REQUEST_COUNT_HEADS = 512
};

/* body_length if it is not known, and for "to the end of the file". */
#define ERRAND_LENGTH_UNKNOWN ((int64_t) -1)

/* The longest timeout: 30 days in milliseconds. */
#define ERRAND_TIMEOUT_MAX ((int64_t) 2592000000)

/*
 * One request. Zero-initialise, then set what differs. errand_submit copies
 * everything that the fields point to, except a body with `body_release`.
 */
typedef struct errand_request {
  errand_bytes method; /* a token; empty: GET */
  /* Absolute, http or https, percent-encoded except for an IDN host. A fragment
     is not sent. */
  errand_bytes url;
  /* "Name: value\r\n" each (the last CRLF may be left out), or empty. */
  errand_bytes headers;

  errand_body_kind body_kind;
  int32_t body_fd;
  errand_bytes body;
  const char *ERRAND_NULLABLE body_path;
  uint64_t body_offset;
  int64_t body_length;
  /* Called once, on any thread, when `body` is not needed any more; not called
     for an item that is refused. */
  void (*ERRAND_NULLABLE body_release)(void *ERRAND_NULLABLE context);
  void *ERRAND_NULLABLE body_release_context;

  /* NULL: the group's default. Retained while it is needed. */
  errand_options *ERRAND_NULLABLE options;

  /* Milliseconds; 0: none; at most ERRAND_TIMEOUT_MAX. */
  int64_t timeout_queue; /* submission to start */
  /* From the start until the connection is ready to send: DNS, TCP, TLS. 0:
     libcurl's own 300 s. At most four requests connect at once to a host that
     has not answered yet. If all of them end with RESOLVE_FAILED,
     CONNECT_FAILED or TIMEOUT_CONNECT, the requests that waited for them end
     with the same status. With TIMEOUT_CONNECT, those with a longer timeout do
     not end. Later requests try the host again. */
  int64_t timeout_connect;
  int64_t timeout_first_byte; /* last byte sent to first byte of the head */
  int64_t timeout_idle; /* no byte in either direction, while neither paused nor
                           out of credit; also while the source of a stream has
                           nothing */
  int64_t timeout_total; /* submission to end */

  /* 0: the group's default. */
  int64_t limit_header_bytes;
  int64_t limit_header_count;
  int64_t limit_body_bytes;    /* bytes on the wire */
  int64_t limit_decoded_bytes; /* bytes after decompression */

  /* Streams: bytes that may come before the first errand_grant, and bytes that
     may be written before the first UPLOAD_CREDIT. 0: 256 KiB. */
  uint64_t response_credit;
  uint64_t upload_credit;

  /* The memory for the response's body, or for each chunk of it. NULL: the
     payload. The struct is not copied: it must exist as long as the request and
     all its payloads. */
  const errand_body_memory *ERRAND_NULLABLE response_memory;

  errand_authentication authentication;
  errand_bytes username; /* no control character, no ':', not empty */
  errand_bytes password; /* no NUL */

  errand_priority priority;
  uint32_t flags; /* ERRAND_REQUEST_* */
  uint64_t tag;   /* echoed in every record */

  /* Set by errand_submit. The id is written last, with release order, when the
     request is in the queue: a thread that sees the id may cancel the request,
     pause it, ... */
  uint64_t id;          /* never 0 once accepted */
  errand_status status; /* OK: accepted */
} errand_request;

/*
 * Checks, copies and queues requests, waking each loop at most once.
 *
 * Each item is independent. If it is accepted (status OK), one COMPLETION
 * record follows, perhaps before this call returns. If it is refused, its
 * status says why, and no record follows.
 *
 * Thread: any, loop threads included.
 * Owns: the items stay the caller's. `status` is written before the request can
 * complete. `id` is written when other calls may use it, perhaps after the
 * first record of the request.
 * Returns: the number of accepted items. Item status: OK, INVALID_*,
 * UNSUPPORTED_SCHEME, UNSUPPORTED_FEATURE, FILE_UNREADABLE, QUEUE_FULL,
 * SHUT_DOWN, FORKED, OUT_OF_MEMORY, OUT_OF_DESCRIPTORS (for a file).
 */
ERRAND_API size_t errand_submit(errand_group *ERRAND_NONNULL group,
                                errand_request *ERRAND_NONNULL items,
                                size_t count);

/*
 * Makes the checks of errand_submit, without opening or sending anything.
 * Thread: any.
 * Returns: the status with which errand_submit would refuse the request, or OK.
 */
ERRAND_API errand_status
errand_request_validate(const errand_request *ERRAND_NONNULL request);

/*
 * Ends a request with CANCELLED, in any phase. Its connection is closed
 * (HTTP/1.1) or its stream is reset (HTTP/2).
 * Thread: any.
 * Returns: OK, also if the id is unknown or the request has ended; SHUT_DOWN,
 * FORKED, OUT_OF_MEMORY.
 */
ERRAND_API errand_status errand_cancel(errand_group *ERRAND_NONNULL group,
                                       uint64_t id);

/*
 * Stops the request's bytes until errand_resume. A request that has not started
 * does not start until then. The idle and first-byte timeouts do not run
 * meanwhile; the other timeouts do. Calls are not counted: one resume ends
 * several pauses.
 * Thread: any.
 * Returns: like errand_cancel.
 */
ERRAND_API errand_status errand_pause(errand_group *ERRAND_NONNULL group,
                                      uint64_t id);
ERRAND_API errand_status errand_resume(errand_group *ERRAND_NONNULL group,
                                       uint64_t id);

/*
 * Streamed responses: the caller has consumed `bytes` of the body, and this
 * many more may come.
 * Thread: any.
 * Returns: like errand_cancel.
 */
ERRAND_API errand_status errand_grant(errand_group *ERRAND_NONNULL group,
                                      uint64_t id, uint64_t bytes);

/*
 * Streamed uploads: copies bytes to send. Bytes beyond the credit end the
 * request with UPLOAD_OVERRUN. Fewer or more bytes than a given body_length end
 * the request with INVALID_BODY.
 * Thread: any. If several threads write, the caller must keep the order.
 * Returns: like errand_cancel; INVALID_ARGUMENT for bytes at NULL, and for more
 * bytes than memory can hold.
 */
ERRAND_API errand_status errand_upload_write(errand_group *ERRAND_NONNULL group,
                                             uint64_t id, errand_bytes bytes);
/*
 * The same without a copy: the bytes are borrowed, and must not change, until
 * `release` is called with `context`. `release` is called once, on any thread,
 * whatever this function returns and perhaps before it returns. That happens
 * when libcurl has taken the bytes, when the request ends, or at once if no
 * request takes them. `release` must not block, and must not call the group.
 * NULL: the bytes stay valid for ever.
 */
ERRAND_API errand_status errand_upload_lend(
    errand_group *ERRAND_NONNULL group, uint64_t id, errand_bytes bytes,
    void (*ERRAND_NULLABLE release)(void *ERRAND_NULLABLE context),
    void *ERRAND_NULLABLE context);
/* No more bytes will come. Same rules. */
ERRAND_API errand_status
errand_upload_finish(errand_group *ERRAND_NONNULL group, uint64_t id);
/* The source failed: ends the request with UPLOAD_FAILED. Same rules. */
ERRAND_API errand_status errand_upload_fail(errand_group *ERRAND_NONNULL group,
                                            uint64_t id);

ERRAND_END_DECLS

#endif
