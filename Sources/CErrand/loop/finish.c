#include "loop/finish.h"

#include "libcurl/curl_traits.h"
#include "loop/admission.h"
#include "loop/descriptors.h"
#include "loop/origin.h"
#include "loop/progress.h"
#include "loop/report.h"
#include "loop/shard.h"
#include "loop/slot_pool.h"
#include "loop/start.h"
#include "loop/transfers.h"
#include "transfer/completion.h"
#include "transfer/head.h"
#include "transfer/payload.h"
#include "transfer/result.h"
#include "transfer/wire_limit.h"

/* Whether the next request may use the handle. libcurl counts its resends per
   handle, and fails the sixth time (Curl_retry_request). Only after a transfer
   that ended well is it certain that nothing was added to the count. libcurl
   never resets the errno that it reports, so the errno of an address that could
   not be reached would seem to belong to the next failure. */
static bool is_reusable(const errand__transfer *t, errand_status status,
                        CURLcode code) {
  return code == CURLE_OK && status == ERRAND_OK && !t->attempt.replayed &&
         t->attempt.stale_error == 0;
}

/*
 * Whether libcurl may still use the handle after its removal. The server's
 * limit of streams, or its silence, may keep the HEADERS of a request in
 * nghttp2's queue. libcurl then cannot take the handle out of the stream, which
 * is not open yet (http2_data_done), and uses the handle when nghttp2 drops the
 * HEADERS (on_stream_close). Any byte of a response means that the HEADERS were
 * sent.
 */
static bool may_be_named(const errand__loop *loop, const errand__transfer *t) {
  const errand__slot *slot = t->slot;
  bool may_speak_http2 =
      t->may_http2 &&
      (slot->fd < 0 || errand__fd_may_speak(&loop->fds, slot->fd));
  return may_speak_http2 && t->phase >= ERRAND__SENDING &&
         t->response.header_bytes == 0 &&
         errand__curl_does(ERRAND__CURL_KEEPS_ENDED_STREAMS);
}

/* Makes libcurl free the bytes that it holds back of a paused HTTP/2 stream. It
   does not free them at the end of the transfer while the connection has other
   streams (multi_done), nor with the handle. But it passes them to the write
   callback when the pause ends, and the callback takes no bytes of a dropped
   transfer. */
static void give_up_held(errand__transfer *t) {
  t->dropped = true;
  if (t->attempt.http2 && t->pause.bits)
    curl_easy_pause(t->slot->easy, CURLPAUSE_CONT);
}

static void leave_libcurl(errand__loop *loop, errand__transfer *t,
                          errand_status status, CURLcode code,
                          errand_record *record) {
  errand__slot *slot = t->slot;
  errand__shard *shard = slot->shard;
  errand__realm *realm = slot->realm;
  errand__record_fill(slot, code, record);
  errand__name_socket(slot, code);
  errand__descriptors_describe(t, record, slot->error);
  errand__complete_payload(slot, record->status != ERRAND_OK, record);
  give_up_held(t);
  bool named = may_be_named(loop, t);
  curl_multi_remove_handle(shard->multi, slot->easy);
  errand__shard_touch(shard);
  errand__shard_left(shard);
  shard->used_ms = realm->used_ms = loop->agenda.now_ms;
  realm->in_flight--;
  t->slot = NULL;
  errand__text_left(loop, t);
  if (t->may_http2 && t->response.http_major == 1)
    errand__fd_set_may_speak(&loop->fds, slot->fd, false);
  loop->freed |= t->response.http_major == 1 &&
                 errand__curl_does(ERRAND__CURL_KEEPS_UNCLEAN_CONNECTIONS);
  if (named)
    errand__slot_leave(slot);
  else
    errand__slot_give(slot, is_reusable(t, status, code));
  errand__in_flight_count(loop, t->priority, (uint64_t) -1);
}

/* There was no descriptor for a multi handle. From 8.20 on a multi handle has a
   descriptor for wake-ups (dc9a03e855). */
static void describe_unstarted(const errand__transfer *t,
                               errand_record *record) {
  char text[CURL_ERROR_SIZE] = "";
  errand__descriptors_describe(t, record, text);
  if (!text[0])
    return;
  record->payload = errand__payload_create(NULL, 0, NULL, 0);
  if (record->payload && !errand__payload_set_text(&record->payload, text)) {
    errand_payload_free(record->payload);
    record->payload = NULL;
  }
}

void errand__finish(errand__loop *loop, errand__transfer *t,
                    errand_status status, CURLcode code) {
  /* libcurl's error for a response to a WebSocket's handshake that is not a
     101. The core has its head, so it is a response like any other. */
  if (code == CURLE_HTTP_RETURNED_ERROR && errand__is_websocket(t) &&
      errand__has_head(&t->response))
    code = CURLE_OK;
  bool held = errand__is_held(&t->response) && t->slot && status == ERRAND_OK &&
              code == CURLE_OK;
  bool reported = !held || errand__head_release(t->slot);
  reported &= errand__report(loop, t); /* chunks come before the end */
  if (errand__progress_of(t) && t->slot)
    reported &= errand__progress_ended(loop, t);
  errand_record *record =
      errand__records_add(&loop->agenda.records, t->id, t->tag);
  record->kind = ERRAND_RECORD_COMPLETION;
  if (status == ERRAND_OK && t->slot)
    status = errand__status_of(t->slot, code);
  if (status == ERRAND_OK && t->slot)
    status = errand__check_complete(t->slot);
  if (!reported && status == ERRAND_OK)
    status = ERRAND_OUT_OF_MEMORY;
  record->status = status;
  if (t->phase > ERRAND__PARKED) {
    record->timings.queue = (t->started_ns - t->submitted_ns) / 1000;
    if (t->slot)
      leave_libcurl(loop, t, status, code, record);
    else
      describe_unstarted(t, record);
    /* libcurl's total time ends with its last event, which may be long before a
       deadline. */
    uint64_t lasted = (uv_hrtime() - t->started_ns) / 1000;
    if (status != ERRAND_OK && record->timings.total < lasted)
      record->timings.total = lasted;
    errand__list_remove(&t->link);
    errand__admission_ended(loop, t, record);
  } else {
    record->timings.queue = (uv_hrtime() - t->submitted_ns) / 1000;
    if (t->origin)
      errand__admission_dequeue(loop, t);
    errand__queued_remove(loop->shared, t->priority);
    record->payload = t->response.payload;
    t->response.payload = NULL;
  }
  t->phase = ERRAND__FINISHED;
  errand__wheel_remove(&loop->agenda.wheel, &t->deadline);
  if (t->in_review)
    errand__list_remove(&t->review_link);
  if (t->in_flush)
    errand__list_remove(&t->flush_link);
  errand__transfers_remove(loop, t);
  errand__transfer_free(t);
}

void errand__finish_all(errand__loop *loop, errand_status status) {
  /* Each bucket is visited once: no transfer is added meanwhile. */
  for (size_t i = 0; loop->agenda.records.live > 0 && i < loop->id_buckets; i++)
    while (loop->by_id[i])
      errand__finish(loop, loop->by_id[i], status, CURLE_OK);
}

void errand__check_wire_limits(errand__loop *loop) {
  for (errand__list *l = loop->started.next; l != &loop->started;) {
    errand__transfer *t = ERRAND__CONTAINER(l, errand__transfer, link);
    l = l->next;
    if (errand__is_held(&t->response) && t->slot &&
        errand__wire_limit_passed(t->slot))
      errand__finish(loop, t, ERRAND_LIMIT_BODY_BYTES, CURLE_OK);
  }
}
