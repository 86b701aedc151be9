/*
 * For each descriptor, the interest of libcurl and the registration in the
 * kernel.
 *
 * Deregistration is lazy. libcurl drops its interest in a kept connection after
 * every request and takes it up again with the next. Telling the kernel each
 * time costs 20 % of a request. So a socket of ours stays registered until an
 * event that libcurl does not want comes.
 *
 * The kernel is a table of functions, so that a test can replace it.
 *
 * Thread: the loop that owns the table, throughout.
 */
#ifndef ERRAND_LOOP_FD_TABLE_H
#define ERRAND_LOOP_FD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Directions. The numbers are those of CURL_POLL_* and CURL_CSELECT_*. */
enum {
  ERRAND__FD_IN = 1,
  ERRAND__FD_OUT = 2,
};

typedef enum errand__fd_operation {
  ERRAND__FD_ADD = 1,
  ERRAND__FD_MODIFY = 2,
  ERRAND__FD_DELETE = 3
} errand__fd_operation;

/* The functions of the kernel that the table needs. */
typedef struct errand__fd_kernel {
  /* Returns: 0 or -errno. The kernel reports events with `key`. */
  int (*control)(void *context, errand__fd_operation operation, int fd,
                 unsigned directions, uint64_t key);
  /* Returns: a number that changes when fd becomes another socket; 0: closed.
   */
  uint64_t (*identity)(void *context, int fd);
  void *context;
} errand__fd_kernel;

typedef struct errand__fd_entry {
  void *owner;         /* the shard that has libcurl's interest; NULL: none */
  uint64_t identity;   /* while connecting */
  uint32_t generation; /* of the registration; the upper half of the key */
  uint8_t asked;       /* libcurl's interest */
  uint8_t want;        /* the same, without reading while it is held */
  uint8_t armed;       /* the kernel's */
  bool registered;
  bool ours;       /* opened through errand__fd_opened */
  bool connecting; /* ours; not connected, and not wanted for reading so far */
  bool hung_up;    /* idle, and the peer has closed */
  bool may_speak;  /* the peer may send while it is idle: HTTP/2 */
  bool lasting;    /* libcurl's own, open as long as its multi handle */
  bool held;       /* libcurl is not to be told of readability */
} errand__fd_entry;

typedef struct errand__fd_table {
  errand__fd_entry *entries;
  size_t capacity;
  errand__fd_kernel kernel;
  uint64_t changes; /* control calls */
  uint64_t opened;
  uint64_t open; /* now, of ours */
  /* Events for a registration that is gone. Single ones are the rest of a batch
     in which the socket was closed. An endless series means that a forked child
     keeps the socket open, and that the kernel's set has to be recreated. */
  uint64_t stale;
} errand__fd_table;

/* The action of the loop for an event. */
typedef enum errand__fd_verdict {
  ERRAND__FD_IGNORE = 0,  /* stale, or unwanted and disarmed by now */
  ERRAND__FD_DELIVER = 1, /* tell libcurl of `directions`, for `owner` */
  /* A connection of `owner` that libcurl does not listen to has died or has
     data. It is idle, or its transfer is paused. */
  ERRAND__FD_HUNG_UP = 2
} errand__fd_verdict;

void errand__fd_table_init(errand__fd_table *table, errand__fd_kernel kernel);
void errand__fd_table_free(errand__fd_table *table);

/*
 * A socket was made for libcurl, for the multi handle `owner`.
 *
 * Before 8.2 libcurl does not report that it closes a socket that never
 * connected (#11439). Before 8.4 it does not report the next socket either, if
 * that has the same number and the same interest (#11920). So an interest of
 * the same owner in the number counts for the new socket.
 *
 * Returns: false when out of memory, or when the kernel refuses.
 */
bool errand__fd_opened(errand__fd_table *table, int fd, const void *owner);

/* Whether the peer may send while the connection is idle; false for a new one.
 */
void errand__fd_set_may_speak(errand__fd_table *table, int fd, bool may);
bool errand__fd_may_speak(const errand__fd_table *table, int fd);

/* libcurl is about to close the socket. Precedes close(2). */
void errand__fd_closing(errand__fd_table *table, int fd);

/* libcurl's interest is now `want` (not 0), for `owner`.
   Returns: false when out of memory, or when the kernel refuses. */
bool errand__fd_watch(errand__fd_table *table, int fd, unsigned want,
                      void *owner);

/* The descriptor is libcurl's own and is closed with its multi handle only: it
   stays registered while libcurl has no interest in it. Follows
   errand__fd_watch. */
void errand__fd_keep(errand__fd_table *table, int fd);

/* While a socket is held, libcurl is not told that it is readable, although
   libcurl asks for that (ERRAND__CURL_LISTENS_WHILE_PAUSED). The hold also ends
   when libcurl's interest ends.
   Returns: false when the kernel refuses. */
bool errand__fd_hold(errand__fd_table *table, int fd, bool held);

/* The socket is connected. libcurl may read a whole response before it asks for
   readability, so its interest does not show that the socket is connected.
   Called only if libcurl reports each socket that it closes. */
void errand__fd_connected(errand__fd_table *table, int fd);

/* libcurl has no interest any more. This does not mean that it closes the
   socket (#9799).
   Returns: true for a socket of ours that never connected: libcurl has given it
   up. */
bool errand__fd_unwatch(errand__fd_table *table, int fd);

/* An event came. `failed`: an error or a hang-up, which the kernel always
   reports. Sets *owner and *directions for DELIVER and HUNG_UP. */
errand__fd_verdict errand__fd_event(errand__fd_table *table, uint64_t key,
                                    unsigned directions, bool failed,
                                    void **owner, unsigned *wanted);

/* The kernel's set was recreated: registers the interests of libcurl. */
void errand__fd_rearm(errand__fd_table *table);

/* The owner is about to be freed: forgets everything that names it. */
void errand__fd_purge(errand__fd_table *table, const void *owner);

/* Corrects `open` for sockets that libcurl closed without a report. Walks the
   whole table, so it is only for a slow tick. */
void errand__fd_sweep(errand__fd_table *table);

static inline int errand__fd_of_key(uint64_t key) {
  return (int) (uint32_t) key;
}

#endif
