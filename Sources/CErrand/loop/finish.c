#include "loop/finish.h"

#include "base/mem.h"
#include "libcurl/curl_traits.h"
#include "group/group.h"
#include "libcurl/process.h"
#include "loop/admission.h"
#include "loop/deadline.h"
#include "loop/descriptors.h"
#include "loop/progress.h"
#include "loop/report.h"
#include "loop/shard.h"
#include "loop/transfers.h"
#include "transfer/payload.h"
#include "transfer/result.h"
#include "transfer/pausing.h"
#include "transfer/slot.h"
#include "transfer/source.h"

/* What there is to say of a failure; NULL: nothing. */
static const char *words_of(const errand__slot *slot,
                            const errand_record *record) {
  if (record->status == ERRAND_DECODING_FAILED && slot->words)
    return slot->words;
  /* Where the core gave up itself, libcurl's words are about a callback. */
  bool ours = slot->transfer->reason != ERRAND_OK &&
              record->status != ERRAND_OUT_OF_DESCRIPTORS;
  return record->curl_code != CURLE_OK && !ours && slot->error[0] ? slot->error
                                                                  : NULL;
}

/* A failure's text, a body's trailers, and a head nobody streamed. */
static void complete_payload(errand__slot *slot, bool failed,
                             errand_record *record) {
  errand__transfer *t = slot->transfer;
  const char *text = failed ? words_of(slot, record) : NULL;
  bool trailers =
      t->head_done && slot->scratch.length > 0 && (t->payload || t->head_sent);
  bool head = !t->head_sent && t->head_done;
  bool ok = true;
  if (!t->payload && (text || trailers || head)) {
    if (!head && !trailers)
      slot->scratch.length = 0; /* half a head */
    if (trailers)
      t->payload = errand__payload_create(NULL, 0, NULL, slot->scratch.length);
    else
      errand__payload_begin(slot, 0);
    ok = t->payload != NULL;
  }
  if (ok && trailers)
    ok = errand__payload_set_trailers(&t->payload, slot->scratch.bytes,
                                      slot->scratch.length);
  if (ok && text)
    ok = errand__payload_set_text(&t->payload, text);
  if (!ok && record->status == ERRAND_OK)
    record->status = ERRAND_OUT_OF_MEMORY;
  record->payload = t->payload;
  t->payload = NULL;
}

/* Whether the handle is as good as new. libcurl counts by handle how often it
   sent again, and makes an error of the sixth time (Curl_retry_request); only
   a transfer that ended well surely added nothing to it. The errno it reports
   it never resets: a used one would colour the next failure. */
static bool is_reusable(const errand__transfer *t, errand_status status,
                        CURLcode code, const errand_record *record) {
  return code == CURLE_OK && status == ERRAND_OK && !t->replayed &&
         record->os_error == 0;
}

/*
 * Where the server's limit of streams or its silence keeps the HEADERS of a
 * request in nghttp2's queue, libcurl cannot take its handle out of the stream
 * that is yet to be opened (http2_data_done), and looks at it when nghttp2
 * drops the HEADERS (on_stream_close). A response says that they were sent.
 */
static bool may_be_named(const errand__loop *loop, const errand__transfer *t) {
  const errand__slot *slot = t->slot;
  bool may_speak_http2 =
      t->may_http2 &&
      (slot->fd < 0 || errand__fd_may_speak(&loop->fds, slot->fd));
  return may_speak_http2 && t->phase >= ERRAND__SENDING &&
         t->header_bytes == 0 &&
         errand__curl_does(ERRAND__CURL_KEEPS_ENDED_STREAMS);
}

/* What libcurl holds back of a paused stream it does not free at the end of the
   transfer while the connection has other streams (multi_done), nor with the
   handle: it gives it up as it goes on, to a callback that takes nothing. */
static void give_up_held(errand__transfer *t) {
  t->dropped = true;
  if (t->counted_http2 && t->paused_bits)
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
  complete_payload(slot, record->status != ERRAND_OK, record);
  give_up_held(t);
  bool named = may_be_named(loop, t);
  curl_multi_remove_handle(shard->multi, slot->easy);
  errand__shard_touch(shard);
  errand__shard_left(shard);
  shard->used_ms = realm->used_ms = loop->now_ms;
  realm->in_flight--;
  t->slot = NULL;
  if (t->counted_http2 && t->http_major == 1)
    errand__fd_set_may_speak(&loop->fds, slot->fd, false);
  loop->freed |= t->http_major == 1 &&
                 errand__curl_does(ERRAND__CURL_KEEPS_UNCLEAN_CONNECTIONS);
  if (named)
    errand__slot_leave(slot);
  else
    errand__slot_give(slot, is_reusable(t, status, code, record));
  errand__counter_bump(&loop->counters.in_flight, (uint64_t) -1);
}

/* There was no descriptor for a multi handle: from 8.20 on it has to have one
   to be woken by (dc9a03e855). */
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
  /* What libcurl says of a response to a WebSocket's handshake that is no 101,
     whose head it has given. */
  if (code == CURLE_HTTP_RETURNED_ERROR && errand__is_websocket(t) &&
      t->head_done)
    code = CURLE_OK;
  bool held = t->head_held && t->slot && t->head_done && status == ERRAND_OK &&
              code == CURLE_OK;
  bool reported = !held || errand__head_release(t->slot);
  reported &= errand__report(loop, t); /* chunks come before the end */
  if (t->progress && t->slot)
    reported &= errand__progress_ended(loop, t);
  errand_record *record = errand__loop_add_record(loop, t->id, t->tag);
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
    /* libcurl counts to its last event, which may be long before a deadline. */
    uint64_t lasted = (uv_hrtime() - t->started_ns) / 1000;
    if (status != ERRAND_OK && record->timings.total < lasted)
      record->timings.total = lasted;
    errand__list_remove(&t->link);
    errand__admission_ended(loop, t, record);
  } else {
    record->timings.queue = (uv_hrtime() - t->submitted_ns) / 1000;
    if (t->origin)
      errand__admission_dequeue(loop, t);
    errand__counter_sub(&loop->group->queued, 1);
    record->payload = t->payload;
    t->payload = NULL;
  }
  t->phase = ERRAND__FINISHED;
  errand__wheel_remove(&loop->wheel, &t->deadline);
  if (t->in_review)
    errand__list_remove(&t->review_link);
  if (t->in_flush)
    errand__list_remove(&t->flush_link);
  errand__transfers_remove(loop, t);
  errand__transfer_free(t);
}

void errand__finish_all(errand__loop *loop, errand_status status) {
  /* Each bucket once: nothing is added meanwhile. */
  for (size_t i = 0; loop->live > 0 && i < loop->id_buckets; i++)
    while (loop->by_id[i])
      errand__finish(loop, loop->by_id[i], status, CURLE_OK);
}

void errand__check_wire_limits(errand__loop *loop) {
  for (errand__list *l = loop->started.next; l != &loop->started;) {
    errand__transfer *t = ERRAND__CONTAINER(l, errand__transfer, link);
    l = l->next;
    if (t->head_held && t->slot && errand__wire_limit_passed(t->slot))
      errand__finish(loop, t, ERRAND_LIMIT_BODY_BYTES, CURLE_OK);
  }
}

static bool keep_message(errand__loop *loop, size_t count, const CURLMsg *m) {
  if (count == loop->message_capacity) {
    size_t capacity = count ? count * 2 : 64;
    CURLMsg *grown = errand__realloc(loop->messages, capacity * sizeof *grown);
    if (!grown)
      return false;
    loop->messages = grown;
    loop->message_capacity = capacity;
  }
  loop->messages[count] = *m;
  return true;
}

/* All messages first: removing a handle searches the message list, and the
   message dies with it. */
static size_t take_messages(errand__loop *loop, errand__shard *shard) {
  size_t count = 0;
  int left;
  CURLMsg *message;
  while ((message = curl_multi_info_read(shard->multi, &left)) != NULL) {
    if (message->msg != CURLMSG_DONE)
      continue;
    if (!keep_message(loop, count, message)) {
      CURLMsg last = *message;
      errand__slot *slot = NULL;
      curl_easy_getinfo(last.easy_handle, CURLINFO_PRIVATE, (char **) &slot);
      errand__finish(loop, slot->transfer, ERRAND_OK, last.data.result);
      continue;
    }
    count++;
  }
  return count;
}

/* An error of the multi interface leaves its state undefined. */
static void fail_shard(errand__loop *loop, errand__shard *shard) {
  for (errand__list *l = loop->started.next; l != &loop->started;) {
    errand__transfer *t = ERRAND__CONTAINER(l, errand__transfer, link);
    l = l->next;
    if (t->slot && t->slot->shard == shard)
      errand__finish(loop, t, ERRAND_OUT_OF_MEMORY, CURLE_OUT_OF_MEMORY);
  }
  errand__shard_discard(shard);
}

/*
 * libcurl sends up to five times again where one kept connection after another
 * turns out dead (Curl_retry_request). Where the request may be sent again and
 * no byte of a response came, it goes once more, on a new connection.
 */
static bool retry_fresh(errand__loop *loop, errand__transfer *t) {
  errand__slot *slot = t->slot;
  if (!t->wants_fresh)
    return false;
  t->wants_fresh = false;
  if (t->source && !errand__source_rewind(t->source)) {
    t->reason = ERRAND_UPLOAD_NOT_REPLAYABLE;
    return false;
  }
  errand__slot_unpause(slot);
  t->starved = false;
  slot->fd = -1;
  slot->error[0] = '\0';
  errand__deadline_reconnect(loop, t);
  curl_multi_remove_handle(slot->shard->multi, slot->easy);
  return curl_easy_setopt(slot->easy, CURLOPT_FRESH_CONNECT, 1L) == CURLE_OK &&
         curl_multi_add_handle(slot->shard->multi, slot->easy) == CURLM_OK;
}

bool errand__collect(errand__loop *loop) {
  bool any = false;
  errand__list now;
  errand__list *l;
  errand__list_init(&now);
  errand__list_splice(&now, &loop->dirty);
  while ((l = errand__list_pop(&now)) != NULL) {
    errand__shard *shard = ERRAND__CONTAINER(l, errand__shard, dirty_link);
    if (shard->undecided)
      errand__shard_nudge(shard);
    size_t count = take_messages(loop, shard);
    for (size_t i = 0; i < count; i++) {
      errand__slot *slot = NULL;
      curl_easy_getinfo(loop->messages[i].easy_handle, CURLINFO_PRIVATE,
                        (char **) &slot);
      CURLcode result = loop->messages[i].data.result;
      if (!retry_fresh(loop, slot->transfer) &&
          (result == CURLE_OK ||
           !errand__descriptors_retry(loop, slot->transfer)))
        errand__finish(loop, slot->transfer, ERRAND_OK, result);
    }
    any |= count > 0;
    if (shard->broken) {
      fail_shard(loop, shard);
      any = true;
    } else if (count > 0) {
      /* Removing handles may have ended others (a lost HTTP/2 session). */
      errand__shard_touch(shard);
    }
  }
  return any;
}
