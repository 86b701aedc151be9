/*
 * Records: what the receiver gets, as an array for each loop turn, and
 * payloads, the memory of responses.
 */
#ifndef ERRAND_RECORD_H
#define ERRAND_RECORD_H

#include "errand_status.h"

ERRAND_BEGIN_DECLS

/* The head, body, trailers and error text of a response, in one allocation. */
typedef struct errand_payload errand_payload;

typedef enum ERRAND_CLOSED_ENUM errand_record_kind {
  /* The request has ended. The last record with its id. */
  ERRAND_RECORD_COMPLETION ERRAND_SWIFT_NAME("completion") = 0,
  /* Streamed responses, and requests with REPORT_EVENTS: status and header
     block are known. Not for interim responses (1xx). */
  ERRAND_RECORD_HEAD ERRAND_SWIFT_NAME("head") = 1,
  /* Streamed responses: body bytes, `bytes_received` of them. */
  ERRAND_RECORD_CHUNK ERRAND_SWIFT_NAME("chunk") = 2,
  /* Streamed uploads: `bytes_sent` more bytes may be written. */
  ERRAND_RECORD_UPLOAD_CREDIT ERRAND_SWIFT_NAME("uploadCredit") = 3,
  /* REPORT_EVENTS: the request left the queue. `timings.queue` says how long it
     waited. */
  ERRAND_RECORD_STARTED ERRAND_SWIFT_NAME("started") = 4,
  /* REPORT_EVENTS: the connection is ready and sending begins. Reported once,
     also where libcurl sends again. */
  ERRAND_RECORD_SENT ERRAND_SWIFT_NAME("sent") = 5,
  /* REPORT_PROGRESS: `bytes_sent` and `bytes_received` so far, and `totals`.
     The numbers never fall. There is at most one such record each 100 ms, and
     one with the last numbers right before the completion of a request that was
     started. */
  ERRAND_RECORD_PROGRESS ERRAND_SWIFT_NAME("progress") = 6
} errand_record_kind;

enum {
  /* The connection had served a request before. */
  ERRAND_RECORD_REUSED = 1,
  /* The kept connection turned out dead, and libcurl sent the request again on
     a new one (only where replay is allowed). */
  ERRAND_RECORD_REPLAYED = 2,
  /* The response body was decompressed. Not set where there was no body,
     whatever the Content-Encoding field says (HEAD, 204, 304). */
  ERRAND_RECORD_DECODED = 4
};

/* Microseconds since the request started in libcurl; 0 where a phase did not
   happen (CURLINFO_*_TIME_T). A kept connection (ERRAND_RECORD_REUSED) was not
   looked up, connected and secured for this request: `resolved`, `connected`
   and `secured` are 0. `queue`: from submission to that start. */
typedef struct errand_timings {
  uint64_t queue;
  uint64_t resolved;
  uint64_t connected;
  uint64_t secured;
  uint64_t sent; /* about to send the request */
  uint64_t first_byte;
  uint64_t total; /* start to end, without the queue */
} errand_timings;

/* Body bytes on the wire; ERRAND_LENGTH_UNKNOWN where not known. */
typedef struct errand_totals {
  int64_t to_send;
  int64_t to_receive;
} errand_totals;

typedef struct errand_record {
  uint64_t id;
  uint64_t tag;                            /* the request's own, echoed */
  errand_payload *ERRAND_NULLABLE payload; /* owned by the receiver */
  int32_t kind;                            /* errand_record_kind */
  int32_t status;                          /* errand_status */
  int32_t curl_code;                       /* CURLcode beneath it */
  int32_t os_error;                        /* the errno of the failure, or 0 */
  uint16_t http_status;                    /* 0: there is no response head */
  uint8_t http_major;
  uint8_t http_minor;
  uint32_t flags;          /* ERRAND_RECORD_* */
  uint64_t bytes_received; /* body bytes on the wire */
  uint64_t bytes_sent;     /* body bytes on the wire */
  union {
    errand_timings timings; /* of completions; of heads, as far as known */
    errand_totals totals;   /* progress */
  };
} errand_record;

/*
 * The raw header block of the last response head: the status line and the
 * fields, each line ended by CRLF, without the empty line. Empty: no head.
 * Thread: any, while the payload exists.
 * Owns: borrowed from the payload.
 */
ERRAND_API errand_bytes
errand_payload_head(const errand_payload *ERRAND_NONNULL payload);
/* The body, decoded. Same rules. */
ERRAND_API errand_bytes
errand_payload_body(const errand_payload *ERRAND_NONNULL payload);
/* Trailer fields in the form of the head. Same rules. */
ERRAND_API errand_bytes
errand_payload_trailers(const errand_payload *ERRAND_NONNULL payload);
/* libcurl's text for a failure, in UTF-8. Same rules. */
ERRAND_API errand_bytes
errand_payload_error_text(const errand_payload *ERRAND_NONNULL payload);
/* Numeric remote address and port "127.0.0.1:80", "[::1]:80". Same rules. */
ERRAND_API errand_bytes
errand_payload_remote_address(const errand_payload *ERRAND_NONNULL payload);
/* Numeric local address and port. Same rules. */
ERRAND_API errand_bytes
errand_payload_local_address(const errand_payload *ERRAND_NONNULL payload);

/* Frees a payload; NULL is fine. Thread: any, once. */
ERRAND_API void errand_payload_free(errand_payload *ERRAND_NULLABLE payload);

/*
 * Runs on a loop thread at the end of a turn, with every record of that turn,
 * in the order in which the events happened. It must not block. It may submit,
 * cancel and grant. It must not destroy the group, nor stop the group and wait
 * for that.
 * Owns: `records` is valid during the call; every payload belongs to the
 * callee.
 */
typedef void (*errand_record_callback)(void *ERRAND_NULLABLE context,
                                       errand_record *ERRAND_NONNULL records,
                                       size_t count);

ERRAND_END_DECLS

#endif
