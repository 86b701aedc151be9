/*
 * libcurl's heap: blocks that a loop thread frees are kept for its next
 * request. glibc keeps seven of a size; a loop ends and starts dozens of
 * requests at a time, and each has a receive buffer of 16 KB, which glibc
 * merges and splits anew every time. Blocks are malloc's own: whoever frees
 * one elsewhere, or by free() itself, does no harm.
 *
 * libcurl takes an allocator once in a process: where the host program has
 * called curl_global_init first, this one is not used, and an allocator that
 * it names later is not either. The object that this is linked into must not
 * be unloaded before libcurl is (-z nodelete).
 */
#ifndef ERRAND_BASE_HEAP_H
#define ERRAND_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  /* libcurl's receive buffer, CURL_MAX_WRITE_SIZE and a NUL. */
  ERRAND__HEAP_BUFFER = 16 * 1024 + 1,
  /* What a thread keeps at most: of one size, of all sizes, and of receive
     buffers beside them. */
  ERRAND__HEAP_CLASS_BYTES = 128 * 1024,
  ERRAND__HEAP_SMALL_BYTES = 1024 * 1024,
  ERRAND__HEAP_BUFFER_BYTES = 1536 * 1024,
};

/*
 * From here on this thread keeps what it frees, within the limits above.
 * On other threads the functions below are malloc and free.
 * Returns: false, and nothing is kept, when memory has run out, and under the
 * sanitizers, which have to see each free; `always` is for the heap's test.
 */
bool errand__heap_enter(bool always);

/* Gives back what was kept. The thread must have entered, or this is
   nothing. */
void errand__heap_leave(void);

/* How often the functions below found no memory on this thread. */
uint64_t errand__heap_failures(void);

/* Bytes kept by this thread. */
size_t errand__heap_kept(void);

/* For curl_global_init_mem: like the C library's functions of these names, but
   that a size of 0 frees nothing. */
void *errand__heap_malloc(size_t size);
void *errand__heap_calloc(size_t count, size_t size);
void *errand__heap_realloc(void *old, size_t size);
char *errand__heap_strdup(const char *string);
void errand__heap_free(void *block);

#endif
