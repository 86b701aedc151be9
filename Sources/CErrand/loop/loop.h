/*
 * A loop: one thread with its uv_loop, its libcurl multi handles and the
 * requests given to it. Everything here belongs to the loop's thread unless it
 * is marked "any thread".
 */
#ifndef ERRAND_LOOP_LOOP_H
#define ERRAND_LOOP_LOOP_H

#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <uv.h>

#include "base/counter.h"
#include "base/list.h"
#include "base/longest.h"
#include "base/wheel.h"
#include "loop/fd_table.h"
#include "loop/shared.h"
#include "queue/submit_queue.h"
#include "transfer/agenda.h"

struct errand__realm;

/* Read by any thread, written by the loop alone. */
typedef struct errand__loop_counters {
  errand__counter completed;
  errand__counter in_flight;
  /* The parts of `in_flight`, by errand_priority. The part of the default
     priority is not counted, as it is the rest. */
  errand__counter in_flight_apart[ERRAND_PRIORITIES];
  errand__counter turns;
  errand__counter batches;
  errand__counter poll_changes;
  errand__counter connections_opened;
  errand__counter connections_open;
  errand__counter connections_idle;
  errand__counter multis;
  errand__counter turn_ns;
  errand__counter lags;
  errand__counter lag_ns;
  errand__longest longest_turn;
  errand__longest longest_lag;
} errand__loop_counters;

/* How many ready sockets, and how many starting requests, are handled together.
   A turn visits each several times (event, end, record, start) and uses 5 to 10
   KB of memory for it: 256 of them would push each other out of a second-level
   cache. */
#define ERRAND__TOGETHER 32

typedef struct errand__loop {
  /* Any thread. */
  errand__queue queue;
  _Alignas(64) _Atomic int sleeping; /* is about to wait, or waits */
  errand__counter wakeups;
  errand__counter woken_ns; /* of the oldest signal since a turn began, or 0 */
  errand__counter load;     /* requests given to the loop that have not ended */
  _Alignas(64) errand__loop_counters counters;

  /* Fixed while the thread runs. */
  errand__shared *shared;
  uint32_t index;
  pthread_t thread;
  locale_t locale;

  uv_loop_t uv;
  uv_async_t async;
  uv_timer_t timer;
  uv_prepare_t prepare;
  uv_check_t check;
  uv_idle_t idle; /* active: there is work left, the poll must not wait */
  uv_poll_t poll; /* on `epoll` */
  int epoll;
  uint64_t stale_seen;
  uint32_t stale_streak;
  bool overdue;      /* a deadline has passed: sockets are read first */
  bool sockets_read; /* sockets were read in this round */
  bool leftover;
  bool freed; /* connections became idle since their sockets were read */
  bool ended;
  uint32_t long_texts;                 /* transfers in libcurl with long_text */
  bool out_of_descriptors;             /* idle connections have to be closed */
  uint64_t descriptors_short_until_ms; /* failures to connect say nothing about
                                          a host */
  uint64_t timer_at_ms;                /* of `timer`; ERRAND__WHEEL_NEVER */
  uint64_t timer_due_ms;  /* the same, but not before it was started; 0: its lag
                             has been noted */
  uint64_t turn_began_ns; /* 0: no turn */
  uint64_t turn_ended_ns; /* the turn before */
  bool clock_is_new;      /* libuv has read its clock, and nothing was done */

  errand__fd_table fds;
  errand__agenda agenda;
  errand__wheel_node tick; /* once a second, while anything needs it */
  errand__wheel_node drain_end;
  errand__wheel_node progress_tick;   /* while `progressing` is not empty */
  errand__wheel_node descriptor_tick; /* some transfer awaits_descriptor */

  errand__list realms;           /* errand__realm.link */
  struct errand__realm *commons; /* the realm with identity 0 */
  errand__list dirty;            /* shards that may have messages */
  errand__list kicked;           /* shards whose timer is due */

  struct errand__origin **origins; /* hash table */
  size_t origin_buckets;
  size_t origin_count;
  /* Origins that may start a request, by the rank of their best waiting
     request. */
  errand__list ready[ERRAND__PRIORITIES];
  int starving; /* the rank of its bit in `starved` of the group, or -1 */
  errand__list unreachable; /* origins whose host cannot be reached */
  errand__list started;     /* transfers in libcurl */
  errand__list progressing; /* errand__progress.link: started transfers */

  struct errand__transfer **by_id;
  size_t id_buckets;
  uint64_t busy_http1; /* transfers that hold a connection */
  uint64_t busy_http2; /* origins with an HTTP/2 stream */

  CURLMsg *messages; /* scratch of collect */
  size_t message_capacity;
} errand__loop;

/* Counts one more transfer in libcurl; one fewer if `by` is (uint64_t) -1.
   Thread: the loop's. */
static inline void errand__in_flight_count(errand__loop *loop, uint8_t priority,
                                           uint64_t by) {
  if (priority != ERRAND_PRIORITY_DEFAULT)
    errand__counter_bump(&loop->counters.in_flight_apart[priority], by);
  errand__counter_bump(&loop->counters.in_flight, by);
}

/* Makes HTTP/1.1 transfers share a receive buffer, unless libcurl lends one to
   each, or a transfer has a long text: libcurl may copy the text into a block
   that has the buffer's size. */
void errand__loop_share_buffer(const errand__loop *loop);

/* Appends commands, and wakes the loop if it sleeps.
   Thread: any.
   Returns: false once the loop is closed. */
bool errand__loop_post(errand__loop *loop, errand__queue_node *first,
                       errand__queue_node *last);

/* Makes the loop take a turn.
   Thread: any, until the join. */
void errand__loop_wake(errand__loop *loop);

/* Initialises the libuv side and starts the thread.
   Returns: OK, OUT_OF_MEMORY, SYSTEM. */
errand_status errand__loop_start(errand__loop *loop, errand__shared *shared,
                                 uint32_t index);

/* Waits for the thread to end.
   Thread: any but the loop's. */
void errand__loop_join(errand__loop *loop);

/* Frees the memory of the loop, after every loop of the group was joined. */
void errand__loop_dispose(errand__loop *loop);

/* Whether the calling thread is the loop's.
   Thread: any. */
bool errand__loop_is_current(const errand__loop *loop);

/* The loop of the calling thread, or NULL.
   Thread: any. */
errand__loop *errand__loop_current(void);

/* Makes the next poll return at once. */
void errand__loop_wait_not(errand__loop *loop);

#endif
