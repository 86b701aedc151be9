/* Counters, and the features of the libraries in use. */
#ifndef ERRAND_STATS_H
#define ERRAND_STATS_H

#include "errand_group.h"

ERRAND_BEGIN_DECLS

/*
 * Totals since creation, except those marked "now" or "lately". They are read
 * without a lock: each number was exact at some moment, but two of them may be
 * from different moments.
 *
 * A turn begins when libuv returns from its poll, or fires its timer, and ends
 * when the loop is ready to poll again. Between them are the ready sockets, all
 * of libcurl's work, and on_records. The loop reads the clock once at each end.
 *
 * A lag is the time by which a loop began a turn too late, because its thread
 * had no processor. The lag begins with the wake-up signal, or at the end of
 * the millisecond in which the timer of the loop was due, but not before the
 * previous turn has ended. It ends when the turn begins. Time spent waiting for
 * the end of a turn is part of the time of that turn. Ready sockets have no
 * lag, because nobody knows when they became ready.
 *
 * "Lately" means the longest time of any loop in the last 15 to 30 seconds
 * before the call. A read resets nothing. Times above 68 s count as 68 s.
 */
typedef struct errand_stats {
  uint64_t submitted; /* accepted requests */
  uint64_t completed; /* COMPLETION records delivered */
  uint64_t in_flight; /* now: inside libcurl */
  uint64_t queued;    /* now: accepted, not started */
  uint64_t connections_opened;
  uint64_t connections_open; /* now */
  uint64_t connections_idle; /* now: open, carrying no request */
  uint64_t wakeups;          /* signals sent to a loop */
  uint64_t turns;            /* loop turns */
  uint64_t batches;          /* on_records calls */
  uint64_t poll_changes;     /* epoll_ctl calls */
  uint64_t multis;           /* now: libcurl multi handles */
  /* Now: the parts of `queued`. The index is an errand_priority. */
  uint64_t queued_by_priority[ERRAND_PRIORITIES];
  /* Now: the parts of `in_flight`, likewise. */
  uint64_t in_flight_by_priority[ERRAND_PRIORITIES];
  uint64_t turn_ns;         /* the sum over all turns */
  uint64_t longest_turn_ns; /* lately */
  uint64_t lags;            /* signals and timers whose lag was measured */
  uint64_t lag_ns;          /* the sum of these lags */
  uint64_t longest_lag_ns;  /* lately */
  uint32_t loops;
  uint32_t reserved;
} errand_stats;

/* Thread: any.  Owns: fills the caller's struct. */
ERRAND_API void errand_group_stats(const errand_group *ERRAND_NONNULL group,
                                   errand_stats *ERRAND_NONNULL out);

/* Allocations of the core in this process, without those of libcurl and libuv.
 */
typedef struct errand_memory_stats {
  uint64_t allocations;
  uint64_t frees;
} errand_memory_stats;

/* Thread: any. */
ERRAND_API void errand_memory_read(errand_memory_stats *ERRAND_NONNULL out);

/*
 * For tests: makes the n-th allocation from now fail (1: the next), once; 0
 * turns this off. It counts every allocation of the core in the process.
 * Thread: any.
 */
ERRAND_API void errand_memory_fail_nth(uint64_t n);

enum {
  ERRAND_FEATURE_HTTP2 = 1,
  ERRAND_FEATURE_BROTLI = 2,
  ERRAND_FEATURE_ZSTD = 4,
  ERRAND_FEATURE_IDN = 8,
  ERRAND_FEATURE_UNIX_SOCKETS = 16,
  ERRAND_FEATURE_TLS = 32,
  ERRAND_FEATURE_GZIP = 64,
  ERRAND_FEATURE_HTTPS_PROXY = 128,
  /* ERRAND_HTTP_AUTOMATIC means HTTP/2 (libcurl >= 8.2). */
  ERRAND_FEATURE_HTTP2_DEFAULT = 256,
  /* This libcurl version is refused. */
  ERRAND_FEATURE_DENIED = 512,
  /* OpenSSL does not run its exit handler, which crashes live loops. Not set if
     the program had initialised OpenSSL before, because that may have
     registered the handler. Such a program should pass OPENSSL_INIT_NO_ATEXIT.
   */
  ERRAND_FEATURE_NO_ATEXIT = 1024,
  /* Debug builds of CErrand. */
  ERRAND_FEATURE_DEBUG = 2048,
  /* ERRAND_REQUEST_WEBSOCKET works: libcurl >= 8.11 with ws and wss among its
     protocols. */
  ERRAND_FEATURE_WEBSOCKET = 4096
};

typedef struct errand_features {
  uint32_t curl_version_number;            /* 0x075801 is 7.88.1 */
  uint32_t flags;                          /* ERRAND_FEATURE_* */
  const char *ERRAND_NONNULL curl_version; /* static strings */
  const char *ERRAND_NONNULL tls_version;
  const char *ERRAND_NONNULL uv_version;
  const char *ERRAND_NONNULL errand_version;
  /* libcurl and the libraries that it uses, such as "libcurl/8.14.1
     OpenSSL/3.5.1 ..."; curl_version(3). */
  const char *ERRAND_NONNULL curl_libraries;
  /* The libraries that decode bodies, in the same form: zlib, and brotli and
     zstd if this library was built with them. libcurl may have others. */
  const char *ERRAND_NONNULL coding_libraries;
} errand_features;

/* The features of the libraries in use, found at run time.
   Thread: any. */
ERRAND_API void errand_features_read(errand_features *ERRAND_NONNULL out);

ERRAND_END_DECLS

#endif
