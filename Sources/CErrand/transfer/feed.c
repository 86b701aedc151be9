#include "transfer/feed.h"

#include <stdio.h>

#include "transfer/deadline.h"
#include "transfer/slot.h"
#include "transfer/info.h"
#include "transfer/source.h"

/*
 * The status if a body has to be resent and the core no longer has it. The
 * caller may resend the request only if libcurl would have done so, or if the
 * server has answered and asked for it.
 */
static errand_status cannot_rewind(const errand__transfer *t) {
  bool answered = t->response.header_bytes > t->attempt.ready_header_bytes;
  return answered || errand__may_replay(t) ? ERRAND_UPLOAD_NOT_REPLAYABLE
                                           : ERRAND_CONNECTION_LOST;
}

/* The status if the server closed the connection while the source had no bytes.
   On a reused connection libcurl would have resent a body from memory. */
static errand_status peer_gone(const errand__slot *slot) {
  const errand__transfer *t = slot->transfer;
  long connects = errand__info_long(slot->easy, CURLINFO_NUM_CONNECTS);
  return connects == 0 &&
                 t->response.header_bytes == t->attempt.ready_header_bytes
             ? cannot_rewind(t)
             : ERRAND_CONNECTION_LOST;
}

size_t errand__on_read(char *bytes, size_t size, size_t count, void *context) {
  errand__slot *slot = context;
  errand__transfer *t = slot->transfer;
  errand__agenda *agenda = slot->agenda;
  size_t n = errand__source_read(t->upload.source, bytes, size * count);
  /* The server reads no more. Without this return the transfer would wait until
     the source ends. */
  if (n == ERRAND__SOURCE_STARVED && errand__is_websocket(t) &&
      errand__has_head(&t->response) &&
      (t->upload.peer_gone || t->response.http_status != 101))
    return 0;
  if (n == ERRAND__SOURCE_STARVED && t->upload.peer_gone) {
    t->reason = peer_gone(slot);
    return CURL_READFUNC_ABORT;
  }
  if (n == ERRAND__SOURCE_STARVED) {
    t->upload.starved = true;
    t->pause.bits |= CURLPAUSE_SEND;
    return CURL_READFUNC_PAUSE;
  }
  if (n == ERRAND__SOURCE_FAILED) {
    t->reason = ERRAND_UPLOAD_FAILED;
    return CURL_READFUNC_ABORT;
  }
  t->activity_ms = t->sent_ms = agenda->now_ms;
  if (n == 0) {
    t->upload.done = true;
    errand__deadline_set(agenda, t);
  }
  errand__agenda_flush(agenda, t);
  return n;
}

int errand__on_seek(void *context, curl_off_t offset, int origin) {
  errand__slot *slot = context;
  errand__transfer *t = slot->transfer;
  if (origin != SEEK_SET || offset != 0)
    return CURL_SEEKFUNC_CANTSEEK;
  if (t->upload.source && errand__source_rewind(t->upload.source))
    return CURL_SEEKFUNC_OK;
  t->reason = cannot_rewind(t);
  return CURL_SEEKFUNC_FAIL;
}
