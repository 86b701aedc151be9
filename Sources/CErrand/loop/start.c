#include "loop/start.h"

#include <errno.h>

#include "base/heap.h"
#include "base/open_error.h"
#include "loop/descriptors.h"
#include "loop/finish.h"
#include "loop/origin.h"
#include "loop/progress.h"
#include "loop/report.h"
#include "loop/realm.h"
#include "loop/shard.h"
#include "loop/slot_pool.h"
#include "transfer/deadline.h"
#include "transfer/setup.h"
#include "transfer/source.h"

/* The shard has the connections, and by the origin its next request finds the
   shard: both last as long as the connections may be used. */
static void keep_connections(errand__shard *shard, errand__origin *origin,
                             const errand_options *options) {
  uint32_t keep_ms = options->idle_connection_seconds * 1000;
  if (shard->keep_ms < keep_ms)
    shard->keep_ms = keep_ms;
  if (origin->keep_ms < keep_ms)
    origin->keep_ms = keep_ms;
}

static errand_status enter_libcurl(errand__loop *loop, errand__transfer *t) {
  errand_options *options = t->options ? t->options : loop->shared->options;
  errand__realm *realm = errand__realm_for(loop, t->identity);
  errand__shard *shard = NULL;
  errand__slot *slot = NULL;
  errno = 0;
  if (realm)
    shard = errand__shard_for(realm, t->origin);
  if (realm && !shard && errand__lacks_descriptors(errno)) {
    errand__descriptors_refused(loop, t, errno);
    return ERRAND_OUT_OF_DESCRIPTORS;
  }
  if (shard)
    slot = errand__slot_take(realm, options,
                             t->without_jar ? NULL : loop->shared->jar);
  if (!slot)
    return ERRAND_OUT_OF_MEMORY;
  slot->transfer = t;
  slot->shard = shard;
  CURLSH *share = NULL;
  if (!slot->jar)
    share = errand__realm_share(realm, t->url_parts.secure, t->origin_hash);
  errand_status status =
      errand__slot_setup(slot, t, share, shard->serial, &t->origin->root);
  if (status != ERRAND_OK) {
    errand__slot_give(slot, false);
    return status;
  }
  if ((t->may_http2 && !errand__shard_may_wait(shard)) ||
      (t->upload.source &&
       !errand__source_start(t->upload.source, &loop->uv, &loop->agenda, t)) ||
      curl_multi_add_handle(shard->multi, slot->easy) != CURLM_OK) {
    errand__slot_give(slot, false);
    return ERRAND_OUT_OF_MEMORY;
  }
  t->slot = slot;
  errand__shard_entered(shard, t->origin);
  keep_connections(shard, t->origin, options);
  realm->in_flight++;
  shard->hung_up = false; /* libcurl drops dead connections at a start */
  shard->used_ms = realm->used_ms = loop->agenda.now_ms;
  return ERRAND_OK;
}

/* Counts one more or one fewer transfer with a long text in libcurl, depending
   on `by`. */
static void count_text(errand__loop *loop, const errand__transfer *t, int by) {
  if (!t->long_text)
    return;
  loop->long_texts += (uint32_t) by;
  errand__loop_share_buffer(loop);
}

void errand__text_left(errand__loop *loop, const errand__transfer *t) {
  count_text(loop, t, -1);
}

void errand__transfer_start(errand__loop *loop, errand__transfer *t) {
  t->started_ns = uv_hrtime();
  t->heap_failures = errand__heap_failures();
  t->attempt.connecting_ms = loop->agenda.now_ms;
  errand__queued_remove(loop->shared, t->priority);
  t->phase = ERRAND__CONNECTING;
  errand__list_append(&loop->started, &t->link);
  errand__transfer_enter(loop, t);
}

void errand__transfer_enter(errand__loop *loop, errand__transfer *t) {
  count_text(loop, t, 1);
  errand_status status = enter_libcurl(loop, t);
  if (status != ERRAND_OK)
    count_text(loop, t, -1);
  if (status == ERRAND_OUT_OF_DESCRIPTORS &&
      errand__descriptors_wait(loop, t)) {
    errand__deadline_set(&loop->agenda, t);
    return;
  }
  if (status != ERRAND_OK) {
    errand__finish(loop, t, status, CURLE_OK);
    return;
  }
  errand__in_flight_count(loop, t->priority, 1);
  if (errand__progress_of(t))
    errand__progress_started(loop, t);
  if ((t->flags & ERRAND_REQUEST_REPORT_EVENTS) &&
      !errand__report_event(loop, t, ERRAND_RECORD_STARTED)) {
    errand__finish(loop, t, ERRAND_OUT_OF_MEMORY, CURLE_OK);
    return;
  }
  errand__deadline_set(&loop->agenda, t);
}
