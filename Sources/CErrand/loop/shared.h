/* What the loops of one group share. Thread: any. */
#ifndef ERRAND_LOOP_SHARED_H
#define ERRAND_LOOP_SHARED_H

#include <stdatomic.h>

#include "base/counter.h"
#include "include/errand_group.h"

struct errand__jar;
struct errand__loop;

/* An id is a sequence number above the index of its loop. */
#define ERRAND__LOOP_BITS 6
#define ERRAND__LOOPS_MAX (1u << ERRAND__LOOP_BITS)

/* Ranks of waiting requests: high, default, low. */
#define ERRAND__PRIORITIES 3

typedef struct errand__shared {
  /* Fixed once created; limits and options have their defaults filled in. */
  errand_group_init init;
  errand_options *options;
  struct errand__jar *jar; /* NULL: no cookies */
  struct errand__loop *loops;
  uint32_t loop_count;

  _Alignas(64) errand__counter queued;    /* submitters and loops */
  _Alignas(64) errand__counter in_flight; /* loops */
  /* Bit i: loop i waits for in_flight to fall. The index is the rank of its
     best waiting request. */
  _Atomic uint64_t starved[ERRAND__PRIORITIES];

  /* Bit i: loop i has to close its idle connections, as a loop of the group was
     refused a socket. */
  _Atomic uint64_t descriptors_wanted;

  _Atomic int stopping;        /* no request is accepted any more */
  _Atomic uint64_t stop_at_ms; /* when what is left is cancelled */
  _Atomic uint32_t running;    /* loops whose thread has not ended */
} errand__shared;

#endif
