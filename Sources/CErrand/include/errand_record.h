/*
 * Records, which the receiver gets as an array for each loop turn, and
 * payloads, which are the memory of responses.
 */
#ifndef ERRAND_RECORD_H
#define ERRAND_RECORD_H

#include "errand_status.h"

ERRAND_BEGIN_DECLS

/* The head, body, trailers and error text of a response, in one allocation
   unless the body is in the caller's memory. */
typedef struct errand_payload errand_payload;

/*
 * The caller's memory for the bodies of responses. Each payload with a body has
 * one block of this memory. The core writes the output of libcurl or of a
 * decoder into the block, while nobody else knows of the block.
 *
 * `create` and `grow` run on a loop thread, `release` on any. None of them may
 * block or call the group. `*capacity` is the number of bytes needed. The
 * callee sets it to the size of the block, which may be larger. If there is no
 * memory, `create` and `grow` return NULL, and the request ends with
 * OUT_OF_MEMORY. The request also ends with OUT_OF_MEMORY if they set
 * `*capacity` to fewer bytes than were needed.
 */
typedef struct errand_body_memory {
  void *ERRAND_NULLABLE context;
  /* Makes a block. *owner names it in the other calls. */
  void *ERRAND_NULLABLE (*ERRAND_NONNULL create)(
      void *ERRAND_NULLABLE context, size_t *ERRAND_NONNULL capacity,
      void *ERRAND_NULLABLE *ERRAND_NONNULL owner);
  /* Makes a block larger, perhaps at another address. The first `used` bytes
     stay as they are. On NULL the block is unchanged. The core asks only for
     the bytes that it needs at the moment: the callee chooses the growth
     factor. */
  void *ERRAND_NULLABLE (*ERRAND_NONNULL grow)(void *ERRAND_NULLABLE context,
                                               void *ERRAND_NULLABLE owner,
                                               size_t used,
                                               size_t *ERRAND_NONNULL capacity);
  /* Once, when the payload is freed. */
  void (*ERRAND_NONNULL release)(void *ERRAND_NULLABLE owner);
} errand_body_memory;

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
     even if libcurl resends the request. */
  ERRAND_RECORD_SENT ERRAND_SWIFT_NAME("sent") = 5,
  /* REPORT_PROGRESS: `bytes_sent` and `bytes_received` so far, and `totals`.
     The numbers never fall. There is at most one such record each 100 ms, and
     one with the last numbers right before the completion of a request that was
     started. */
  ERRAND_RECORD_PROGRESS ERRAND_SWIFT_NAME("progress") = 6,
  /* REPORT_CONNECTION: the connection is ready. This record comes before SENT,
     and once more for each further connection that the request is sent on.
     `flags` has REUSED, and `timings` has the phases so far. The payload has
     the addresses. errand_payload_head returns lines "name: value" CRLF in this
     order; a line whose value is not known is left out. A control character in
     a value is replaced by a '?'.
     - proxy: its URL, without credentials. libcurl before 8.7 does not report
       it if there is a list of hosts without proxy.
     - tls-version: "TLSv1.3". All lines from here on need https, and a libcurl
       that uses the OpenSSL of the process.
     - tls-cipher: "TLS_AES_256_GCM_SHA384".
     - tls-protocol: chosen by ALPN, "h2" or "http/1.1".
     - tls-resumed: "1" if a TLS session was resumed.
     - tls-error: why the certificate is not trusted, if the options accept it
       anyway. A certificate for another host is no such reason.
     - subject: begins a certificate. The first one is the server's. The others
       are the further certificates that the server sent, 7 at most. A resumed
       session may have no others.
     - issuer.
     - not-before, not-after: seconds since 1970.
     - sha256: of the certificate, 64 hexadecimal digits.
     - name: "DNS:localhost", "IP:127.0.0.1", "URI:..." or "email:..."; one line
       for each subjectAltName, 100 at most. */
  ERRAND_RECORD_CONNECTED ERRAND_SWIFT_NAME("connected") = 7
} errand_record_kind;

enum {
  /* The connection had served a request before. */
  ERRAND_RECORD_REUSED = 1,
  /* The reused connection turned out to be dead, and libcurl resent the request
     on a new one (only if replay is allowed). */
  ERRAND_RECORD_REPLAYED = 2,
  /* The response body was decompressed. Not set if there was no body, whatever
     the Content-Encoding field says (HEAD, 204, 304). */
  ERRAND_RECORD_DECODED = 4
};

/* Microseconds since the request started in libcurl; 0 if a phase did not
   happen (CURLINFO_*_TIME_T). With a reused connection (ERRAND_RECORD_REUSED)
   there was no lookup, connect or TLS handshake for this request: `resolved`,
   `connected` and `secured` are 0. `queue` is the time from the submission to
   that start. */
typedef struct errand_timings {
  uint64_t queue;
  uint64_t resolved;
  uint64_t connected;
  uint64_t secured;
  uint64_t sent; /* about to send the request */
  uint64_t first_byte;
  uint64_t total; /* start to end, without the queue */
} errand_timings;

/* Body bytes on the wire; ERRAND_LENGTH_UNKNOWN if not known. */
typedef struct errand_totals {
  int64_t to_send;
  int64_t to_receive;
} errand_totals;

/*
 * `head_bytes_sent` and `head_bytes_received` are set in HEAD and COMPLETION if
 * the request has COUNT_HEADS. They count the bytes of the request lines,
 * status lines, fields and empty lines so far, as HTTP/1.1 text. HTTP/2 sends
 * less (HPACK, RFC 7541). Interim responses, trailers, each round of an
 * authentication and libcurl's resends are included. With some versions,
 * head_bytes_sent also includes a CONNECT to a proxy. head_bytes_sent
 * (CURLINFO_REQUEST_SIZE) is 0 if it is not known: with libcurl 8.7; if libcurl
 * resent a body; and before 8.7 if a body in memory was sent in several pieces,
 * the first of which had the head.
 */

/*
 * `resends` and `rounds` of HEAD and COMPLETION count how often libcurl has
 * begun to send the request after the first time; 255 at most. Sends that an
 * earlier record of the request has reported are not counted again.
 * - resends: on another connection, because the previous one died or refused
 *   the stream. Only if the request may be resent.
 * - rounds: with the answer to a challenge of an authentication (Digest).
 */
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
  uint16_t flags;               /* ERRAND_RECORD_* */
  uint8_t resends;              /* see above */
  uint8_t rounds;               /* see above */
  uint64_t bytes_received;      /* body bytes on the wire */
  uint64_t bytes_sent;          /* body bytes on the wire */
  uint32_t head_bytes_sent;     /* see above */
  uint32_t head_bytes_received; /* see above */
  union {
    errand_timings timings; /* completion; others: as far as known */
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
/* The owner of the body, as errand_body_memory's `create` named it. Same rules.
   NULL: the body is in the payload, or there is none. */
ERRAND_API void *ERRAND_NULLABLE
errand_payload_body_owner(const errand_payload *ERRAND_NONNULL payload);
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
 * cancel and grant. It must not destroy the group, and must not stop the group
 * and wait for its end.
 * Owns: `records` is valid during the call; every payload belongs to the
 * callee.
 */
typedef void (*errand_record_callback)(void *ERRAND_NULLABLE context,
                                       errand_record *ERRAND_NONNULL records,
                                       size_t count);

ERRAND_END_DECLS

#endif
