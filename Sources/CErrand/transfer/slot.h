/*
 * A slot: a libcurl easy handle and a record of the values set on it. Setting
 * every option anew costs 2 us a request, so a slot remembers its options and
 * sets only those that differ (setup.c). A slot is reused only for requests
 * with the same options object, so that nothing of one identity leaks into the
 * request of another (CVE-2026-3783, CVE-2026-8932).
 */
#ifndef ERRAND_TRANSFER_SLOT_H
#define ERRAND_TRANSFER_SLOT_H

#include <curl/curl.h>

#include "transfer/agenda.h"
#include "transfer/options.h"
#include "transfer/transfer.h"

struct errand__decoder;
struct errand__jar;
struct errand__realm;
struct errand__shard;

/* Room for an address, a reason of the address filter, and the words between.
 */
#define ERRAND__REFUSAL_MAX 192

/* Lines of a head or of trailers. The memory is kept from request to request.
 */
typedef struct errand__scratch {
  char *bytes;
  size_t length;
  size_t capacity;
} errand__scratch;

typedef struct errand__slot {
  errand__list link;     /* one of its realm's lists of idle slots */
  errand__list age_link; /* the realm's slots_by_age */
  CURL *easy;
  errand__agenda *agenda; /* of its loop */
  struct errand__realm *realm;
  struct errand__shard *shard; /* while in use */
  errand__transfer *transfer;  /* while in use */
  int fd; /* the socket that libcurl last watched for it; -1: none */
  errand_options *options; /* applied; one reference */
  CURLSH *share;           /* of its realm; NULL if it has a jar */
  struct errand__jar *jar; /* whose cookies it uses; NULL: none */
  errand__scratch scratch;
  struct errand__decoder *decoder; /* of the present body; NULL: none */
  /* Bytes that the decoder has taken from a chunk that was refused for lack of
     credit. libcurl passes that chunk again. */
  size_t decoded_ahead;
  const char *words;       /* why the body cannot be decoded; NULL: it can */
  uint64_t read_with_head; /* bytes read from its connection when the held
                              head had come */
  /* What is set on the handle beside the options. */
  errand__send send;
  bool shows_head;   /* CURLOPT_HEADER, for the life of the handle */
  bool borrows;      /* libcurl borrows a receive buffer for each read */
  bool shares;       /* transfers of HTTP/1.1 share a receive buffer */
  bool keeps_buffer; /* CURLOPT_BUFFERSIZE cannot be changed any more */
  bool roomy;        /* CURLOPT_BUFFERSIZE is set for the life of the handle */
  bool custom_method;
  bool has_headers;
  bool fresh;
  bool secure_proxy;
  bool proxy_looks_up; /* a SOCKS proxy resolves names, whatever its URL says */
  bool pipewait;
  bool single_use;   /* has credentials, or state that the next request must not
                        have */
  uint64_t root;     /* serial of the CURLOPT_CURLU; 0: CURLOPT_URL is used */
  uint64_t resolves; /* serial of the shard for which CURLOPT_RESOLVE was set */
  errand_priority priority;
  long connect_ms;
  long buffer_size;
  bool resting;                /* errand__slot_rest */
  uint8_t rounds_left;         /* in which a resting transfer goes on */
  uint8_t rounds_after_upload; /* seconds in which it did so needlessly */
  char error[CURL_ERROR_SIZE];
  char refusal[ERRAND__REFUSAL_MAX]; /* of the address filter, in words */
} errand__slot;

/* The slot of an easy handle. Returns: NULL for an internal handle of libcurl,
   which has no CURLINFO_PRIVATE. */
static inline errand__slot *errand__slot_of(CURL *easy) {
  errand__slot *slot = NULL;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **) &slot);
  return slot;
}

#endif
