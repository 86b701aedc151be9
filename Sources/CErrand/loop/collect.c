#include "loop/collect.h"

#include "base/mem.h"
#include "loop/descriptors.h"
#include "loop/finish.h"
#include "loop/shard.h"
#include "transfer/deadline.h"
#include "transfer/pausing.h"
#include "transfer/source.h"

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

/* All messages are copied before any handle is removed:
   curl_multi_remove_handle searches the message list and frees the handle's
   message. */
static size_t take_messages(errand__loop *loop, errand__shard *shard) {
  size_t count = 0;
  int left;
  CURLMsg *message;
  while ((message = curl_multi_info_read(shard->multi, &left)) != NULL) {
    if (message->msg != CURLMSG_DONE)
      continue;
    if (!keep_message(loop, count, message)) {
      CURLMsg last = *message;
      errand__slot *slot = errand__slot_of(last.easy_handle);
      errand__finish(loop, slot->transfer, ERRAND_OK, last.data.result);
      continue;
    }
    count++;
  }
  return count;
}

/* An error of the multi interface leaves the state of the multi handle
   undefined: all its transfers end. */
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
 * libcurl resends a request up to five times if one kept connection after
 * another turns out to be dead (Curl_retry_request). The core instead
 * resends the request only once, on a new connection, if it may be resent and
 * no byte of a response has come.
 */
static bool retry_fresh(errand__loop *loop, errand__transfer *t) {
  errand__slot *slot = t->slot;
  if (!t->attempt.wants_fresh)
    return false;
  t->attempt.wants_fresh = false;
  if (t->upload.source && !errand__source_rewind(t->upload.source)) {
    t->reason = ERRAND_UPLOAD_NOT_REPLAYABLE;
    return false;
  }
  errand__slot_unpause(slot);
  t->upload.starved = false;
  slot->single_use = true; /* FRESH_CONNECT stays set */
  slot->fd = -1;
  slot->error[0] = '\0';
  errand__deadline_reconnect(&loop->agenda, t);
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
      errand__slot *slot = errand__slot_of(loop->messages[i].easy_handle);
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
      /* Removing handles may have ended other transfers (a lost HTTP/2
         session). */
      errand__shard_touch(shard);
    }
  }
  return any;
}
