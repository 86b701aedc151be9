/* The due times of an open loop: request k at start + k / rate. A timerfd in
   libuv's loop, because a uv_timer_t knows milliseconds only. */
#ifndef BENCH_BARE_RATE_H
#define BENCH_BARE_RATE_H

#include <stdint.h>
#include <uv.h>

typedef struct bare_rate {
  double rate; /* requests a second */
  uint64_t first;
  int fd;
  uv_poll_t poll;
  void (*on_due)(void *context);
  void *context;
} bare_rate;

/* Returns: 0, or a negative errno. */
int bare_rate_init(bare_rate *rate, uv_loop_t *loop, double per_second,
                   void (*on_due)(void *context), void *context);
/* Returns: when that request is to be sent, on the clock of bench_now. */
uint64_t bare_rate_due(const bare_rate *rate, uint64_t number);
/* Calls on_due from the loop at that time, once. */
void bare_rate_arm(bare_rate *rate, uint64_t due);
void bare_rate_close(bare_rate *rate);

#endif
