/*
 * What to send: the description of one request, and what may be done to it
 * while it runs.
 */
#ifndef ERRAND_REQUEST_H
#define ERRAND_REQUEST_H

#include "errand_options.h"
#include "errand_record.h"

ERRAND_BEGIN_DECLS

typedef struct errand_group errand_group;

typedef enum ERRAND_CLOSED_ENUM errand_body_kind {
  ERRAND_BODY_NONE ERRAND_SWIFT_NAME("none") = 0,
  /* `body`: copied into the request's own block by errand_submit, or, where
     `body_release` is set, borrowed until that is called. */
  ERRAND_BODY_MEMORY ERRAND_SWIFT_NAME("memory") = 1,
  /* `body_fd`: a regular file, from `body_offset` for `body_length` bytes.
     Duplicated by errand_submit; its own offset is neither used nor moved. */
  ERRAND_BODY_DESCRIPTOR ERRAND_SWIFT_NAME("descriptor") = 2,
  /* `body_path`: opened by errand_submit; otherwise like a descriptor. */
  ERRAND_BODY_FILE ERRAND_SWIFT_NAME("file") = 3,
  /* Written by errand_upload_write; `body_length` where it is known. */
  ERRAND_BODY_STREAM ERRAND_SWIFT_NAME("stream") = 4
} errand_body_kind;

/* Which waiting request starts first where a limit makes them wait, over all
   origins, options and loops of a group; origins of the same best priority take
   turns. It lets nobody pass a limit of the request's own origin, and a place
   that several loops want at the same moment goes to whichever is faster. Also
   the weight of its stream on HTTP/2 (CURLOPT_STREAM_WEIGHT): 16, 8 and 32. */
typedef enum ERRAND_CLOSED_ENUM errand_priority {
  ERRAND_PRIORITY_DEFAULT ERRAND_SWIFT_NAME("normal") = 0,
  ERRAND_PRIORITY_LOW ERRAND_SWIFT_NAME("low") = 1,
  ERRAND_PRIORITY_HIGH ERRAND_SWIFT_NAME("high") = 2
} errand_priority;

typedef enum ERRAND_CLOSED_ENUM errand_authentication {
  ERRAND_AUTHENTICATION_NONE ERRAND_SWIFT_NAME("none") = 0,
  /* Digest (RFC 7616). The first try goes without credentials and, where it
     has a body, without that; libcurl answers the challenge within the same
     request. All heads count together against the limits; the records tell of
     the last response alone, which is a 401 where the password is wrong. The
     easy handle is not used again. Over HTTP/1.1 on libcurl before 8.7, whose
     HTTP/2 has uploads wait for ever beside a first try. */
  ERRAND_AUTHENTICATION_DIGEST ERRAND_SWIFT_NAME("digest") = 1
} errand_authentication;

enum {
  /* Deliver HEAD and CHUNK records instead of buffering the body. */
  ERRAND_REQUEST_STREAM_RESPONSE = 1,
  /* Do not use a kept connection, and do not keep this one. */
  ERRAND_REQUEST_FRESH_CONNECTION = 2,
  /* libcurl sends a request again when a kept connection turns out dead
     before any response byte. For methods that are not idempotent (RFC 9110
     9.2.2) that is an error, CONNECTION_LOST, unless this is set. A stream of
     which bytes have gone out cannot be sent again by the engine: where it
     may be, here or in a round of Digest, the request ends with
     UPLOAD_NOT_REPLAYABLE, and the caller may submit it anew. */
  ERRAND_REQUEST_ALLOW_REPLAY = 4,
  /* Also deliver STARTED, SENT and, where the response is buffered, HEAD. */
  ERRAND_REQUEST_REPORT_EVENTS = 8,
  /* Also deliver PROGRESS. */
  ERRAND_REQUEST_REPORT_PROGRESS = 16,
  /* Neither send nor keep the group's cookies. */
  ERRAND_REQUEST_NO_COOKIES = 32,
  /* Count the body's bytes and limits and drop them: the response has no body.
     Ignored where it is streamed. For load generators. */
  ERRAND_REQUEST_DISCARD_BODY = 64,
  /* A WebSocket (RFC 6455): a GET of a ws or wss URL with a streamed response
     and a streamed body of unknown length, and with the caller's
     Sec-WebSocket-Key. libcurl adds the other fields of the handshake. The head
     of a 101 is told like any other; from then on the body's bytes are the
     frames of the server and the upload's are the caller's, as they are:
     masking, checking and joining them is the caller's. Timeouts of silence and
     in all and limits of the body end with the handshake. HTTP/1.1 alone, by
     CONNECT where there is a proxy. Another status is a response without its
     body, which libcurl does not read.
     UNSUPPORTED_FEATURE without ERRAND_FEATURE_WEBSOCKET. */
  ERRAND_REQUEST_WEBSOCKET = 128
};

/* body_length for "not known" and "to the end of the file". */
#define ERRAND_LENGTH_UNKNOWN ((int64_t) -1)

/* The largest timeout: 30 days in milliseconds. */
#define ERRAND_TIMEOUT_MAX ((int64_t) 2592000000)

/*
 * One request. Zero-initialise, then set what differs. Everything pointed to
 * is copied by errand_submit, but for a body with `body_release`.
 */
typedef struct errand_request {
  errand_bytes method; /* a token; empty: GET */
  /* Absolute, http or https, percent-encoded but for an IDN host; a fragment
     is not sent. */
  errand_bytes url;
  /* "Name: value\r\n" each (the last CRLF may be missing), or empty. */
  errand_bytes headers;

  errand_body_kind body_kind;
  int32_t body_fd;
  errand_bytes body;
  const char *ERRAND_NULLABLE body_path;
  uint64_t body_offset;
  int64_t body_length;
  /* Called once, on any thread, when `body` is needed no more; also when the
     item is accepted but not when it is refused. */
  void (*ERRAND_NULLABLE body_release)(void *ERRAND_NULLABLE context);
  void *ERRAND_NULLABLE body_release_context;

  /* NULL: the group's default. Retained while needed. */
  errand_options *ERRAND_NULLABLE options;

  /* Milliseconds, 0: none, at most ERRAND_TIMEOUT_MAX. */
  int64_t timeout_queue;      /* submission to start */
  int64_t timeout_connect;    /* start to ready to send: DNS, TCP, TLS;
                                 0: libcurl's own 300 s. Of a host that has
                                 not answered yet four requests at most connect
                                 at once; where all of them fail by
                                 RESOLVE_FAILED, CONNECT_FAILED or
                                 TIMEOUT_CONNECT, those that waited for them
                                 and name no longer time end with the same
                                 status. Later ones try the host again. */
  int64_t timeout_first_byte; /* last byte sent to first byte of the head */
  int64_t timeout_idle;       /* no byte either way, while neither paused nor
                                 out of credit; also where the source of a
                                 stream gives none */
  int64_t timeout_total;      /* submission to end */

  /* 0: the group's default. */
  int64_t limit_header_bytes;
  int64_t limit_header_count;
  int64_t limit_body_bytes;    /* bytes on the wire */
  int64_t limit_decoded_bytes; /* bytes after decompression */

  /* Streams: bytes that may arrive before the first errand_grant, and bytes
     that may be written before the first UPLOAD_CREDIT. 0: 256 KiB. */
  uint64_t response_credit;
  uint64_t upload_credit;

  errand_authentication authentication;
  errand_bytes username; /* no control character, no ':', not empty */
  errand_bytes password; /* no NUL */

  errand_priority priority;
  uint32_t flags; /* ERRAND_REQUEST_* */
  uint64_t tag;   /* echoed in every record */

  /* Set by errand_submit. The id is written last, with release order, once the
     request is in the queue: a thread that sees it may cancel, pause, ... */
  uint64_t id;          /* never 0 once accepted */
  errand_status status; /* OK: accepted */
} errand_request;

/*
 * Checks, copies and queues requests, waking each loop at most once. Each
 * item stands alone: it is accepted (status OK; one COMPLETION record will
 * come, and may come before this returns) or refused (its status says why;
 * nothing else will come).
 * Thread: any, loop threads included.
 * Owns: the items stay the caller's; `status` is written before the request can
 * complete, `id` once the request may be named, which a record may come before.
 * Returns: the number of accepted items. Item status: OK, INVALID_*,
 * UNSUPPORTED_SCHEME, UNSUPPORTED_FEATURE, FILE_UNREADABLE, QUEUE_FULL,
 * SHUT_DOWN, FORKED, OUT_OF_MEMORY, OUT_OF_DESCRIPTORS (for a file).
 */
ERRAND_API size_t errand_submit(errand_group *ERRAND_NONNULL group,
                                errand_request *ERRAND_NONNULL items,
                                size_t count);

/*
 * The checks of errand_submit alone; opens and sends nothing.
 * Thread: any.  Returns: what errand_submit would refuse it with, or OK.
 */
ERRAND_API errand_status
errand_request_validate(const errand_request *ERRAND_NONNULL request);

/*
 * Ends a request with CANCELLED, wherever it is. Its connection is closed
 * (HTTP/1.1) or its stream reset (HTTP/2).
 * Thread: any.
 * Returns: OK, also where the id is unknown or has ended (it may just have);
 * SHUT_DOWN, FORKED, OUT_OF_MEMORY.
 */
ERRAND_API errand_status errand_cancel(errand_group *ERRAND_NONNULL group,
                                       uint64_t id);

/*
 * Stops moving bytes, or, before the start, keeps the request from starting,
 * until errand_resume. Idle and first-byte timeouts stand still meanwhile;
 * the others go on. Does not count: pause twice, resume once.
 * Thread: any.  Returns: like errand_cancel.
 */
ERRAND_API errand_status errand_pause(errand_group *ERRAND_NONNULL group,
                                      uint64_t id);
ERRAND_API errand_status errand_resume(errand_group *ERRAND_NONNULL group,
                                       uint64_t id);

/*
 * Streamed responses: `bytes` of the body have been consumed, as many more
 * may come.
 * Thread: any.  Returns: like errand_cancel.
 */
ERRAND_API errand_status errand_grant(errand_group *ERRAND_NONNULL group,
                                      uint64_t id, uint64_t bytes);

/*
 * Streamed uploads: copies bytes to send. Writing beyond the credit ends the
 * request with UPLOAD_OVERRUN; fewer or more bytes than a given body_length,
 * with INVALID_BODY.
 * Thread: any; of two threads the caller keeps the order.
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
