/* The due times of an open loop: request k at start + k / rate. With a tick,
   what is due is sent at the next multiple of it. */
#ifndef BENCH_PACE_H
#define BENCH_PACE_H

#include <stdint.h>

typedef struct bench_pace {
  double rate;    /* requests a second */
  uint64_t tick;  /* nanoseconds; 0: each request at its own time */
  uint64_t first; /* when the first is due, on the clock of bench_now */
} bench_pace;

/* Returns: when that request is due. */
uint64_t bench_pace_due(const bench_pace *pace, uint64_t number);
/* Returns: when that request is sent, if nothing is in its way. */
uint64_t bench_pace_departure(const bench_pace *pace, uint64_t number);

#endif
