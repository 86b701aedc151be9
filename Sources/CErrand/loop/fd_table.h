/*
 * What libcurl wants of each socket against what the kernel was told, by file
 * descriptor. Deregistration is lazy: libcurl drops its interest in a kept
 * connection after every request and takes it up again with the next, and
 * telling the kernel each time costs 20 % of a request (core-facts 3.4). So a
 * socket of ours stays registered until an event comes that nobody wants.
 *
 * The kernel side is a table of functions, so that a test can be the kernel.
 * Thread: the loop that owns the table, throughout.
 */
#ifndef ERRAND_LOOP_FD_TABLE_H
#define ERRAND_LOOP_FD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Directions; the numbers are libcurl's CURL_POLL_* and CURL_CSELECT_*. */
enum {
  ERRAND__FD_IN = 1,
  ERRAND__FD_OUT = 2,
};

typedef enum errand__fd_operation {
  ERRAND__FD_ADD = 1,
  ERRAND__FD_MODIFY = 2,
  ERRAND__FD_DELETE = 3
} errand__fd_operation;

/* The kernel, as the table needs it. */
typedef struct errand__fd_kernel {
  /* Returns 0 or -errno; `key` comes back with the events. */
  int (*control)(void *context, errand__fd_operation operation, int fd,
                 unsigned directions, uint64_t key);
  /* A number that changes when fd comes to be another socket; 0: closed. */
  uint64_t (*identity)(void *context, int fd);
  void *context;
} errand__fd_kernel;

typedef struct errand__fd_entry {
  void *owner;         /* whom libcurl's interest belongs to; NULL: no one */
  uint64_t identity;   /* while connecting */
  uint32_t generation; /* of the registration; half of the key */
  uint8_t asked;       /* libcurl's interest */
  uint8_t want;        /* that, less reading while it is held */
  uint8_t armed;       /* the kernel's */
  bool registered;
  bool ours;       /* opened through errand__fd_opened */
  bool connecting; /* ours; neither connected nor wanted for reading yet */
  bool hung_up;    /* idle, and the peer is gone */
  bool may_speak;  /* the peer may send unasked: HTTP/2 */
  bool lasting;    /* libcurl's own, while its multi handle lives */
  bool held;       /* libcurl is not to read, whatever its interest */
} errand__fd_entry;

typedef struct errand__fd_table {
  errand__fd_entry *entries;
  size_t capacity;
  errand__fd_kernel kernel;
  uint64_t changes; /* control calls */
  uint64_t opened;
  uint64_t open; /* now, of ours */
  /* Events for a registration that is gone. One is the rest of a batch in
     which the socket was closed; without end they mean that a forked child
     keeps the socket, and the kernel's set has to be made anew. */
  uint64_t stale;
} errand__fd_table;

/* What an event means for the loop. */
typedef enum errand__fd_verdict {
  ERRAND__FD_IGNORE = 0,  /* stale, or unwanted and now silenced */
  ERRAND__FD_DELIVER = 1, /* tell libcurl: owner, directions */
  /* A connection of `owner` that libcurl does not listen to, idle or of a
     paused transfer, died or has data. */
  ERRAND__FD_HUNG_UP = 2
} errand__fd_verdict;

void errand__fd_table_init(errand__fd_table *table, errand__fd_kernel kernel);
void errand__fd_table_free(errand__fd_table *table);

/* A socket was made for libcurl, in whose multi handle `owner` it will be.
   Before 8.4 libcurl closes sockets that never connected without telling
   (#11439), and tells nothing of the next one either where that has the same
   number and is wanted for the same (#11920): an interest of the same owner in
   the number is one in the new socket.
   Returns: false when out of memory or the kernel refuses. */
bool errand__fd_opened(errand__fd_table *table, int fd, const void *owner);

/* Whether bytes may come to it while it is idle; false for a new one. */
void errand__fd_set_may_speak(errand__fd_table *table, int fd, bool may);
bool errand__fd_may_speak(const errand__fd_table *table, int fd);

/* libcurl is about to close it; precedes close(2). */
void errand__fd_closing(errand__fd_table *table, int fd);

/* libcurl's interest is now `want` (not 0), on behalf of `owner`.
   Returns: false when out of memory or the kernel refuses. */
bool errand__fd_watch(errand__fd_table *table, int fd, unsigned want,
                      void *owner);

/* It is libcurl's own, and is closed with its multi handle alone: it stays
   registered while libcurl has no interest in it. Follows errand__fd_watch. */
void errand__fd_keep(errand__fd_table *table, int fd);

/* Readability is not told to libcurl while it is held, though libcurl wants it:
   ERRAND__CURL_LISTENS_WHILE_PAUSED. Ends with libcurl's interest, too.
   Returns: false when the kernel refuses. */
bool errand__fd_hold(errand__fd_table *table, int fd, bool held);

/* It is connected: libcurl may read a whole response before it asks for
   readability. Only where libcurl tells of each socket that it closes. */
void errand__fd_connected(errand__fd_table *table, int fd);

/* libcurl has no interest any more; says nothing about closing (#9799).
   Returns: true for a socket of ours that never connected: it is given up. */
bool errand__fd_unwatch(errand__fd_table *table, int fd);

/* An event came. `failed`: error or hang-up, which are always reported.
 *owner and *directions are set for DELIVER and HUNG_UP. */
errand__fd_verdict errand__fd_event(errand__fd_table *table, uint64_t key,
                                    unsigned directions, bool failed,
                                    void **owner, unsigned *wanted);

/* After the kernel's set was made anew: registers what libcurl wants. */
void errand__fd_rearm(errand__fd_table *table);

/* The owner is about to be freed: what still names it is forgotten. */
void errand__fd_purge(errand__fd_table *table, const void *owner);

/* Corrects `open` for sockets that were closed without telling. Walks the
   table: for a slow tick. */
void errand__fd_sweep(errand__fd_table *table);

static inline int errand__fd_of_key(uint64_t key) {
  return (int) (uint32_t) key;
}

#endif
