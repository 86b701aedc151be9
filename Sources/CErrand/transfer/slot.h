/*
 * An easy handle and what is set on it. Setting every option anew costs 2 us
 * a request, so a slot remembers what it has and sets what differs. It is
 * used again only for requests with the very same options object: nothing of
 * one identity can leak into another's request (CVE-2026-3783, -8932).
 */
#ifndef ERRAND_TRANSFER_SLOT_H
#define ERRAND_TRANSFER_SLOT_H

#include <curl/curl.h>

#include "loop/loop.h"
#include "loop/shard.h"
#include "transfer/options.h"
#include "transfer/transfer.h"

/* Lines of a head or of trailers, kept from request to request. */
typedef struct errand__scratch {
  char *bytes;
  size_t length;
  size_t capacity;
} errand__scratch;

typedef struct errand__slot {
  errand__list link;     /* one of its realm's lists of idle slots */
  errand__list age_link; /* slots_by_age */
  CURL *easy;
  errand__realm *realm;
  errand__shard *shard;       /* while in use */
  errand__transfer *transfer; /* while in use */
  int fd; /* what libcurl last watched for it, while in use; -1: nothing */
  errand_options *options; /* applied; one reference */
  CURLSH *share;           /* its realm's, where it has no jar */
  struct errand__jar *jar; /* whose cookies it uses; NULL: none */
  errand__scratch scratch;
  struct errand__decoder *decoder; /* of the body under way; NULL: none */
  /* Bytes that the decoder has of a chunk that was refused for want of credit,
     and that libcurl will give again. */
  size_t decoded_ahead;
  const char *words;       /* why the body cannot be decoded; NULL: it can */
  uint64_t read_with_head; /* of its connection, up to a head that is held */
  /* Applied beside the options. */
  errand__send send;
  bool shows_head; /* CURLOPT_HEADER, for its life */
  bool borrows;    /* CURLOPT_BUFFERSIZE is set by request */
  bool custom_method;
  bool has_headers;
  bool fresh;
  bool secure_proxy;
  bool pipewait;
  uint64_t root;     /* serial of what CURLOPT_CURLU has; 0: CURLOPT_URL */
  uint64_t resolves; /* serial of the shard that was told CURLOPT_RESOLVE */
  bool single_use;   /* has credentials, or what the next must not have */
  errand_priority priority;
  long connect_ms;
  long buffer_size;
  curl_off_t recv_speed; /* errand__slot_limit_speed */
  char error[CURL_ERROR_SIZE];
} errand__slot;

/* A slot with `options` applied. Returns: NULL: out of memory. */
errand__slot *errand__slot_take(errand__realm *realm, errand_options *options,
                                struct errand__jar *jar);

/* Idle slots beyond the requests in flight. */
#define ERRAND__IDLE_SLOTS_MAX 512

/* Back to the pool; its easy handle is in no multi handle. `reusable`: false
   frees it, as does single_use. Where the pool is full the slot that was used
   longest ago makes room. */
void errand__slot_give(errand__slot *slot, bool reusable);

/* In place of errand__slot_give where a connection of its shard may name the
   handle for as long as it lives: the shard is retired, and the slot freed with
   it. */
void errand__slot_leave(errand__slot *slot);
/* Frees those, once the shard's connections are closed. */
void errand__slots_left(errand__shard *shard);

/* Frees the idle slots that were used longest ago until there are only `spare`
   more than requests in flight. */
void errand__slots_trim(errand__realm *realm, size_t spare);

/* Sets what this transfer needs and the slot, whose shard is known, does not
   have yet; setup.c.
   Returns: OK, or what libcurl's refusal means. */
errand_status errand__slot_setup(errand__slot *slot,
                                 errand__transfer *transfer);

/* Sets what the options say on a fresh handle; setup.c. */
errand_status errand__slot_apply_options(errand__slot *slot);

/* Frees what decodes the body, and forgets why it could not; sink.c. */
void errand__slot_drop_decoder(errand__slot *slot);

/* The callbacks; sink.c, feed.c and sockets.c. */
size_t errand__on_header(char *bytes, size_t size, size_t count, void *context);
size_t errand__on_body(char *bytes, size_t size, size_t count, void *context);
size_t errand__on_read(char *bytes, size_t size, size_t count, void *context);
/* The head that was held back is the response's own after all.
   Returns: false when out of memory. */
bool errand__head_release(errand__slot *slot);
int errand__on_seek(void *context, curl_off_t offset, int origin);
int errand__on_ready(void *context, char *remote, char *local, int remote_port,
                     int local_port);
curl_socket_t errand__on_open(void *context, curlsocktype purpose,
                              struct curl_sockaddr *address);
int errand__on_close(void *context, curl_socket_t fd);

#endif
