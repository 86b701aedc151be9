#include "base/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Class i holds blocks of at least 16 i + 8 bytes, glibc's own sizes; the last
   one receive buffers. */
enum {
  SMALL_CLASSES = 129,
  BUFFERS = SMALL_CLASSES,
  CLASSES = SMALL_CLASSES + 1,
  NO_CLASS = CLASSES,
  SMALL_MOST = (SMALL_CLASSES - 1) * 16 + 8,
  /* A block this much larger is another's. */
  BUFFER_SLACK = 1024,
};

typedef struct kept_block {
  struct kept_block *next;
} kept_block;

/* A size that is freed here and allocated elsewhere must not take the room of
   the others: so a class has a limit too. */
typedef struct kept_class {
  kept_block *blocks;
  size_t bytes;
} kept_class;

typedef struct thread_heap {
  size_t small_bytes;
  kept_class classes[CLASSES];
} thread_heap;

/* initial-exec keeps the access one instruction in the shared library too. */
static _Thread_local thread_heap *own
    __attribute__((tls_model("initial-exec")));

static unsigned class_to_take(size_t size) {
  if (size <= SMALL_MOST)
    return size <= 24 ? 1 : (unsigned) ((size + 7) / 16);
  if (size <= ERRAND__HEAP_BUFFER && size > ERRAND__HEAP_BUFFER - BUFFER_SLACK)
    return BUFFERS;
  return NO_CLASS;
}

static unsigned class_to_keep(size_t usable) {
  if (usable <= SMALL_MOST + 15)
    return usable < 24 ? NO_CLASS : (unsigned) ((usable - 8) / 16);
  if (usable >= ERRAND__HEAP_BUFFER &&
      usable < ERRAND__HEAP_BUFFER + BUFFER_SLACK)
    return BUFFERS;
  return NO_CLASS;
}

static size_t class_size(unsigned class) {
  return class == BUFFERS ? ERRAND__HEAP_BUFFER : class * 16 + 8;
}

static void *take(thread_heap *heap, size_t size) {
  unsigned class = class_to_take(size);
  if (class == NO_CLASS || !heap->classes[class].blocks)
    return NULL;
  kept_block *block = heap->classes[class].blocks;
  heap->classes[class].blocks = block->next;
  heap->classes[class].bytes -= class_size(class);
  if (class != BUFFERS)
    heap->small_bytes -= class_size(class);
  return block;
}

static bool keep(thread_heap *heap, void *block) {
  unsigned class = class_to_keep(malloc_usable_size(block));
  if (class == NO_CLASS)
    return false;
  kept_class *into = &heap->classes[class];
  size_t size = class_size(class);
  if (class == BUFFERS) {
    if (into->bytes + size > ERRAND__HEAP_BUFFER_BYTES)
      return false;
  } else {
    if (into->bytes + size > ERRAND__HEAP_CLASS_BYTES ||
        heap->small_bytes + size > ERRAND__HEAP_SMALL_BYTES)
      return false;
    heap->small_bytes += size;
  }
  into->bytes += size;
  kept_block *head = block;
  head->next = into->blocks;
  into->blocks = head;
  return true;
}

void *errand__heap_malloc(size_t size) {
  thread_heap *heap = own;
  void *block = heap ? take(heap, size) : NULL;
  return block ? block : malloc(size);
}

void *errand__heap_calloc(size_t count, size_t size) {
  thread_heap *heap = own;
  size_t product;
  if (__builtin_mul_overflow(count, size, &product))
    return NULL;
  void *block = heap ? take(heap, product) : NULL;
  return block ? memset(block, 0, product) : calloc(1, product);
}

void *errand__heap_realloc(void *old, size_t size) {
  thread_heap *heap = own;
  if (!old)
    return errand__heap_malloc(size);
  if (!heap || class_to_take(size) == NO_CLASS)
    return realloc(old, size);
  size_t usable = malloc_usable_size(old);
  if (usable > SMALL_MOST)
    return realloc(old, size); /* which gives back what is no longer needed */
  if (size <= usable)
    return old;
  void *block = take(heap, size);
  if (!block)
    return realloc(old, size);
  memcpy(block, old, usable);
  errand__heap_free(old);
  return block;
}

char *errand__heap_strdup(const char *string) {
  size_t size = strlen(string) + 1;
  char *copy = errand__heap_malloc(size);
  return copy ? memcpy(copy, string, size) : NULL;
}

void errand__heap_free(void *block) {
  thread_heap *heap = own;
  if (!heap || !block || !keep(heap, block))
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
  if (!own)
    own = calloc(1, sizeof *own);
  return own != NULL;
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
  free(heap);
}

size_t errand__heap_kept(void) {
  return own ? own->small_bytes + own->classes[BUFFERS].bytes : 0;
}
