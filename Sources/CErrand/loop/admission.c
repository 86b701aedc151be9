#include "loop/admission.h"

#include <string.h>

#include "base/mem.h"
#include "group/group.h"
#include "loop/shard.h"
#include "transfer/options.h"

/* Requests a cold origin may have connecting at once. */
#define GATE 4
/* As long as libcurl keeps an address. */
#define WARM_MS 60000
#define IDLE_MS 60000
#define FIRST_BUCKETS 64

static char lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char) (c | 0x20) : c;
}

static const errand_options *options_of(const errand__loop *loop,
                                        const errand__transfer *t) {
  return t->options ? t->options : loop->group->options;
}

static bool is_for(const errand__origin *o, const errand__transfer *t) {
  const errand__url *url = &t->url_parts;
  if (o->hash != t->origin_hash || o->identity != t->identity ||
      o->port != url->port || o->secure != url->secure ||
      o->host_length != url->host_length)
    return false;
  for (size_t i = 0; i < url->host_length; i++)
    if (o->host[i] != lower(url->host[i]))
      return false;
  return true;
}

/* More buckets; staying with fewer is slower, not wrong. */
static void grow(errand__loop *loop) {
  size_t buckets =
      loop->origin_buckets ? loop->origin_buckets * 4 : FIRST_BUCKETS;
  errand__origin **table = errand__calloc(buckets, sizeof *table);
  if (!table)
    return;
  for (size_t i = 0; i < loop->origin_buckets; i++) {
    errand__origin *o = loop->origins[i];
    while (o) {
      errand__origin *next = o->next;
      errand__origin **bucket = &table[o->hash & (buckets - 1)];
      o->next = *bucket;
      *bucket = o;
      o = next;
    }
  }
  errand__free(loop->origins);
  loop->origins = table;
  loop->origin_buckets = buckets;
}

static errand__origin *make(errand__loop *loop, const errand__transfer *t,
                            const errand_options *options) {
  const errand__url *url = &t->url_parts;
  if (loop->origin_count >= loop->origin_buckets)
    grow(loop);
  if (loop->origin_buckets == 0)
    return NULL;
  errand__origin *o = errand__malloc(sizeof *o + url->host_length);
  if (!o)
    return NULL;
  *o = (errand__origin){.hash = t->origin_hash,
                        .identity = t->identity,
                        .port = url->port,
                        .secure = url->secure,
                        .host_length = url->host_length};
  o->quota = errand__origin_quota(loop->group, o->hash, loop->index);
  o->gated = !url->literal && !options->unix_socket;
  errand__list_init(&o->ready_link);
  errand__list_init(&o->unreachable_link);
  errand__list_init(&o->shard_link);
  for (int i = 0; i < ERRAND__PRIORITIES; i++)
    errand__list_init(&o->waiting[i]);
  for (size_t i = 0; i < url->host_length; i++)
    o->host[i] = lower(url->host[i]);
  errand__origin **bucket =
      &loop->origins[o->hash & (loop->origin_buckets - 1)];
  o->next = *bucket;
  *bucket = o;
  loop->origin_count++;
  errand__loop_keep_ticking(loop);
  return o;
}

static errand__origin *origin_for(errand__loop *loop,
                                  const errand__transfer *t) {
  const errand_options *options = options_of(loop, t);
  errand__origin *o = NULL;
  if (loop->origin_buckets)
    o = loop->origins[t->origin_hash & (loop->origin_buckets - 1)];
  while (o && !is_for(o, t))
    o = o->next;
  return o ? o : make(loop, t, options);
}

static bool may_start(const errand__loop *loop, const errand__origin *o) {
  if (o->waiting_count == 0 || o->in_flight >= o->quota)
    return false;
  if (!o->gated || loop->now_ms < o->warm_until_ms)
    return true;
  /* After a failure the others of the same try are waited for. */
  return o->connecting < GATE && o->failure == ERRAND_OK;
}

/* Of its waiting requests, of which there are some. */
static int best_rank(const errand__origin *o) {
  int rank = 0;
  while (rank < ERRAND__PRIORITIES - 1 &&
         errand__list_is_empty(&o->waiting[rank]))
    rank++;
  return rank;
}

/* Keeps the ready lists true after any change of an origin. */
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
  o->used_ms = loop->now_ms;
  refresh(loop, o);
}

bool errand__admission_enqueue(errand__loop *loop, errand__transfer *t) {
  t->origin = origin_for(loop, t);
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

/* -1: no origin may start a request. */
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
    if (!errand__group_acquire(loop, rank))
      break;
    errand__list *l = errand__list_pop(&loop->ready[rank]);
    errand__origin *o = ERRAND__CONTAINER(l, errand__origin, ready_link);
    errand__transfer *t = pop(o);
    o->in_flight++;
    o->connecting++;
    o->used_ms = loop->now_ms;
    t->counted_connecting = true;
    refresh(loop, o); /* to the back of a ready list: origins take turns */
    errand__transfer_start(loop, t);
    any = true;
    if (++started % ERRAND__TOGETHER == 0)
      errand__shards_kick(loop);
  }
  if (rank < 0 && loop->starving >= 0)
    errand__group_sated(loop);
  return any;
}

static void not_connecting(errand__transfer *t) {
  if (t->counted_connecting) {
    t->counted_connecting = false;
    t->origin->connecting--;
  }
}

void errand__origin_connected(errand__loop *loop, errand__transfer *t) {
  errand__origin *o = t->origin;
  not_connecting(t);
  o->warm_until_ms = loop->now_ms + WARM_MS;
  o->failure = ERRAND_OK;
  errand__list_remove(&o->unreachable_link);
  t->counted_http2 = t->may_http2;
  if (!t->counted_http2)
    loop->busy_http1++;
  else if (o->http2_active++ == 0)
    loop->busy_http2++;
  refresh(loop, o);
}

void errand__admission_ended(errand__loop *loop, errand__transfer *t,
                             const errand_record *record) {
  errand__origin *o = t->origin;
  bool connecting = t->counted_connecting;
  if (t->phase >= ERRAND__SENDING) {
    if (!t->counted_http2)
      loop->busy_http1--;
    else if (--o->http2_active == 0)
      loop->busy_http2--;
  }
  not_connecting(t);
  if (connecting && o->gated && loop->now_ms >= o->warm_until_ms)
    errand__origin_failed(loop, o, t, record);
  o->in_flight--;
  o->used_ms = loop->now_ms;
  errand__group_release(loop->group, loop->index);
  refresh(loop, o);
}

void errand__origins_tend(errand__loop *loop, bool everything) {
  for (size_t i = 0; i < loop->origin_buckets; i++) {
    errand__origin **link = &loop->origins[i];
    while (*link) {
      errand__origin *o = *link;
      bool unused =
          o->in_flight == 0 && o->waiting_count == 0 && o->parked_count == 0;
      if (unused && (everything || loop->now_ms - o->used_ms >= IDLE_MS)) {
        *link = o->next;
        errand__list_remove(&o->ready_link);
        errand__list_remove(&o->unreachable_link);
        errand__shard_forget(o);
        errand__root_free(o->root);
        errand__free(o);
        loop->origin_count--;
      } else {
        link = &o->next;
      }
    }
  }
  if (everything && loop->origin_count == 0) {
    errand__free(loop->origins);
    loop->origins = NULL;
    loop->origin_buckets = 0;
  }
}
