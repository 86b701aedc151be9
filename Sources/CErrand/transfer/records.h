/* The records that a loop delivers at the end of its turn. */
#ifndef ERRAND_TRANSFER_RECORDS_H
#define ERRAND_TRANSFER_RECORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "include/errand_record.h"

typedef struct errand__records {
  errand_record *list; /* of this turn */
  size_t count;
  size_t capacity;
  size_t live; /* transfers of the loop: each has room for its completion */
} errand__records;

/*
 * Makes room for `extra` records beyond one completion for each live transfer.
 * Returns: false when out of memory.
 */
bool errand__records_reserve(errand__records *records, size_t extra);

/* Adds a record, which is zero except for id and tag. Room must have been
   reserved. */
errand_record *errand__records_add(errand__records *records, uint64_t id,
                                   uint64_t tag);

#endif
