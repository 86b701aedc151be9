/*
 * Who may start. libcurl's own queue is not used: it costs 20 us a request
 * and ignores timeouts before 8.8. An origin has a queue for each priority
 * and a quota; of the origins that may start those go first that have the best
 * waiting, and take turns among themselves; the group has a limit of its own
 * over all loops, whose places go by the same order (quota.c).
 *
 * A cold origin, one whose name is not in the address cache, starts a few
 * requests and holds the others until one of them has a connection: libcurl
 * resolves once per request, on a thread each (core-facts 0.5). Where all of
 * these fail to connect, those that waited for them end with the same status.
 */
#ifndef ERRAND_LOOP_ADMISSION_H
#define ERRAND_LOOP_ADMISSION_H

#include "loop/loop.h"
#include "transfer/root.h"
#include "transfer/transfer.h"

typedef struct errand__origin {
  struct errand__origin *next; /* in its bucket */
  errand__list ready_link;     /* a ready list of the loop's, while eligible */
  errand__list waiting[ERRAND__PRIORITIES]; /* high, default, low */
  uint64_t hash;
  uint64_t identity;
  int ready_rank; /* which ready list; while it is on one */
  size_t waiting_count;
  size_t parked_count; /* paused before their start; in no queue */
  uint32_t quota;
  uint32_t in_flight;
  uint32_t connecting;
  uint32_t http2_active;
  uint64_t warm_until_ms;
  uint64_t used_ms;
  /* Its connections of now are a first try of the host, and one has failed;
     requests with no more patience than that end with it (unreachable.c). */
  errand__list unreachable_link; /* the loop's list, once the last has */
  errand_status failure;         /* OK: none has */
  int64_t failure_patience;      /* milliseconds that the host was given */
  struct errand__shard *shard;   /* where it last started; NULL: gone */
  errand__list shard_link;       /* that shard's list */
  errand__root *root;            /* of its plain URLs; NULL: none yet */
  uint16_t port;
  bool secure;
  bool gated; /* its host is a name that has to be resolved */
  size_t host_length;
  char host[]; /* lower case */
} errand__origin;

/* Puts a transfer into its origin's queue. Returns: false: out of memory. */
bool errand__admission_enqueue(errand__loop *loop, errand__transfer *transfer);

/* Takes a waiting or parked transfer out: it ends. */
void errand__admission_dequeue(errand__loop *loop, errand__transfer *transfer);

/* A waiting transfer is held back, a parked one waits again. */
void errand__admission_park(errand__loop *loop, errand__transfer *transfer);
void errand__admission_unpark(errand__loop *loop, errand__transfer *transfer);

/* Whether an origin has a request that it may start. */
bool errand__admission_may_start(const errand__loop *loop);

/* Starts what may start. Returns: whether anything did. */
bool errand__admission_run(errand__loop *loop);

/* A started transfer has ended and is out of libcurl; as its record says. */
void errand__admission_ended(errand__loop *loop, errand__transfer *transfer,
                             const errand_record *record);

/* A started transfer ended before it had a connection; unreachable.c. */
void errand__origin_failed(errand__loop *loop, errand__origin *origin,
                           const errand__transfer *transfer,
                           const errand_record *record);

/* Its rules of who may start have changed. */
void errand__admission_refresh(errand__loop *loop, errand__origin *origin);

/* Ends what waits for hosts that cannot be reached; unreachable.c. Returns:
   whether anything ended. */
bool errand__unreachable_run(errand__loop *loop);

/* A transfer has a connection. */
void errand__origin_connected(errand__loop *loop, errand__transfer *transfer);

/* Frees origins without requests that were not used for a while; all of them
   if `everything`. */
void errand__origins_tend(errand__loop *loop, bool everything);

/* Gives a transfer to libcurl; start.c. It ends at once on failure. */
void errand__transfer_start(errand__loop *loop, errand__transfer *transfer);

/* Hands it to libcurl once more where there was no descriptor for that. It may
   end. */
void errand__transfer_enter(errand__loop *loop, errand__transfer *transfer);

#endif
