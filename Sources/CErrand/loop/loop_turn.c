#include "loop/loop_turn.h"

#include "loop/admission.h"
#include "loop/commands.h"
#include "loop/descriptors.h"
#include "loop/collect.h"
#include "loop/finish.h"
#include "loop/loop_poll.h"
#include "loop/progress.h"
#include "loop/report.h"
#include "loop/multi.h"
#include "loop/origin.h"
#include "loop/pauses.h"
#include "loop/realm.h"
#include "loop/turn_time.h"
#include "transfer/deadline.h"

/* How many rounds a turn has before the sockets are polled again. */
#define ROUNDS 8
#define TICK_MS 1000

static void on_deadline(void *context, errand__wheel_node *node) {
  errand__loop *loop = context;
  if (node == &loop->tick) {
    bool more = errand__realms_tend(loop);
    errand__origins_tend(loop, false);
    if (more || loop->origin_count > 0)
      errand__loop_keep_ticking(loop);
    return;
  }
  if (node == &loop->drain_end) {
    loop->leftover = true; /* follow_group looks at the time */
    return;
  }
  if (node == &loop->progress_tick) {
    errand__progress_run(loop);
    return;
  }
  if (node == &loop->descriptor_tick) {
    errand__descriptors_run(loop);
    return;
  }
  errand__transfer *t = ERRAND__CONTAINER(node, errand__transfer, deadline);
  uint64_t next;
  errand__deadline_look(t, loop->agenda.now_ms);
  errand_status status = errand__deadline_check(t, loop->agenda.now_ms, &next);
  /* A transfer that has not started has no bytes in a socket, and must not
     start now. */
  if (status != ERRAND_OK && t->phase > ERRAND__PARKED && !loop->sockets_read) {
    loop->overdue = true;
    errand__wheel_add(&loop->agenda.wheel, node, loop->agenda.now_ms);
  } else if (status != ERRAND_OK)
    errand__finish(loop, t, status, CURLE_OK);
  else if (next != ERRAND__WHEEL_NEVER)
    errand__wheel_add(&loop->agenda.wheel, node, next);
}

void errand__loop_keep_ticking(errand__loop *loop) {
  if (!loop->tick.armed)
    errand__wheel_add(&loop->agenda.wheel, &loop->tick,
                      loop->agenda.now_ms + TICK_MS);
}

/* Does what errand_group_stop asked for. */
static void follow_group(errand__loop *loop) {
  errand__shared *shared = loop->shared;
  if (!atomic_load_explicit(&shared->stopping, memory_order_acquire) ||
      loop->ended)
    return;
  uint64_t until =
      atomic_load_explicit(&shared->stop_at_ms, memory_order_relaxed);
  if (loop->agenda.now_ms >= until) {
    errand__commands_run(loop);
    errand__finish_all(loop, ERRAND_CANCELLED);
  } else {
    errand__wheel_add(&loop->agenda.wheel, &loop->drain_end, until);
  }
  if (loop->agenda.records.live > 0 || !errand__queue_is_empty(&loop->queue))
    return;
  /* A submission may have passed the check of the group before the group
     closed, and be about to push. From here on the queue refuses the
     submission. If it was pushed just now, it is taken here. */
  errand__commands_close(loop);
  errand__finish_all(loop, ERRAND_CANCELLED);
  loop->ended = true;
}

/* Returns: whether anything happened that may lead to more work. */
static bool round_once(errand__loop *loop) {
  /* The clock is read in each round: a request that was submitted since the
     turn began must not seem to wait longer than it does. */
  if (!loop->clock_is_new)
    uv_update_time(&loop->uv);
  loop->clock_is_new = false;
  loop->agenda.now_ms = uv_now(&loop->uv);
  /* After a stall of the process, or within a callback, bytes that have arrived
     count before any deadline does. So a deadline that has passed ends its
     transfer only in the next round, when each socket has been read once. */
  loop->sockets_read = loop->overdue;
  if (loop->overdue) {
    errand__loop_poll_all(loop);
    errand__shards_kick(loop); /* and what libcurl holds of those bytes */
  }
  loop->overdue = false;
  bool any = errand__collect(loop);
  any |= errand__commands_run(loop);
  errand__wheel_advance(&loop->agenda.wheel, loop->agenda.now_ms, on_deadline,
                        loop);
  any |= loop->overdue;
  any |= errand__review_run(loop);
  /* Bytes after a response are found before another request uses the
     connection. */
  if (loop->freed && errand__admission_may_start(loop)) {
    errand__loop_poll_all(loop);
    any = true;
  }
  any |= errand__admission_run(loop);
  errand__shards_timer(loop);
  any |= errand__shards_kick(loop);
  return any;
}

static void publish(errand__loop *loop) {
  errand__loop_counters *c = &loop->counters;
  uint64_t open = loop->fds.open;
  uint64_t busy = loop->busy_http1 + loop->busy_http2;
  errand__counter_bump(&c->turns, 1);
  errand__counter_set(&c->poll_changes, loop->fds.changes);
  errand__counter_set(&c->connections_opened, loop->fds.opened);
  errand__counter_set(&c->connections_open, open);
  errand__counter_set(&c->connections_idle, open > busy ? open - busy : 0);
}

static void on_timer(uv_timer_t *timer) {
  errand__loop *loop = timer->data;
  loop->timer_at_ms = ERRAND__WHEEL_NEVER;
  errand__turn_begin(loop);
  errand__turn_by_timer(loop);
  /* libuv runs timers before it polls. A timer of libcurl's may be about a
     socket that is ready by now. */
  errand__loop_poll(loop);
  /* The turn is not left to the check phase, as the poll before that may wait
     for long. */
  errand__loop_turn(loop);
}

static void arrange_next(errand__loop *loop) {
  uint64_t at = errand__shards_timer(loop);
  uint64_t wheel = errand__wheel_next(&loop->agenda.wheel);
  if (wheel < at)
    at = wheel;
  bool leftover = loop->leftover || !errand__list_is_empty(&loop->kicked) ||
                  !errand__list_is_empty(&loop->dirty);
  if (leftover)
    errand__loop_wait_not(loop);
  else
    uv_idle_stop(&loop->idle);
  /* A timer that fires too early costs one empty turn. Moving it for every
     request would cost more. */
  if (at < loop->timer_at_ms) {
    uint64_t now = uv_now(&loop->uv);
    uint64_t wait = at > now ? at - now : 1;
    loop->timer_at_ms = at;
    loop->timer_due_ms = now + wait;
    uv_timer_start(&loop->timer, on_timer, wait, 0);
  }
}

void errand__loop_turn(errand__loop *loop) {
  int rounds = 0;
  errand__turn_begin(loop);
  do {
    follow_group(loop);
    errand__descriptors_follow(loop);
    loop->leftover = false;
    while (round_once(loop)) {
      if (++rounds >= ROUNDS) {
        loop->leftover = true;
        break;
      }
    }
    errand__report_all(loop);
    /* The receiver may submit from its callback: such requests start in this
       turn. */
    if (!errand__deliver(loop) && errand__queue_is_empty(&loop->queue))
      break;
  } while (rounds < ROUNDS && !errand__queue_is_empty(&loop->queue));
  bool to_end =
      loop->agenda.records.live == 0 && !loop->ended &&
      atomic_load_explicit(&loop->shared->stopping, memory_order_acquire);
  if (to_end || loop->agenda.records.count > 0 ||
      !errand__queue_is_empty(&loop->queue))
    loop->leftover = true;
  publish(loop);
  if (loop->ended && loop->agenda.records.count == 0)
    uv_stop(&loop->uv);
  else
    arrange_next(loop);
  errand__turn_end(loop);
}
