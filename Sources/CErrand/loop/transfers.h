/* The transfers of a loop, by id. */
#ifndef ERRAND_LOOP_TRANSFERS_H
#define ERRAND_LOOP_TRANSFERS_H

#include "loop/loop.h"
#include "transfer/transfer.h"

/* Returns: false: no memory for the first table. */
bool errand__transfers_add(errand__loop *loop, errand__transfer *transfer);

void errand__transfers_remove(errand__loop *loop, errand__transfer *transfer);

/* Returns: NULL if the loop has no transfer with this id. */
errand__transfer *errand__transfers_find(const errand__loop *loop, uint64_t id);

#endif
