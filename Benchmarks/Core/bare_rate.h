/* The bare loop's pace: a timerfd in libuv's loop, because a uv_timer_t knows
   milliseconds only. */
#ifndef BENCH_BARE_RATE_H
#define BENCH_BARE_RATE_H

#include "support/pace.h"

#include <uv.h>

typedef struct bare_rate {
  bench_pace pace;
  int fd;
  uv_poll_t poll;
  void (*on_due)(void *context);
  void *context;
} bare_rate;

/* Returns: 0, or a negative errno. */
int bare_rate_init(bare_rate *rate, uv_loop_t *loop, double per_second,
                   uint64_t tick, void (*on_due)(void *context), void *context);
/* Calls on_due from the loop at that time, once. */
void bare_rate_arm(bare_rate *rate, uint64_t due);
void bare_rate_close(bare_rate *rate);

#endif
