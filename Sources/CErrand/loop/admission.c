#include "loop/admission.h"

#include "loop/multi.h"
#include "loop/quota.h"
#include "loop/start.h"
#include "loop/unreachable.h"

/* How many requests of a cold origin may be connecting at once. */
#define GATE 4
/* As long as libcurl keeps an address in its cache. */
#define WARM_MS 60000

static bool may_start(const errand__loop *loop, const errand__origin *o) {
  if (o->waiting_count == 0 || o->in_flight >= o->quota)
    return false;
  if (!o->gated || loop->agenda.now_ms < o->warm_until_ms)
    return true;
  /* After one connection has failed, no more requests start until the other
     connections of the same try have ended. */
  return o->connecting < GATE && o->failure == ERRAND_OK;
}

/* The rank of the best waiting request. There must be one. */
static int best_rank(const errand__origin *o) {
  int rank = 0;
  while (rank < ERRAND__PRIORITIES - 1 &&
         errand__list_is_empty(&o->waiting[rank]))
    rank++;
  return rank;
}

/* Moves the origin to the ready list where it belongs after any change. */
static void refresh(errand__loop *loop, errand__origin *o) {
  bool listed = !errand__list_is_empty(&o->ready_link);
  bool ready = may_start(loop, o);
  int rank = ready ? best_rank(o) : -1;
  if (listed && rank == o->ready_rank)
    return;
  if (listed)
    errand__list_remove(&o->ready_link);
  o->ready_rank = rank;
  if (ready)
    errand__list_append(&loop->ready[rank], &o->ready_link);
}

void errand__admission_refresh(errand__loop *loop, errand__origin *o) {
  refresh(loop, o);
}

static int rank(errand_priority priority) {
  switch (priority) {
  case ERRAND_PRIORITY_HIGH:
    return 0;
  case ERRAND_PRIORITY_DEFAULT:
    return 1;
  case ERRAND_PRIORITY_LOW:
    break;
  }
  return 2;
}

static void wait_in_queue(errand__loop *loop, errand__transfer *t) {
  errand__origin *o = t->origin;
  t->phase = ERRAND__WAITING;
  errand__list_append(&o->waiting[rank(t->priority)], &t->link);
  o->waiting_count++;
  o->used_ms = loop->agenda.now_ms;
  refresh(loop, o);
}

bool errand__admission_enqueue(errand__loop *loop, errand__transfer *t) {
  t->origin = errand__origin_for(loop, t);
  if (!t->origin)
    return false;
  wait_in_queue(loop, t);
  return true;
}

void errand__admission_dequeue(errand__loop *loop, errand__transfer *t) {
  if (t->phase == ERRAND__PARKED) {
    t->origin->parked_count--;
    return;
  }
  errand__list_remove(&t->link);
  t->origin->waiting_count--;
  refresh(loop, t->origin);
}

void errand__admission_park(errand__loop *loop, errand__transfer *t) {
  errand__admission_dequeue(loop, t);
  t->phase = ERRAND__PARKED;
  t->origin->parked_count++;
}

void errand__admission_unpark(errand__loop *loop, errand__transfer *t) {
  t->origin->parked_count--;
  wait_in_queue(loop, t);
}

static errand__transfer *pop(errand__origin *o) {
  for (int i = 0; i < ERRAND__PRIORITIES; i++) {
    errand__list *l = errand__list_pop(&o->waiting[i]);
    if (l) {
      o->waiting_count--;
      return ERRAND__CONTAINER(l, errand__transfer, link);
    }
  }
  return NULL;
}

/* Returns: -1 if no origin may start a request. */
static int first_ready(const errand__loop *loop) {
  for (int rank = 0; rank < ERRAND__PRIORITIES; rank++)
    if (!errand__list_is_empty(&loop->ready[rank]))
      return rank;
  return -1;
}

bool errand__admission_may_start(const errand__loop *loop) {
  return first_ready(loop) >= 0;
}

bool errand__admission_run(errand__loop *loop) {
  bool any = errand__unreachable_run(loop);
  int rank, started = 0;
  while ((rank = first_ready(loop)) >= 0) {
    if (!errand__quota_acquire(loop, rank))
      break;
    errand__list *l = errand__list_pop(&loop->ready[rank]);
    errand__origin *o = ERRAND__CONTAINER(l, errand__origin, ready_link);
    errand__transfer *t = pop(o);
    o->in_flight++;
    o->connecting++;
    o->used_ms = loop->agenda.now_ms;
    t->attempt.counted_connecting = true;
    refresh(loop, o); /* the origin is last in its list: origins take turns */
    errand__transfer_start(loop, t);
    any = true;
    if (++started % ERRAND__TOGETHER == 0)
      errand__shards_kick(loop);
  }
  if (rank < 0 && loop->starving >= 0)
    errand__quota_sated(loop);
  return any;
}

static void not_connecting(errand__transfer *t) {
  if (t->attempt.counted_connecting) {
    t->attempt.counted_connecting = false;
    t->origin->connecting--;
  }
}

void errand__origin_connected(errand__loop *loop, errand__transfer *t) {
  errand__origin *o = t->origin;
  not_connecting(t);
  o->warm_until_ms = loop->agenda.now_ms + WARM_MS;
  o->failure = ERRAND_OK;
  errand__list_remove(&o->unreachable_link);
  t->attempt.counted_http2 = t->attempt.http2;
  if (!t->attempt.counted_http2)
    loop->busy_http1++;
  else if (o->http2_active++ == 0)
    loop->busy_http2++;
  refresh(loop, o);
}

void errand__admission_ended(errand__loop *loop, errand__transfer *t,
                             const errand_record *record) {
  errand__origin *o = t->origin;
  bool connecting = t->attempt.counted_connecting;
  if (t->phase >= ERRAND__SENDING) {
    if (!t->attempt.counted_http2)
      loop->busy_http1--;
    else if (--o->http2_active == 0)
      loop->busy_http2--;
  }
  not_connecting(t);
  if (connecting && o->gated && loop->agenda.now_ms >= o->warm_until_ms)
    errand__origin_failed(loop, o, t, record);
  o->in_flight--;
  o->used_ms = loop->agenda.now_ms;
  errand__quota_release(loop);
  refresh(loop, o);
}
