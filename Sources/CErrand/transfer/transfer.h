/*
 * A transfer: one accepted request in one block. The caller's thread makes the
 * transfer. From the push on the transfer's loop owns it, and frees it when the
 * completion record is written.
 */
#ifndef ERRAND_TRANSFER_TRANSFER_H
#define ERRAND_TRANSFER_TRANSFER_H

#include <curl/curl.h>
#include <stdbool.h>

#include "base/list.h"
#include "include/errand_request.h"
#include "base/wheel.h"
#include "queue/command.h"
#include "transfer/response.h"
#include "http/url.h"

struct errand__origin;
struct errand__slot;
struct errand__source;

typedef enum __attribute__((packed)) errand__phase {
  ERRAND__WAITING = 0,    /* accepted; in its origin's queue */
  ERRAND__PARKED = 1,     /* paused before its start; in no queue */
  ERRAND__CONNECTING = 2, /* in libcurl: resolving, connecting, handshaking */
  ERRAND__SENDING = 3,    /* has a connection; no byte of the head yet */
  ERRAND__RECEIVING = 4,  /* the head has begun */
  ERRAND__FINISHED = 5    /* its completion record is written */
} errand__phase;

/* How the method and the body are set on the handle. */
typedef enum __attribute__((packed)) errand__send {
  ERRAND__SEND_GET = 0,
  ERRAND__SEND_HEAD = 1,
  ERRAND__SEND_CUSTOM = 2, /* another method, no body */
  ERRAND__SEND_MEMORY = 3, /* CURLOPT_POSTFIELDS */
  ERRAND__SEND_READ = 4    /* CURLOPT_READFUNCTION */
} errand__send;

/* Milliseconds, ERRAND_TIMEOUT_MAX at most; 0: none. */
typedef struct errand__timeouts {
  uint32_t queue;
  uint32_t connect;
  uint32_t first_byte;
  uint32_t idle;
  uint32_t total;
} errand__timeouts;

/* The largest limit, far above what any server takes, so that sums do not
   overflow. */
#define ERRAND__LIMIT_MAX ((int64_t) 1 << 50)

typedef struct errand__limits {
  int64_t header_bytes;
  int64_t header_count;
  int64_t body_bytes;
  int64_t decoded_bytes;
} errand__limits;

/* A limit of 0 means the default. */
static inline void errand__limit_default(int64_t *limit, int64_t otherwise) {
  if (*limit == 0)
    *limit = otherwise;
}

/* The body of the request. */
typedef struct errand__upload {
  struct errand__source *source; /* NULL: it is in memory */
  const void *body;
  size_t body_length;
  void (*body_release)(void *context);
  void *body_release_context;
  curl_off_t seen_bytes; /* as last seen by errand__deadline_look */
  bool done;             /* the request is sent: the first-byte timeout runs */
  bool starved;          /* the source has nothing ready */
  bool peer_gone;        /* the server hung up while the source was starved */
  bool left_out; /* the first round of Digest is sent without the body; if the
                    server answers it without a challenge, libcurl resends
                    the request */
} errand__upload;

/* Why a transfer is paused, and the pause that libcurl knows of. */
typedef struct errand__pause {
  bool asked;         /* by errand_pause */
  bool out_of_credit; /* a streamed response */
  int bits;           /* last passed to curl_easy_pause, or: */
#define ERRAND__PAUSE_UNKNOWN (-1)
} errand__pause;

/* The connections that the transfer has had, and the present one. */
typedef struct errand__attempt {
  uint64_t connecting_ms;     /* when it last began to connect */
  int64_t ready_header_bytes; /* header_bytes when it was last ready to send */
  uint64_t retry_at_ms;       /* while it awaits a descriptor */
  int descriptor_error;       /* errno of the socket() that failed last */
  uint8_t descriptor_tries;
  /* Sends after the first that no record has reported yet, 255 at most. */
  uint8_t resends;        /* because a connection had died */
  uint8_t rounds;         /* of an authentication */
  bool awaits_descriptor; /* until retry_at_ms */
  bool opened;            /* has a new socket, on which nothing was sent */
  bool wants_fresh; /* errand__collect passes the transfer to libcurl once more,
                       for a new connection */
  uint16_t local_port;  /* of the connection that was ready last */
  uint16_t stale_error; /* the errno that the handle had when the last new
                           connection was ready, of an earlier attempt; or 0 */
  /* Bits, so that the counters above cost no memory. */
  bool address_refused : 1; /* at least one, by the address filter */
  bool reconnecting : 1;    /* had a connection, and libcurl makes another */
  bool replayed : 1;        /* was resent on another connection */
  bool round_replayed : 1;  /* the same, within this round */
  bool http2 : 1;     /* the connection that was ready last may be of HTTP/2 */
  bool sent_body : 1; /* at least once, before the present send */
  bool connected : 1; /* was ready to send at least once */
  bool left_connection : 1;    /* a reused one, whose peer the filter refused */
  bool counted_connecting : 1; /* in its origin's `connecting` */
  bool counted_http2 : 1;      /* in its origin's `http2_active` */
} errand__attempt;

/* The part of the block that only transfers with PROGRESS records have. */
typedef struct errand__progress {
  errand__list link; /* the loop's `progressing`, while started */
  struct errand__transfer *transfer;
  uint64_t sent; /* as last reported */
  uint64_t received;
} errand__progress;

typedef struct errand__transfer {
  errand__command command; /* first: the queue's node */
  errand__list link;       /* its origin's queue, or the loop's started list */
  struct errand__transfer *next_by_id;
  errand__wheel_node deadline;

  uint64_t id;
  uint64_t tag;
  errand_options *options; /* NULL: the group's; else one reference */
  struct errand__origin *origin;
  struct errand__slot *slot; /* while started */

  errand_status reason; /* set in a callback that made libcurl give up */
  uint32_t flags;       /* ERRAND_REQUEST_* */
  errand__timeouts timeouts;
  errand__phase phase;
  errand__send send;
  uint8_t priority; /* errand_priority */
  bool idempotent;
  bool own_host;    /* has a Host field */
  bool without_jar; /* neither sends nor keeps the group's cookies */
  bool may_http2;   /* may be a stream of an HTTP/2 connection */
  bool long_text;   /* has long texts, which libcurl copies */
  bool dropped;     /* has ended: the callbacks take nothing more */
  bool in_review;   /* on the agenda's review list */
  bool look_again;  /* see errand__loop_look_again */
  bool in_flush;    /* on the agenda's flush list */
  errand__list review_link;
  errand__list flush_link;

  errand__url url_parts; /* points into `url` */
  uint64_t origin_hash;
  uint64_t identity; /* of its realm: the identity of its options, unless it is
                        kept apart from HTTP/2 (identity_of) */
  const char *url;
  const char *method;
  struct curl_slist *headers; /* nodes inside this block */

  const char *username; /* Digest; NULL: none */
  char *password;

  uint64_t submitted_ns;
  uint64_t started_ns;
  uint64_t submitted_ms;
  uint64_t heap_failures; /* errand__heap_failures of the loop's thread when it
                             started */
  uint64_t sent_ms;       /* ready to send, or last byte of the body sent */
  uint64_t activity_ms;   /* when a byte last moved in either direction */
  curl_off_t seen_downloaded; /* as last seen by errand__deadline_look */

  errand__limits limits;
  errand__upload upload;
  errand__pause pause;
  errand__attempt attempt;
  const errand_body_memory
      *body_memory; /* of the response; NULL: the payload */
  errand__response response;
} errand__transfer;

/*
 * Checks a request and copies it into a block.
 * Thread: any.
 * Owns: *out is the caller's, for errand__transfer_free. A failure does not
 * call the request's body_release.
 * Returns: the status that errand_submit documents for an item.
 */
errand_status errand__transfer_create(const errand_request *request,
                                      errand_options *options,
                                      errand__transfer **out);

/* The part for PROGRESS records, which follows the struct in its block.
   Returns: NULL if the request has none. */
static inline errand__progress *errand__progress_of(errand__transfer *t) {
  return t->flags & ERRAND_REQUEST_REPORT_PROGRESS
             ? (errand__progress *) (void *) (t + 1)
             : NULL;
}

static inline bool errand__is_websocket(const errand__transfer *t) {
  return (t->flags & ERRAND_REQUEST_WEBSOCKET) != 0;
}

/* Whether the request may be resent while no byte of a response has come. */
static inline bool errand__may_replay(const errand__transfer *t) {
  return t->idempotent || (t->flags & ERRAND_REQUEST_ALLOW_REPLAY) != 0;
}

static inline bool errand__is_streamed(const errand__transfer *t) {
  return (t->flags & ERRAND_REQUEST_STREAM_RESPONSE) != 0;
}

/* Whether a streamed response's HEAD record was written: chunks may follow. */
static inline bool errand__head_was_sent(const errand__transfer *t) {
  return t->response.head_reported && errand__is_streamed(t);
}

static inline bool errand__is_connecting(const errand__transfer *t) {
  return t->phase <= ERRAND__CONNECTING || t->attempt.reconnecting;
}

/* The longest body that libcurl sends together with the head
   (MAX_INITIAL_POST_SIZE). */
#define ERRAND__SENT_AT_ONCE 65536

/* The bytes of the request's body; ERRAND_LENGTH_UNKNOWN if not known. */
int64_t errand__transfer_upload_length(const errand__transfer *transfer);

/* Frees the block and what belongs to it, and calls body_release.
   Thread: any, when no loop has the transfer. */
void errand__transfer_free(errand__transfer *transfer);

#endif
