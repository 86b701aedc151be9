#include "base/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Class i has blocks of at least 16 i + 8 bytes, which are glibc's sizes. The
   last class has receive buffers. */
enum {
  SMALL_CLASSES = 129,
  BUFFERS = SMALL_CLASSES,
  CLASSES = SMALL_CLASSES + 1,
  SMALL_LEAST = 24,
  SMALL_MOST = (SMALL_CLASSES - 1) * 16 + 8,
  /* A block that is larger than a buffer by more than this is no buffer. */
  BUFFER_SLACK = 1024,
  MOST_BUFFERS = ERRAND__HEAP_BUFFER_BYTES / ERRAND__HEAP_BUFFER,
  TRIM_BLOCK = 8 * 1024 * 1024,
};

typedef struct kept_block {
  struct kept_block *next;
} kept_block;

/* A class has a limit too: blocks of a size that is freed here and allocated on
   other threads must not use up the room of all sizes. */
typedef struct kept_class {
  kept_block *blocks;
  size_t room; /* how many more blocks are kept */
} kept_class;

typedef struct thread_heap {
  size_t small_room; /* how many more bytes of small blocks are kept */
  void *shared;      /* NULL until it is asked for */
  bool shares;
  kept_class classes[CLASSES];
} thread_heap;

/* With initial-exec an access is one instruction in the shared library too. */
static _Thread_local thread_heap *own
    __attribute__((tls_model("initial-exec")));

static _Thread_local uint64_t own_failures
    __attribute__((tls_model("initial-exec")));

uint64_t errand__heap_failures(void) {
  return own_failures;
}

static inline void *checked(void *block) {
  own_failures += block == NULL;
  return block;
}

static size_t small_size(size_t class) {
  return class * 16 + 8;
}

static bool is_buffer(size_t size) {
  return size <= ERRAND__HEAP_BUFFER &&
         size > ERRAND__HEAP_BUFFER - BUFFER_SLACK;
}

static void *pop(kept_class *from) {
  kept_block *block = from->blocks;
  from->blocks = block->next;
  from->room++;
  return block;
}

static bool push(kept_class *into, void *block) {
  kept_block *head = block;
  head->next = into->blocks;
  into->blocks = head;
  into->room--;
  return true;
}

/* Returns: NULL if no block of that size is kept. */
static inline void *take(thread_heap *heap, size_t size) {
  if (__builtin_expect(size <= SMALL_MOST, 1)) {
    size_t class = size <= SMALL_LEAST ? 1 : (size + 7) / 16;
    if (!heap->classes[class].blocks)
      return NULL;
    heap->small_room += small_size(class);
    return pop(&heap->classes[class]);
  }
  return is_buffer(size) && heap->classes[BUFFERS].blocks
             ? pop(&heap->classes[BUFFERS])
             : NULL;
}

static __attribute__((noinline)) void *share(thread_heap *heap) {
  if (!heap->shared)
    heap->shared = malloc(ERRAND__HEAP_SHARED);
  return heap->shared;
}

/* Separate from `keep`, which small blocks pass through some thirty times a
   request. */
static __attribute__((noinline)) bool keep_buffer(thread_heap *heap,
                                                  void *block, size_t usable) {
  if (block == heap->shared)
    return true; /* kept until the thread leaves */
  return usable - ERRAND__HEAP_BUFFER < BUFFER_SLACK &&
         heap->classes[BUFFERS].room > 0 &&
         push(&heap->classes[BUFFERS], block);
}

static inline bool keep(thread_heap *heap, void *block) {
  size_t usable = malloc_usable_size(block);
  if (__builtin_expect(usable - SMALL_LEAST < SMALL_MOST + 16 - SMALL_LEAST,
                       1)) {
    size_t class = (usable - 8) / 16;
    size_t size = small_size(class);
    if (heap->classes[class].room == 0 || heap->small_room < size)
      return false;
    heap->small_room -= size;
    return push(&heap->classes[class], block);
  }
  return keep_buffer(heap, block, usable);
}

void *errand__heap_malloc(size_t size) {
  thread_heap *heap = own;
  if (size == ERRAND__HEAP_SHARED && heap && heap->shares)
    return checked(share(heap));
  void *block = heap ? take(heap, size) : NULL;
  return block ? block : checked(malloc(size));
}

void *errand__heap_calloc(size_t count, size_t size) {
  thread_heap *heap = own;
  size_t product;
  if (__builtin_mul_overflow(count, size, &product))
    return NULL;
  void *block = heap ? take(heap, product) : NULL;
  return block ? memset(block, 0, product) : checked(calloc(1, product));
}

/* A copy, because others have the block too. libcurl does not resize its
   receive buffers. */
static __attribute__((noinline)) void *unshare(const void *shared,
                                               size_t size) {
  void *block = checked(malloc(size));
  size_t n = size < ERRAND__HEAP_SHARED ? size : ERRAND__HEAP_SHARED;
  return block ? memcpy(block, shared, n) : NULL;
}

void *errand__heap_realloc(void *old, size_t size) {
  thread_heap *heap = own;
  /* Not the shared buffer: libcurl grows its own buffers by realloc, and the
     part of a paused response that it keeps may have that size. */
  if (!old)
    return size == ERRAND__HEAP_SHARED ? checked(malloc(size))
                                       : errand__heap_malloc(size);
  if (heap && old == heap->shared)
    return unshare(old, size);
  if (!heap || size > SMALL_MOST)
    return checked(realloc(old, size));
  size_t usable = malloc_usable_size(old);
  if (usable > SMALL_MOST)
    /* A shrunk block gives back the memory that it no longer needs. */
    return checked(realloc(old, size));
  if (size <= usable)
    return old;
  void *block = take(heap, size);
  if (!block)
    return checked(realloc(old, size));
  memcpy(block, old, usable);
  errand__heap_free(old);
  return block;
}

char *errand__heap_strdup(const char *string) {
  size_t size = strlen(string) + 1;
  /* Not the shared buffer: a text may have that size. */
  char *copy = size == ERRAND__HEAP_SHARED ? checked(malloc(size))
                                           : errand__heap_malloc(size);
  return copy ? memcpy(copy, string, size) : NULL;
}

static __attribute__((noinline)) void free_block(void *block) {
  thread_heap *heap = own;
  if (!heap || !keep(heap, block))
    free(block);
}

/* libcurl frees NULL some sixty times a request. */
void errand__heap_free(void *block) {
  if (block)
    free_block(block);
}

/* glibc gives the top of a heap back to the kernel once it is larger than
   M_TRIM_THRESHOLD, 128 KB at first, and the next body faults those pages in
   again: 1.3 faults for each response of 64 KB. When a block that glibc mapped
   apart is freed, the threshold becomes twice its size (mallopt(3), "dynamic
   mmap threshold"). A program that has freed larger blocks sees no change, nor
   does one that has set the threshold itself. */
static void raise_trim_threshold(void) {
  void *volatile block = malloc(TRIM_BLOCK);
  free(block);
}

bool errand__heap_enter(bool always) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  if (!always)
    return false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  if (!always)
    return false;
#endif
#endif
  (void) always;
  if (own)
    return true;
  thread_heap *heap = calloc(1, sizeof *heap);
  if (!heap)
    return false;
  heap->small_room = ERRAND__HEAP_SMALL_BYTES;
  for (size_t class = 1; class < SMALL_CLASSES; class ++)
    heap->classes[class].room = ERRAND__HEAP_CLASS_BYTES / small_size(class);
  heap->classes[BUFFERS].room = MOST_BUFFERS;
  own = heap;
  raise_trim_threshold();
  return true;
}

void errand__heap_leave(void) {
  thread_heap *heap = own;
  if (!heap)
    return;
  own = NULL;
  for (size_t i = 0; i < CLASSES; i++) {
    kept_block *block = heap->classes[i].blocks;
    while (block) {
      kept_block *next = block->next;
      free(block);
      block = next;
    }
  }
  free(heap->shared);
  free(heap);
}

bool errand__heap_may_share(void) {
  return own != NULL;
}

void errand__heap_share(bool on) {
  if (own)
    own->shares = on;
}

size_t errand__heap_kept(void) {
  if (!own)
    return 0;
  return ERRAND__HEAP_SMALL_BYTES - own->small_room +
         (MOST_BUFFERS - own->classes[BUFFERS].room) * ERRAND__HEAP_BUFFER +
         (own->shared ? ERRAND__HEAP_SHARED : 0);
}
