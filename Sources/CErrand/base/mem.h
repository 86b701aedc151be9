/*
 * The core's only door to the heap: counts what goes through it and can be
 * told to run out. libcurl and libuv allocate on their own.
 */
#ifndef ERRAND_BASE_MEM_H
#define ERRAND_BASE_MEM_H

#include <stddef.h>

/*
 * Allocates `size` bytes; a size of 0 counts as 1, so that NULL means
 * failure and nothing else.
 * Thread: any.  Owns: the caller frees with errand__free.
 * Returns: NULL when memory has run out, or errand_memory_fail_nth says so.
 */
void *errand__malloc(size_t size);

/* The same, zeroed; a product beyond SIZE_MAX is NULL too. */
void *errand__calloc(size_t count, size_t size);

/* Zeroed, and aligned to a cache line. Like errand__malloc. */
void *errand__aligned_calloc(size_t size);

/*
 * Resizes; `old` may be NULL. A resize of a live block is neither an
 * allocation nor a free in errand_memory_read, but it can fail like one.
 * Owns: on NULL the old block is still the caller's, unchanged.
 */
void *errand__realloc(void *old, size_t size);

/* Copies `size` bytes into a block of their own. Like errand__malloc. */
void *errand__memdup(const void *bytes, size_t size);

/* Copies a string with its NUL. Like errand__malloc. */
char *errand__strdup(const char *string);

/* Frees; NULL is fine and does not count. Thread: any. */
void errand__free(void *block);

#endif
