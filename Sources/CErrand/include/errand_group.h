/*
 * A group: N loop threads that carry requests. Its life is create, submit,
 * stop, destroy. Each loop owns its libuv loop, its libcurl multi handles and
 * its connections: libcurl's handles never move to another thread.
 */
#ifndef ERRAND_GROUP_H
#define ERRAND_GROUP_H

#include "errand_request.h"

ERRAND_BEGIN_DECLS

typedef enum ERRAND_CLOSED_ENUM errand_cookie_policy {
  ERRAND_COOKIES_OFF ERRAND_SWIFT_NAME("off") = 0,
  /* One jar for all loops: errand_cookies.h. */
  ERRAND_COOKIES_ON ERRAND_SWIFT_NAME("on") = 1
} errand_cookie_policy;

/* Zero-initialise, then set what differs: zero means the default. */
typedef struct errand_group_init {
  /* 0: one for each core that the creating thread may use, at most 4. Range
     1...64. */
  uint32_t loops;
  /* Accepted requests that have not started. Further requests are refused with
     QUEUE_FULL. 0: 65,536. */
  uint32_t queue_capacity;
  /* Requests in flight, over all loops. 0: half of the soft limit of open
     files, at most 4,096. */
  uint32_t in_flight_limit;
  /* Requests in flight to one origin (scheme, host, port, options). 0: 256. */
  uint32_t origin_in_flight_limit;
  /* Requests per libcurl multi handle. The cost of a request grows with the
     number of connections of its multi handle (20 ns each on 7.88.1; before
     8.10 connections in use cost nothing), so a loop has several multi handles.
     0: 64, and 32 from libcurl 8.10 on, or `max_concurrent_streams` if that is
     more. */
  uint32_t shard_in_flight_limit;
  /* HTTP/2 streams per connection, if the server allows this many
     (CURLMOPT_MAX_CONCURRENT_STREAMS). A connection belongs to one multi
     handle, so it never has more streams than shard_in_flight_limit. 0:
     libcurl's default, 100. */
  uint32_t max_concurrent_streams;

  /* Limits of requests whose own limit is 0. 0: 64 KiB, 128, 64 MiB and 64 MiB.
   */
  int64_t limit_header_bytes;
  int64_t limit_header_count;
  int64_t limit_body_bytes;
  int64_t limit_decoded_bytes;

  /* NULL: errand_options_init of zero. Retained. */
  errand_options *ERRAND_NULLABLE options;

  errand_cookie_policy cookies;
  /* The file that cookies are loaded from, if it exists, and saved to. NULL:
     cookies are kept in memory only. Copied. */
  const char *ERRAND_NULLABLE cookie_file;

  errand_record_callback ERRAND_NONNULL on_records;
  void *ERRAND_NULLABLE context;
  /* Called once, by the loop thread that ends last, after its last record. */
  void (*ERRAND_NULLABLE on_stopped)(void *ERRAND_NULLABLE context);

  /* The filter for requests whose options leave the choice to the group
     (ERRAND_ADDRESSES_GROUP). NULL: every address is allowed. */
  errand_address_filter ERRAND_NULLABLE address_filter;
  void *ERRAND_NULLABLE address_filter_context;

  /* Non-zero: also run with a libcurl version that is refused. */
  int32_t allow_denied_library;
} errand_group_init;

typedef enum ERRAND_CLOSED_ENUM errand_stop_mode {
  /* Ends every request at once with CANCELLED. */
  ERRAND_STOP_CANCEL ERRAND_SWIFT_NAME("cancel") = 0,
  /* Lets accepted requests end. Requests that are left after the time end with
     CANCELLED. */
  ERRAND_STOP_DRAIN ERRAND_SWIFT_NAME("drain") = 1
} errand_stop_mode;

/*
 * Keeps the core from setting an allocator for libcurl.
 *
 * libcurl takes an allocator for the whole process, once, when it is first
 * initialised. If the program has initialised libcurl before, the core sets
 * none. Otherwise it sets its own functions. On its loop threads, these keep
 * the blocks that libcurl frees for the next request. On every other thread
 * they are malloc and free. Other users of libcurl in the process use these
 * functions too.
 *
 * Thread: any, before any other function of this library.
 * Returns: OK; INVALID_OPTION (too late: libcurl was initialised here).
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
 * Accepts no more requests and ends those that are open, without waiting. May
 * be called again, to turn a drain into a cancel or to shorten the drain.
 * Thread: any. `within` is in milliseconds and counts from the call;
 * 0...TIMEOUT_MAX.
 * Returns: OK, INVALID_LIMIT, INVALID_OPTION (no such mode), FORKED.
 */
ERRAND_API errand_status errand_group_stop(errand_group *ERRAND_NONNULL group,
                                           errand_stop_mode mode,
                                           int64_t within);

/*
 * Stops the group (cancel) unless it was stopped, joins the threads, saves the
 * cookies to their file (errand_cookies_save) and frees everything; NULL is
 * fine. When it returns, every record has been delivered. In a forked child it
 * does nothing: the memory belongs to the parent's image and stays.
 * Thread: any but a loop thread of this group, with no other call on the group
 * under way.
 * Returns: OK; WRONG_THREAD, and then nothing was done.
 */
ERRAND_API errand_status
errand_group_destroy(errand_group *ERRAND_NULLABLE group);

/* Returns: non-zero on a loop thread of this group.
   Thread: any. */
ERRAND_API int
errand_group_is_loop_thread(const errand_group *ERRAND_NONNULL group);

ERRAND_END_DECLS

#endif
