#include "loop/turn_time.h"

/* `since_ns`: when the turn should have begun. */
static void note_lag(errand__loop *loop, uint64_t since_ns) {
  errand__loop_counters *c = &loop->counters;
  uint64_t began_ns = loop->turn_began_ns;
  if (since_ns < loop->turn_ended_ns)
    since_ns = loop->turn_ended_ns;
  uint64_t lag_ns = began_ns > since_ns ? began_ns - since_ns : 0;
  errand__counter_bump(&c->lags, 1);
  errand__counter_bump(&c->lag_ns, lag_ns);
  errand__longest_note(&c->longest_lag, began_ns, lag_ns);
}

/* libuv counts whole milliseconds, and so does epoll. */
static uint64_t due_ns(uint64_t due_ms) {
  return (due_ms + 1) * 1000000;
}

void errand__turn_begin(errand__loop *loop) {
  if (loop->turn_began_ns != 0)
    return;
  loop->turn_began_ns = uv_hrtime();
  loop->clock_is_new = true;
  /* Read first: most turns of a busy loop begin without a signal. */
  if (errand__counter_read(&loop->woken_ns) != 0)
    note_lag(loop, errand__counter_take(&loop->woken_ns));
  /* After a poll that ended late, libuv checks before it runs the timers, so
     this turn does the timer's work. SIGCONT ends a poll, for example. */
  else if (loop->timer_due_ms != 0 &&
           loop->turn_began_ns >= due_ns(loop->timer_due_ms))
    errand__turn_by_timer(loop);
}

void errand__turn_by_timer(errand__loop *loop) {
  if (loop->timer_due_ms == 0)
    return;
  note_lag(loop, due_ns(loop->timer_due_ms));
  loop->timer_due_ms = 0;
}

void errand__turn_end(errand__loop *loop) {
  errand__loop_counters *c = &loop->counters;
  uint64_t now_ns = uv_hrtime();
  uint64_t took_ns = now_ns - loop->turn_began_ns;
  errand__counter_bump(&c->turn_ns, took_ns);
  errand__longest_note(&c->longest_turn, now_ns, took_ns);
  loop->turn_ended_ns = now_ns;
  loop->turn_began_ns = 0;
}
