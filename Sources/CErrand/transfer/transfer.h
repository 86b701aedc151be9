/*
 * One accepted request: one block, made on the caller's thread, owned by its
 * loop from the push on, freed when its completion record is written.
 */
#ifndef ERRAND_TRANSFER_TRANSFER_H
#define ERRAND_TRANSFER_TRANSFER_H

#include <curl/curl.h>
#include <stdbool.h>

#include "base/list.h"
#include "include/errand_request.h"
#include "base/wheel.h"
#include "queue/command.h"
#include "http/decode.h"
#include "http/url.h"

struct errand__origin;
struct errand__progress;
struct errand__slot;
struct errand__source;

typedef enum errand__phase {
  ERRAND__WAITING = 0,    /* accepted; in its origin's queue */
  ERRAND__PARKED = 1,     /* paused before its start; in no queue */
  ERRAND__CONNECTING = 2, /* in libcurl: resolving, connecting, handshaking */
  ERRAND__SENDING = 3,    /* has a connection; no byte of the head yet */
  ERRAND__RECEIVING = 4,  /* the head has begun */
  ERRAND__FINISHED = 5    /* its record is written */
} errand__phase;

/* How the method and body are told to libcurl. */
typedef enum errand__send {
  ERRAND__SEND_GET = 0,
  ERRAND__SEND_HEAD = 1,
  ERRAND__SEND_CUSTOM = 2, /* another method, no body */
  ERRAND__SEND_MEMORY = 3, /* CURLOPT_POSTFIELDS */
  ERRAND__SEND_READ = 4    /* CURLOPT_READFUNCTION */
} errand__send;

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
  struct errand__source *source;
  struct errand__progress *progress; /* in this block; NULL: not reported */

  errand__phase phase;
  errand__send send;
  errand_priority priority;
  uint32_t flags;       /* ERRAND_REQUEST_* */
  errand_status reason; /* set in a callback that made libcurl give up */

  bool idempotent;
  bool own_host;      /* has a Host field */
  bool without_jar;   /* has no part in the group's cookies */
  bool paused;        /* by errand_pause */
  bool out_of_credit; /* streamed response */
  bool starved;       /* the upload source has nothing ready */
  int paused_bits;    /* what curl_easy_pause was last told, or: */
#define ERRAND__PAUSE_UNKNOWN (-1)
  bool in_review;  /* on the loop's review list */
  bool look_again; /* see errand__loop_look_again */
  bool in_flush;   /* on the loop's flush list */
  errand__list review_link;
  errand__list flush_link;

  errand__url url_parts; /* points into `url` */
  uint64_t origin_hash;
  const char *url;
  const char *method;
  struct curl_slist *headers; /* nodes inside this block */

  const char *username; /* Digest; NULL: none */
  char *password;

  const void *body;
  size_t body_length;
  void (*body_release)(void *context);
  void *body_release_context;

  uint64_t submitted_ns;
  uint64_t started_ns;
  uint64_t submitted_ms;
  uint64_t heap_failures; /* of the loop's thread, as it started */
  uint64_t connecting_ms; /* began to connect, the last time */
  uint64_t sent_ms;       /* ready to send, or last upload progress */
  uint64_t activity_ms;   /* last byte either way */
  int64_t timeout_queue;
  int64_t timeout_connect;
  int64_t timeout_first_byte;
  int64_t timeout_idle;
  int64_t timeout_total;

  int64_t limit_header_bytes;
  int64_t limit_header_count;
  int64_t limit_body_bytes;
  int64_t limit_decoded_bytes;

  curl_off_t seen_uploaded; /* by the last look of the deadline */
  curl_off_t seen_downloaded;

  /* Response, written by the sink. */
  int64_t header_bytes; /* all heads of this request together */
  int64_t header_count;
  int64_t content_length; /* as said; -1: not said */
  int64_t body_taken;     /* of those bytes, still encoded */
  int64_t body_bytes;     /* as delivered to the sink */
  errand_payload *payload;
  /* Streamed: bytes that may still come; below 0 by what one read brought
     beyond, but not where it is decoded. */
  int64_t credit;
  int64_t ready_header_bytes; /* header_bytes when it last was ready to send */
  uint16_t http_status;
  uint8_t http_major;
  uint8_t http_minor;
  bool head_done;
  bool head_sent;    /* streamed: the HEAD record was written */
  bool head_told;    /* a HEAD record was written */
  bool head_held;    /* of a challenge that libcurl may answer by itself */
  bool upload_done;  /* the request is sent: first-byte time runs */
  bool without_body; /* Digest's first round of an upload: where it is answered
                        without a challenge libcurl sends the request again */
  bool in_head;      /* between a status line and its empty line */
  bool first_field;  /* the line behind a status line is yet to come */
  bool trailers_begun;
  bool body_begun;
  errand__codings codings; /* of the body, undone on the way */
  bool peer_gone;          /* hung up while the upload was starved */
  bool address_refused;
  bool reconnecting;   /* had a connection, and libcurl makes another */
  bool replayed;       /* was sent again on another connection */
  bool round_replayed; /* the same, in this round of an authentication */
  bool dropped;        /* has ended: takes nothing of what libcurl still has */
  bool opened;         /* has a new socket that nothing was sent on */
  bool wants_fresh; /* is to be given to libcurl again, for a new connection */
  bool counted_connecting;  /* in its origin's `connecting` */
  bool may_http2;           /* may be a stream of HTTP/2 */
  uint64_t identity;        /* of its realm: its options', but for may_http2 */
  bool counted_http2;       /* in its origin's `http2_active` */
  uint8_t connects;         /* times it became ready to send */
  uint8_t descriptor_tries; /* times it is tried again for want of one */
  bool awaits_descriptor;   /* until retry_at_ms */
  uint64_t retry_at_ms;
  int descriptor_error; /* errno of the socket() that failed last */
} errand__transfer;

/*
 * Checks a request and copies it into a block.
 * Thread: any.
 * Owns: *out is the caller's, freed with errand__transfer_free; the request's
 * body_release is not called by a failure.
 * Returns: what errand_submit documents for an item.
 */
errand_status errand__transfer_create(const errand_request *request,
                                      errand_options *options,
                                      errand__transfer **out);

static inline bool errand__is_websocket(const errand__transfer *t) {
  return (t->flags & ERRAND_REQUEST_WEBSOCKET) != 0;
}

/* Whether it may be sent again where no byte of a response has come. */
static inline bool errand__may_replay(const errand__transfer *t) {
  return t->idempotent || (t->flags & ERRAND_REQUEST_ALLOW_REPLAY) != 0;
}

static inline bool errand__is_connecting(const errand__transfer *t) {
  return t->phase <= ERRAND__CONNECTING || t->reconnecting;
}

/* A body that goes out with the head in one send (MAX_INITIAL_POST_SIZE). */
#define ERRAND__SENT_AT_ONCE 65536

/* Bytes of the request's body, ERRAND_LENGTH_UNKNOWN where not known. */
int64_t errand__transfer_upload_length(const errand__transfer *transfer);

/* Frees the block and what it holds, and lets go of a borrowed body.
   Thread: any, once no loop knows it. */
void errand__transfer_free(errand__transfer *transfer);

#endif
