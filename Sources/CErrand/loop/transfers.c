#include "loop/transfers.h"

#include "base/mem.h"

#define FIRST_BUCKETS 256

/* The ids of one loop are a sequence, so their low bits spread evenly. */
static errand__transfer **bucket_of(const errand__loop *loop, uint64_t id) {
  return &loop->by_id[(id >> ERRAND__LOOP_BITS) & (loop->id_buckets - 1)];
}

static void grow(errand__loop *loop) {
  size_t old = loop->id_buckets;
  size_t buckets = old ? old * 4 : FIRST_BUCKETS;
  errand__transfer **from = loop->by_id;
  errand__transfer **table = errand__calloc(buckets, sizeof *table);
  if (!table)
    return; /* the chains get longer */
  loop->by_id = table;
  loop->id_buckets = buckets;
  for (size_t i = 0; i < old; i++) {
    errand__transfer *t = from[i];
    while (t) {
      errand__transfer *next = t->next_by_id;
      errand__transfer **bucket = bucket_of(loop, t->id);
      t->next_by_id = *bucket;
      *bucket = t;
      t = next;
    }
  }
  errand__free(from);
}

bool errand__transfers_add(errand__loop *loop, errand__transfer *t) {
  if (loop->agenda.records.live >= loop->id_buckets)
    grow(loop);
  if (!loop->by_id)
    return false;
  errand__transfer **bucket = bucket_of(loop, t->id);
  t->next_by_id = *bucket;
  *bucket = t;
  loop->agenda.records.live++;
  return true;
}

void errand__transfers_remove(errand__loop *loop, errand__transfer *t) {
  errand__transfer **link = bucket_of(loop, t->id);
  while (*link && *link != t)
    link = &(*link)->next_by_id;
  if (!*link)
    return;
  *link = t->next_by_id;
  loop->agenda.records.live--;
}

errand__transfer *errand__transfers_find(const errand__loop *loop,
                                         uint64_t id) {
  if (!loop->by_id)
    return NULL;
  errand__transfer *t = *bucket_of(loop, id);
  while (t && t->id != id)
    t = t->next_by_id;
  return t;
}
