#include "loop/deadline.h"

static errand_status consider(uint64_t since, int64_t timeout, uint64_t now,
                              errand_status what, errand_status so_far,
                              uint64_t *next) {
  if (timeout <= 0)
    return so_far;
  uint64_t at = since + (uint64_t) timeout;
  if (now >= at)
    return so_far == ERRAND_OK ? what : so_far;
  if (at < *next)
    *next = at;
  return so_far;
}

errand_status errand__deadline_check(const errand__transfer *t, uint64_t now,
                                     uint64_t *next) {
  errand_status status = ERRAND_OK;
  *next = ERRAND__WHEEL_NEVER;
  /* Nothing moves while the caller holds it, so silence is no fault. */
  bool held = t->paused || t->out_of_credit;
  switch (t->phase) {
  case ERRAND__WAITING:
  case ERRAND__PARKED:
    status = consider(t->submitted_ms, t->timeout_queue, now,
                      ERRAND_TIMEOUT_QUEUE, status, next);
    break;
  case ERRAND__CONNECTING:
    status = consider(t->started_ms, t->timeout_connect, now,
                      ERRAND_TIMEOUT_CONNECT, status, next);
    break;
  case ERRAND__SENDING:
    if (held || t->starved)
      break;
    status = consider(t->sent_ms, t->timeout_first_byte, now,
                      ERRAND_TIMEOUT_FIRST_BYTE, status, next);
    status = consider(t->activity_ms, t->timeout_idle, now, ERRAND_TIMEOUT_IDLE,
                      status, next);
    break;
  case ERRAND__RECEIVING:
    if (held)
      break;
    status = consider(t->activity_ms, t->timeout_idle, now, ERRAND_TIMEOUT_IDLE,
                      status, next);
    break;
  case ERRAND__FINISHED:
    return ERRAND_OK;
  }
  return consider(t->submitted_ms, t->timeout_total, now, ERRAND_TIMEOUT_TOTAL,
                  status, next);
}

void errand__deadline_set(errand__loop *loop, errand__transfer *t) {
  uint64_t next;
  /* Overdue already: the wheel fires it in this turn, outside libcurl. */
  if (errand__deadline_check(t, loop->now_ms, &next) != ERRAND_OK)
    next = loop->now_ms;
  if (next == ERRAND__WHEEL_NEVER)
    return;
  if (!t->deadline.armed || next < t->deadline.deadline_ms)
    errand__wheel_add(&loop->wheel, &t->deadline, next);
}
