/*
 * A group: N loop threads that carry requests. Life: create, submit ...,
 * stop, destroy. Each loop owns its libuv loop, its libcurl multi handles and
 * its connections; nothing of libcurl crosses a thread.
 */
#ifndef ERRAND_GROUP_H
#define ERRAND_GROUP_H

#include "errand_request.h"

ERRAND_BEGIN_DECLS

/* The address that is about to be connected to. */
typedef struct errand_address {
  int32_t family;    /* AF_INET, AF_INET6, AF_UNIX */
  uint16_t port;     /* host byte order, 0 for AF_UNIX */
  uint8_t bytes[16]; /* network order; 4 used for AF_INET, 0 for AF_UNIX */
} errand_address;

/*
 * Runs on a loop thread before every connect. Non-zero: do not connect; the
 * next address is tried, and if none is left the request ends with
 * ADDRESS_REFUSED. `tag` is that of the request the connection is opened
 * for. Must be fast and must not block. A proxy's address is asked, not the
 * address behind it.
 */
typedef int (*errand_address_filter)(
    void *ERRAND_NULLABLE context, uint64_t tag,
    const errand_address *ERRAND_NONNULL address);

typedef enum ERRAND_CLOSED_ENUM errand_cookie_policy {
  ERRAND_COOKIES_OFF ERRAND_SWIFT_NAME("off") = 0,
  /* One jar for all loops; errand_cookies.h. */
  ERRAND_COOKIES_ON ERRAND_SWIFT_NAME("on") = 1
} errand_cookie_policy;

/* Zero-initialise, then set what differs: zero is the default. */
typedef struct errand_group_init {
  /* 0: one a core, at most 4. Range 1...64. */
  uint32_t loops;
  /* Accepted requests that have not started; more are QUEUE_FULL.
     0: 65,536. */
  uint32_t queue_capacity;
  /* Requests in flight, in all. 0: half of the soft limit of open
     files, at most 4,096. */
  uint32_t in_flight_limit;
  /* Requests in flight to one origin (scheme, host, port, options). 0: 256. */
  uint32_t origin_in_flight_limit;
  /* Requests per libcurl multi handle: its cost per request grows with its
     connections (20 ns each on 7.88.1; before 8.10 it skips those in use), so
     a loop spreads them. 0: 64, and 32 from libcurl 8.10 on. */
  uint32_t shard_in_flight_limit;

  /* Defaults for requests that say 0. Here 0: 64 KiB, 128, 64 MiB and
     64 MiB. */
  int64_t limit_header_bytes;
  int64_t limit_header_count;
  int64_t limit_body_bytes;
  int64_t limit_decoded_bytes;

  /* NULL: errand_options_init of zero. Retained. */
  errand_options *ERRAND_NULLABLE options;

  errand_cookie_policy cookies;
  /* Where cookies are loaded from, if it is there, and saved to. NULL: they
     are kept in memory alone. Copied. */
  const char *ERRAND_NULLABLE cookie_file;

  errand_record_callback ERRAND_NONNULL on_records;
  void *ERRAND_NULLABLE context;
  /* Called once, on the loop thread that ends last, after its last record. */
  void (*ERRAND_NULLABLE on_stopped)(void *ERRAND_NULLABLE context);

  errand_address_filter ERRAND_NULLABLE address_filter;
  void *ERRAND_NULLABLE address_filter_context;

  /* Non-zero: run on a libcurl of the deny-list all the same. */
  int32_t allow_denied_library;
} errand_group_init;

typedef enum ERRAND_CLOSED_ENUM errand_stop_mode {
  /* End everything at once with CANCELLED. */
  ERRAND_STOP_CANCEL ERRAND_SWIFT_NAME("cancel") = 0,
  /* Let what was accepted end; what is left after the time, CANCELLED. */
  ERRAND_STOP_DRAIN ERRAND_SWIFT_NAME("drain") = 1
} errand_stop_mode;

/*
 * Leaves libcurl's allocator alone. libcurl takes one for the whole process,
 * with its first initialisation: where the program has made that before, the
 * core changes nothing; else it names functions of its own, which are malloc
 * and free on every thread but its loops', where what libcurl frees is kept for
 * the next request. Whatever else uses libcurl in the process then uses them
 * too. Thread: any, before any other function of this library. Returns: OK;
 * INVALID_OPTION (too late: libcurl has been initialised here).
 */
ERRAND_API errand_status errand_leave_allocator(void);

/*
 * Starts the loop threads.
 * Thread: any.
 * Owns: `init` stays the caller's; *out is the caller's until destroyed.
 * Returns: OK; INVALID_ARGUMENT (no on_records); INVALID_LIMIT;
 * INVALID_OPTION (a cookie_file without cookies, or an empty one);
 * FILE_UNREADABLE (the cookie_file); UNSUPPORTED_LIBRARY; OUT_OF_MEMORY;
 * OUT_OF_DESCRIPTORS;
 * SYSTEM; FORKED (in a child of a process that had already started the engine).
 * *out is NULL unless OK.
 */
ERRAND_API errand_status
errand_group_create(const errand_group_init *ERRAND_NONNULL init,
                    errand_group *ERRAND_NULLABLE *ERRAND_NONNULL out);

/*
 * Closes the intake and ends what is open; does not wait. May be called
 * again, to turn a drain into a cancel or to shorten it.
 * Thread: any.
 * `within` is in milliseconds and counts from the call; 0...TIMEOUT_MAX.
 * Returns: OK, INVALID_LIMIT, INVALID_OPTION (no such mode), FORKED.
 */
ERRAND_API errand_status errand_group_stop(errand_group *ERRAND_NONNULL group,
                                           errand_stop_mode mode,
                                           int64_t within);

/*
 * Stops (cancel) if that was not done, joins the threads, saves the cookies to
 * their file (errand_cookies_save), frees everything; NULL is fine. Every
 * record has been delivered when it returns. In a forked child it does nothing:
 * the memory is the parent's image and stays. Thread: any but a loop thread of
 * this group, with no other call on the group under way. Returns: OK;
 * WRONG_THREAD, and then nothing was done.
 */
ERRAND_API errand_status
errand_group_destroy(errand_group *ERRAND_NULLABLE group);

/* Non-zero on a loop thread of this group. Thread: any. */
ERRAND_API int
errand_group_is_loop_thread(const errand_group *ERRAND_NONNULL group);

ERRAND_END_DECLS

#endif
