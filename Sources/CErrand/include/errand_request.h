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
  /* `body`: errand_submit copies it into the block of the request. Where
     `body_release` is set, it is borrowed until that is called. */
  ERRAND_BODY_MEMORY ERRAND_SWIFT_NAME("memory") = 1,
  /* `body_fd`: a regular file, from `body_offset` on, `body_length` bytes.
     errand_submit duplicates it. Its own offset is neither used nor moved. */
  ERRAND_BODY_DESCRIPTOR ERRAND_SWIFT_NAME("descriptor") = 2,
  /* `body_path`: errand_submit opens it. Otherwise like a descriptor. */
  ERRAND_BODY_FILE ERRAND_SWIFT_NAME("file") = 3,
  /* Written by errand_upload_write. `body_length` is set where it is known. */
  ERRAND_BODY_STREAM ERRAND_SWIFT_NAME("stream") = 4
} errand_body_kind;

/* Which waiting request starts first where a limit makes requests wait, over
   all origins, options and loops of a group. Origins whose best requests have
   the same priority take turns. No priority lets a request pass the limit of
   its own origin. A place that several loops want at the same moment goes to
   the fastest of them. On HTTP/2 the priority is also the weight of the stream
   (CURLOPT_STREAM_WEIGHT): 16, 8 and 32. */
typedef enum ERRAND_CLOSED_ENUM errand_priority {
  ERRAND_PRIORITY_DEFAULT ERRAND_SWIFT_NAME("normal") = 0,
  ERRAND_PRIORITY_LOW ERRAND_SWIFT_NAME("low") = 1,
  ERRAND_PRIORITY_HIGH ERRAND_SWIFT_NAME("high") = 2
} errand_priority;

typedef enum ERRAND_CLOSED_ENUM errand_authentication {
  ERRAND_AUTHENTICATION_NONE ERRAND_SWIFT_NAME("none") = 0,
  /* Digest (RFC 7616). The first try has no credentials, and no body. libcurl
     answers the challenge within the same request. The limits count all heads
     together. The records describe the last response alone, which is a 401
     where the password is wrong. The easy handle is not used again. On libcurl
     before 8.7 such requests use HTTP/1.1: over HTTP/2, uploads beside a first
     try would never end there. */
  ERRAND_AUTHENTICATION_DIGEST ERRAND_SWIFT_NAME("digest") = 1
} errand_authentication;

enum {
  /* Delivers HEAD and CHUNK records instead of buffering the body. */
  ERRAND_REQUEST_STREAM_RESPONSE = 1,
  /* Uses no kept connection, and does not keep this one. */
  ERRAND_REQUEST_FRESH_CONNECTION = 2,
  /* libcurl sends a request again when a kept connection turns out dead before
     any byte of a response. For methods that are not idempotent (RFC 9110
     9.2.2) that is an error, CONNECTION_LOST, unless this flag is set. The
     engine cannot send a stream again of which bytes have gone out. Where that
     would be allowed, here or in a round of Digest, the request ends with
     UPLOAD_NOT_REPLAYABLE, and the caller may submit it again. */
  ERRAND_REQUEST_ALLOW_REPLAY = 4,
  /* Also delivers STARTED, SENT and, where the response is buffered, HEAD. */
  ERRAND_REQUEST_REPORT_EVENTS = 8,
  /* Also deliver PROGRESS. */
  ERRAND_REQUEST_REPORT_PROGRESS = 16,
  /* Neither sends nor keeps the group's cookies. */
  ERRAND_REQUEST_NO_COOKIES = 32,
  /* Counts the bytes of the body against the limits and drops them: the
     response has no body. Ignored where the response is streamed. For load
     generators. */
  ERRAND_REQUEST_DISCARD_BODY = 64,
  /* A WebSocket (RFC 6455): a GET of a ws or wss URL with a streamed response,
     a streamed body of unknown length, and a Sec-WebSocket-Key of the caller's.
     libcurl adds the other fields of the handshake. The head of a 101 is
     reported like any other. From then on the bytes of the body are the
     server's frames and those of the upload are the caller's, unchanged: the
     caller masks, checks and joins frames. The idle and total timeouts and the
     limits of the body end with the handshake. HTTP/1.1 only, by CONNECT
     through a proxy. A response with another status has no body, as libcurl
     does not read it. UNSUPPORTED_FEATURE without ERRAND_FEATURE_WEBSOCKET. */
  ERRAND_REQUEST_WEBSOCKET = 128
};

/* body_length where it is not known, and for "to the end of the file". */
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
  /* Start to ready to send: DNS, TCP, TLS. 0: libcurl's own 300 s. At most four
     requests connect at once to a host that has not answered yet. Where all of
     them end with RESOLVE_FAILED, CONNECT_FAILED or TIMEOUT_CONNECT, the
     requests that waited for them and have no longer timeout end with the same
     status. Later requests try the host again. */
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

  errand_authentication authentication;
  errand_bytes username; /* no control character, no ':', not empty */
  errand_bytes password; /* no NUL */

  errand_priority priority;
  uint32_t flags; /* ERRAND_REQUEST_* */
  uint64_t tag;   /* echoed in every record */

  /* Set by errand_submit. The id is written last, with release order, when the
     request is in the queue: a thread that sees it may cancel, pause, ... */
  uint64_t id;          /* never 0 once accepted */
  errand_status status; /* OK: accepted */
} errand_request;

/*
 * Checks, copies and queues requests, waking each loop at most once.
 *
 * Each item is independent. It is accepted (status OK), and one COMPLETION
 * record follows, perhaps before this returns; or it is refused, its status
 * says why, and no record follows.
 *
 * Thread: any, loop threads included.
 * Owns: the items stay the caller's. `status` is written before the request can
 * complete, `id` when the request may be named, perhaps after its first record.
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
 * Returns: the status with which errand_submit would refuse it, or OK.
 */
ERRAND_API errand_status
errand_request_validate(const errand_request *ERRAND_NONNULL request);

/*
 * Ends a request with CANCELLED, in any phase. Its connection is closed
 * (HTTP/1.1) or its stream is reset (HTTP/2).
 * Thread: any.
 * Returns: OK, also where the id is unknown or the request has ended;
 * SHUT_DOWN, FORKED, OUT_OF_MEMORY.
 */
ERRAND_API errand_status errand_cancel(errand_group *ERRAND_NONNULL group,
                                       uint64_t id);

/*
 * Stops the request's bytes until errand_resume or, where it has not started,
 * keeps it from starting. The idle and first-byte timeouts stand still
 * meanwhile, the others run. Calls are not counted: one resume ends two pauses.
 * Thread: any.
 * Returns: like errand_cancel.
 */
ERRAND_API errand_status errand_pause(errand_group *ERRAND_NONNULL group,
                                      uint64_t id);
ERRAND_API errand_status errand_resume(errand_group *ERRAND_NONNULL group,
                                       uint64_t id);

/*
 * Streamed responses: `bytes` of the body were consumed, and as many more may
 * come.
 * Thread: any.
 * Returns: like errand_cancel.
 */
ERRAND_API errand_status errand_grant(errand_group *ERRAND_NONNULL group,
                                      uint64_t id, uint64_t bytes);

/*
 * Streamed uploads: copies bytes to send. Bytes beyond the credit end the
 * request with UPLOAD_OVERRUN. Fewer or more bytes than a given body_length end
 * it with INVALID_BODY.
 * Thread: any. Where two threads write, the caller keeps the order.
 * Returns: like errand_cancel; INVALID_ARGUMENT for bytes at NULL.
 */
ERRAND_API errand_status errand_upload_write(errand_group *ERRAND_NONNULL group,
                                             uint64_t id, errand_bytes bytes);
/* No more bytes will come. Same rules. */
ERRAND_API errand_status
errand_upload_finish(errand_group *ERRAND_NONNULL group, uint64_t id);
/* The source failed: ends the request with UPLOAD_FAILED. Same rules. */
ERRAND_API errand_status errand_upload_fail(errand_group *ERRAND_NONNULL group,
                                            uint64_t id);

ERRAND_END_DECLS

#endif
