#include "bare_rate.h"
#include "support/report.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

static void on_readable(uv_poll_t *poll, int status, int events) {
  bare_rate *rate = poll->data;
  uint64_t count;
  (void) status;
  (void) events;
  if (read(rate->fd, &count, sizeof count) == (ssize_t) sizeof count)
    rate->on_due(rate->context);
}

int bare_rate_init(bare_rate *rate, uv_loop_t *loop, double per_second,
                   uint64_t tick, void (*on_due)(void *context),
                   void *context) {
  rate->on_due = on_due;
  rate->context = context;
  rate->fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (rate->fd < 0)
    return -errno;
  rate->pace = (bench_pace){per_second, tick, bench_now()};
  uv_poll_init(loop, &rate->poll, rate->fd);
  rate->poll.data = rate;
  return uv_poll_start(&rate->poll, UV_READABLE, on_readable);
}

void bare_rate_arm(bare_rate *rate, uint64_t due) {
  struct itimerspec time = {
      .it_value = {(time_t) (due / 1000000000u), (long) (due % 1000000000u)}};
  timerfd_settime(rate->fd, TFD_TIMER_ABSTIME, &time, NULL);
}

void bare_rate_close(bare_rate *rate) {
  uv_poll_stop(&rate->poll);
  uv_close((uv_handle_t *) &rate->poll, NULL);
  close(rate->fd);
}
