/* The commands that any thread sends to a loop through its submission queue. */
#ifndef ERRAND_QUEUE_COMMAND_H
#define ERRAND_QUEUE_COMMAND_H

#include <stdint.h>

#include "queue/submit_queue.h"

typedef enum errand__command_kind {
  ERRAND__COMMAND_SUBMIT = 0, /* the head of an errand__transfer */
  ERRAND__COMMAND_CANCEL = 1,
  ERRAND__COMMAND_PAUSE = 2,
  ERRAND__COMMAND_RESUME = 3,
  ERRAND__COMMAND_GRANT = 4,
  ERRAND__COMMAND_UPLOAD_WRITE = 5, /* becomes a chunk of the upload's source */
  ERRAND__COMMAND_UPLOAD_FINISH = 6,
  ERRAND__COMMAND_UPLOAD_FAIL = 7
} errand__command_kind;

typedef struct errand__command {
  errand__queue_node node; /* first */
  errand__command_kind kind;
} errand__command;

/* All commands except SUBMIT, each in its own allocation. */
typedef struct errand__order {
  errand__command command; /* first */
  uint64_t id;
  uint64_t amount;      /* GRANT: bytes; UPLOAD_WRITE: how many `bytes` */
  const uint8_t *bytes; /* UPLOAD_WRITE: lent, or behind this struct */
  void (*release)(
      void *context); /* gives lent bytes back; NULL: nothing does */
  void *release_context;
} errand__order;

/*
 * Makes an order, with room for `room` bytes behind the struct.
 * Thread: any.
 * Owns: the caller frees with errand__order_free, or passes it on.
 * Returns: NULL when out of memory.
 */
errand__order *errand__order_create(errand__command_kind kind, uint64_t id,
                                    uint64_t amount, size_t room);

/* Gives lent bytes back and frees the order; NULL is fine. Thread: any. */
void errand__order_free(errand__order *order);

#endif
