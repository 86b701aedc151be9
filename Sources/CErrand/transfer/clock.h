/* The clock of all deadlines. */
#ifndef ERRAND_TRANSFER_CLOCK_H
#define ERRAND_TRANSFER_CLOCK_H

#include <stdint.h>
#include <uv.h>

/* Milliseconds of the clock that uv_now reads. Thread: any. */
static inline uint64_t errand__now_ms(void) {
  return uv_hrtime() / 1000000;
}

#endif
