#include "loop/origin.h"

#include <string.h>

#include "base/mem.h"
#include "loop/loop_turn.h"
#include "loop/quota.h"
#include "loop/shard.h"
#include "transfer/options.h"

#define IDLE_MS 60000
#define FIRST_BUCKETS 64

static char lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char) (c | 0x20) : c;
}

static const errand_options *options_of(const errand__loop *loop,
                                        const errand__transfer *t) {
  return t->options ? t->options : loop->shared->options;
}

static bool is_for(const errand__origin *o, const errand__transfer *t) {
  const errand__url *url = &t->url_parts;
  if (o->hash != t->origin_hash || o->identity != t->identity ||
      o->port != url->port || o->secure != url->secure ||
      o->host_length != url->host_length)
    return false;
  if (url->plain) /* in lower case */
    return memcmp(o->host, url->host, url->host_length) == 0;
  for (size_t i = 0; i < url->host_length; i++)
    if (o->host[i] != lower(url->host[i]))
      return false;
  return true;
}

/* Adds buckets. Without memory for them the table is slower, but works. */
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
  o->quota = errand__quota_of_origin(loop->shared, o->hash, loop->index);
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

errand__origin *errand__origin_for(errand__loop *loop,
                                   const errand__transfer *t) {
  const errand_options *options = options_of(loop, t);
  errand__origin *o = NULL;
  if (loop->origin_buckets)
    o = loop->origins[t->origin_hash & (loop->origin_buckets - 1)];
  while (o && !is_for(o, t))
    o = o->next;
  return o ? o : make(loop, t, options);
}

/* How long an origin without requests is kept: as long as its connections may
   be used. A shard with more origins than requests at a time has not kept the
   connections of all of them (CURLMOPT_MAXCONNECTS). */
static uint64_t keep_of(const errand__loop *loop, const errand__origin *o) {
  uint32_t limit = loop->shared->init.shard_in_flight_limit;
  bool kept = o->shard && o->shard->origin_count <= limit;
  return kept && o->keep_ms > IDLE_MS ? o->keep_ms : IDLE_MS;
}

void errand__origins_tend(errand__loop *loop, bool everything) {
  for (size_t i = 0; i < loop->origin_buckets; i++) {
    errand__origin **link = &loop->origins[i];
    while (*link) {
      errand__origin *o = *link;
      bool unused =
          o->in_flight == 0 && o->waiting_count == 0 && o->parked_count == 0;
      if (unused && (everything ||
                     loop->agenda.now_ms - o->used_ms >= keep_of(loop, o))) {
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
