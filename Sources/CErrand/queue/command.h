/* What any thread sends to a loop through its submission queue. */
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

/* The commands except SUBMIT, each in an allocation of its own. */
typedef struct errand__order {
  errand__command command; /* first */
  uint64_t id;
  uint64_t amount; /* GRANT: bytes; UPLOAD_WRITE: length of `bytes` */
  uint8_t bytes[];
} errand__order;

#endif
