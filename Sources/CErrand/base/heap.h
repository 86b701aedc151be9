/*
 * The heap of libcurl: blocks that a loop thread frees are kept for its next
 * request.
 *
 * glibc keeps only seven blocks of each size for a thread. A loop ends and
 * starts dozens of requests at a time, and each has a receive buffer of 16 KB,
 * which glibc would merge and split each time. The blocks come from malloc:
 * another thread, or a call of free(), may free them.
 *
 * The shared buffer is the exception: all requests of a thread get the same
 * block for one size. See errand__heap_share.
 *
 * libcurl takes an allocator once in a process. If the host program has called
 * curl_global_init first, this allocator is not used. An allocator that the
 * program names later is not used either. The object that this code is linked
 * into must not be unloaded before libcurl (-z nodelete).
 */
#ifndef ERRAND_BASE_HEAP_H
#define ERRAND_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  /* libcurl's receive buffer, CURL_MAX_WRITE_SIZE and a NUL. */
  ERRAND__HEAP_BUFFER = 16 * 1024 + 1,
  /* The receive buffer that the transfers of a thread share. */
  ERRAND__HEAP_SHARED = 129 * 1024 + 1,
  /* The most bytes that a thread keeps: of one small size, of all small sizes,
     and in addition of receive buffers. */
  ERRAND__HEAP_CLASS_BYTES = 128 * 1024,
  ERRAND__HEAP_SMALL_BYTES = 1024 * 1024,
  ERRAND__HEAP_BUFFER_BYTES = 1536 * 1024,
};

/*
 * From this call on the thread keeps the blocks that it frees, within the
 * limits above. On other threads the functions below are malloc and free.
 *
 * Under the sanitizers, which have to see each free, nothing is kept unless
 * `always` is true, as in the heap's test.
 *
 * Returns: false, and nothing is kept, when out of memory and under the
 * sanitizers.
 */
bool errand__heap_enter(bool always);

/* Frees the blocks that the thread keeps. Does nothing if the thread did not
   enter. */
void errand__heap_leave(void);

/*
 * While `on`, errand__heap_malloc(ERRAND__HEAP_SHARED) returns the same block
 * to every caller on this thread. It is for buffers whose content matters only
 * until the call that filled them returns. The block must be freed on this
 * thread. Sharing is off at first. Does nothing if the thread did not enter.
 */
void errand__heap_share(bool on);

/* Whether this thread has entered, and may share. */
bool errand__heap_may_share(void);

/* How often the functions below were out of memory on this thread. */
uint64_t errand__heap_failures(void);

/* Bytes kept by this thread. */
size_t errand__heap_kept(void);

/* For curl_global_init_mem. They behave like the C library's functions of these
   names, except that realloc to a size of 0 frees nothing. */
void *errand__heap_malloc(size_t size);
void *errand__heap_calloc(size_t count, size_t size);
void *errand__heap_realloc(void *old, size_t size);
char *errand__heap_strdup(const char *string);
void errand__heap_free(void *block);

#endif
