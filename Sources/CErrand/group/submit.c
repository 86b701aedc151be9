/* Requests and orders, from any thread to a loop. */
#include <string.h>

#include "group/group.h"
#include "libcurl/process.h"
#include "loop/quota.h"
#include "queue/command.h"
#include "transfer/options.h"
#include "transfer/transfer.h"

/* How many requests are pushed together. */
#define TOGETHER 64

/* The requests of one call for one loop. */
typedef struct chain {
  errand__queue_node *first;
  errand__queue_node *last;
  size_t count;
} chain;

/* The loop with the fewest requests among those that the origin may use; the
   home loop if several have the fewest. */
static uint32_t choose_loop(const struct errand_group *group,
                            const errand__transfer *t) {
  uint32_t n = errand__quota_loops(&group->shared);
  uint32_t home = (uint32_t) (t->origin_hash % group->shared.loop_count);
  uint32_t best = home;
  uint64_t least = UINT64_MAX;
  for (uint32_t i = 0; n > 1 && i < n; i++) {
    uint32_t index = (home + i) % group->shared.loop_count;
    uint64_t load = errand__counter_read(&group->loops[index].load);
    if (load < least) {
      least = load;
      best = index;
    }
  }
  return best;
}

/* A refused request's body stays the caller's. */
static void give_back(errand__transfer *t) {
  t->upload.body_release = NULL;
  errand__transfer_free(t);
}

static errand_status prepare(struct errand_group *group, errand_request *item,
                             uint64_t now_ns, errand__transfer **out) {
  errand_options *options =
      item->options ? item->options : group->shared.options;
  errand_status status = errand__transfer_create(item, options, out);
  if (status != ERRAND_OK)
    return status;
  if (errand__queued_add(&group->shared, (*out)->priority) >=
      group->shared.init.queue_capacity) {
    errand__queued_remove(&group->shared, (*out)->priority);
    give_back(*out);
    return ERRAND_QUEUE_FULL;
  }
  (*out)->submitted_ns = now_ns;
  (*out)->submitted_ms = now_ns / 1000000;
  return ERRAND_OK;
}

static void append(chain *to, errand__transfer *t) {
  errand__queue_node *node = &t->command.node;
  node->next = NULL;
  if (to->last)
    to->last->next = node;
  else
    to->first = node;
  to->last = node;
  to->count++;
}

/* The loop has ended since the caller checked that the group accepts requests.
 */
static void refuse(struct errand_group *group, chain *all,
                   errand_request *items, uint64_t *ids, size_t count) {
  errand__queue_node *node = all->first;
  errand__counter_add(&group->refused, all->count);
  while (node) {
    errand__transfer *t = (errand__transfer *) (void *) node;
    node = node->next;
    errand__queued_remove(&group->shared, t->priority);
    for (size_t i = 0; i < count; i++)
      if (ids[i] == t->id) {
        ids[i] = 0;
        items[i].status = ERRAND_SHUT_DOWN;
      }
    give_back(t);
  }
}

static size_t push(struct errand_group *group, chain *chains,
                   errand_request *items, uint64_t *ids, size_t count) {
  size_t accepted = 0;
  for (uint32_t i = 0; i < group->shared.loop_count; i++) {
    chain *c = &chains[i];
    if (!c->first)
      continue;
    errand__loop *loop = &group->loops[i];
    size_t n = c->count; /* the push may free the nodes */
    errand__counter_add(&loop->load, n);
    if (errand__loop_post(loop, c->first, c->last)) {
      accepted += n;
    } else {
      errand__counter_sub(&loop->load, n);
      refuse(group, c, items, ids, count);
    }
  }
  return accepted;
}

static errand_status gate(const struct errand_group *group) {
  if (errand__process_forked())
    return ERRAND_FORKED;
  return atomic_load_explicit(&((struct errand_group *) group)->shared.stopping,
                              memory_order_acquire)
             ? ERRAND_SHUT_DOWN
             : ERRAND_OK;
}

/* A thread that sees the id may use it: its orders are queued behind the
   request, in the queue of the same loop. */
static void set_id(errand_request *item, uint64_t id) {
  __atomic_store_n(&item->id, id, __ATOMIC_RELEASE);
}

static size_t submit_together(errand_group *group, errand_request *items,
                              size_t count, errand_status closed,
                              uint64_t now_ns) {
  chain chains[ERRAND__LOOPS_MAX];
  uint64_t ids[TOGETHER];
  memset(chains, 0, group->shared.loop_count * sizeof chains[0]);
  for (size_t i = 0; i < count; i++) {
    errand_request *item = &items[i];
    errand__transfer *t = NULL;
    ids[i] = 0;
    item->status =
        closed == ERRAND_OK ? prepare(group, item, now_ns, &t) : closed;
    if (item->status != ERRAND_OK)
      continue;
    uint32_t index = choose_loop(group, t);
    uint64_t sequence = errand__counter_add(&group->next_sequence, 1) + 1;
    t->id = ids[i] = (sequence << ERRAND__LOOP_BITS) | index;
    append(&chains[index], t);
  }
  size_t accepted = push(group, chains, items, ids, count);
  for (size_t i = 0; i < count; i++)
    set_id(&items[i], ids[i]);
  return accepted;
}

size_t errand_submit(errand_group *group, errand_request *items, size_t count) {
  errand_status closed = gate(group);
  uint64_t now_ns = uv_hrtime();
  size_t accepted = 0;
  for (size_t i = 0; i < count; i++)
    set_id(&items[i], 0);
  for (size_t from = 0; from < count; from += TOGETHER) {
    size_t n = count - from < TOGETHER ? count - from : TOGETHER;
    accepted += submit_together(group, items + from, n, closed, now_ns);
  }
  return accepted;
}

static uint32_t loop_of(uint64_t id) {
  return (uint32_t) (id & (ERRAND__LOOPS_MAX - 1));
}

/* Whether a request may have this id. */
static bool may_exist(const struct errand_group *group, uint64_t id) {
  return id != 0 && loop_of(id) < group->shared.loop_count;
}

/* Owns: the order is the loop's, or freed. */
static errand_status post(errand_group *group, errand__order *o) {
  errand__queue_node *node = &o->command.node;
  if (errand__loop_post(&group->loops[loop_of(o->id)], node, node))
    return ERRAND_OK;
  errand__order_free(o);
  return ERRAND_SHUT_DOWN;
}

static errand_status order(errand_group *group, uint64_t id,
                           errand__command_kind kind, uint64_t amount,
                           const uint8_t *bytes) {
  if (errand__process_forked())
    return ERRAND_FORKED;
  if (!may_exist(group, id))
    return ERRAND_OK;
  size_t length = bytes ? (size_t) amount : 0;
  errand__order *o = errand__order_create(kind, id, amount, length);
  if (!o)
    return ERRAND_OUT_OF_MEMORY;
  if (length) {
    memcpy(o + 1, bytes, length);
    o->bytes = (const uint8_t *) (o + 1);
  }
  return post(group, o);
}

errand_status errand_cancel(errand_group *group, uint64_t id) {
  return order(group, id, ERRAND__COMMAND_CANCEL, 0, NULL);
}

errand_status errand_pause(errand_group *group, uint64_t id) {
  return order(group, id, ERRAND__COMMAND_PAUSE, 0, NULL);
}

errand_status errand_resume(errand_group *group, uint64_t id) {
  return order(group, id, ERRAND__COMMAND_RESUME, 0, NULL);
}

errand_status errand_grant(errand_group *group, uint64_t id, uint64_t bytes) {
  return order(group, id, ERRAND__COMMAND_GRANT, bytes, NULL);
}

/* Whether these can be the bytes of a part: no memory is large enough for some
   lengths. */
static bool is_part(errand_bytes bytes) {
  return bytes.length == 0 ||
         (bytes.data && bytes.length <= SIZE_MAX - sizeof(errand__order));
}

errand_status errand_upload_write(errand_group *group, uint64_t id,
                                  errand_bytes bytes) {
  if (!is_part(bytes))
    return ERRAND_INVALID_ARGUMENT;
  if (bytes.length == 0)
    return errand__process_forked() ? ERRAND_FORKED : ERRAND_OK;
  return order(group, id, ERRAND__COMMAND_UPLOAD_WRITE, bytes.length,
               bytes.data);
}

errand_status errand_upload_lend(errand_group *group, uint64_t id,
                                 errand_bytes bytes,
                                 void (*release)(void *context),
                                 void *context) {
  errand_status status = ERRAND_OK;
  errand__order *o = NULL;
  if (!is_part(bytes)) {
    status = ERRAND_INVALID_ARGUMENT;
  } else if (errand__process_forked()) {
    status = ERRAND_FORKED;
  } else if (bytes.length > 0 && may_exist(group, id)) {
    o = errand__order_create(ERRAND__COMMAND_UPLOAD_WRITE, id, bytes.length, 0);
    status = o ? ERRAND_OK : ERRAND_OUT_OF_MEMORY;
  }
  if (!o) {
    if (release)
      release(context);
    return status;
  }
  o->bytes = bytes.data;
  o->release = release;
  o->release_context = context;
  return post(group, o);
}

errand_status errand_upload_finish(errand_group *group, uint64_t id) {
  return order(group, id, ERRAND__COMMAND_UPLOAD_FINISH, 0, NULL);
}

errand_status errand_upload_fail(errand_group *group, uint64_t id) {
  return order(group, id, ERRAND__COMMAND_UPLOAD_FAIL, 0, NULL);
}
