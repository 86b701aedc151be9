/* The due times of an open loop: request k at start + k / rate. A timerfd in
   libuv's loop, because a uv_timer_t knows milliseconds only. With a tick, what
   is due is sent at the next multiple of it. */
#ifndef BENCH_BARE_RATE_H
#define BENCH_BARE_RATE_H

#include <stdint.h>
#include <uv.h>

typedef struct bare_rate {
  double rate;   /* requests a second */
  uint64_t tick; /* nanoseconds; 0: each request at its own time */
  uint64_t first;
  int fd;
  uv_poll_t poll;
  void (*on_due)(void *context);
  void *context;
} bare_rate;

/* Returns: 0, or a negative errno. */
int bare_rate_init(bare_rate *rate, uv_loop_t *loop, double per_second,
                   uint64_t tick, void (*on_due)(void *context), void *context);
/* Returns: when that request is due, on the clock of bench_now. */
uint64_t bare_rate_due(const bare_rate *rate, uint64_t number);
/* Returns: the tick at which something due then is sent. */
uint64_t bare_rate_departure(const bare_rate *rate, uint64_t due);
/* Calls on_due from the loop at that time, once. */
void bare_rate_arm(bare_rate *rate, uint64_t due);
void bare_rate_close(bare_rate *rate);

#endif
