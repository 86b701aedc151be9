/*
 * All allocations of the core, which are counted and can be made to fail.
 * libcurl and libuv have their own allocators.
 */
#ifndef ERRAND_BASE_MEM_H
#define ERRAND_BASE_MEM_H

#include <stddef.h>

/*
 * Allocates `size` bytes. A size of 0 counts as 1, so that NULL always means
 * failure.
 * Thread: any.
 * Owns: the caller frees with errand__free.
 * Returns: NULL when out of memory, or when errand_memory_fail_nth asked for
 * it.
 */
void *errand__malloc(size_t size);

/* The same, zeroed. Returns NULL for a product beyond SIZE_MAX too. */
void *errand__calloc(size_t count, size_t size);

/* Zeroed, and aligned to a cache line. Like errand__malloc. */
void *errand__aligned_calloc(size_t size);

/*
 * Resizes; `old` may be NULL. errand_memory_read does not count a resize of a
 * live block, but it can fail like an allocation.
 * Owns: on NULL the old block is unchanged and still the caller's.
 */
void *errand__realloc(void *old, size_t size);

/* Copies `size` bytes into a new block. Like errand__malloc. */
void *errand__memdup(const void *bytes, size_t size);

/* Copies a string with its NUL. Like errand__malloc. */
char *errand__strdup(const char *string);

/* Frees; NULL is fine and is not counted.
   Thread: any. */
void errand__free(void *block);

#endif
