/* What libcurl sends from a source. */
#include <stdio.h>

#include "loop/deadline.h"
#include "transfer/slot.h"
#include "transfer/source.h"

size_t errand__on_read(char *bytes, size_t size, size_t count, void *context) {
  errand__slot *slot = context;
  errand__transfer *t = slot->transfer;
  errand__loop *loop = slot->realm->loop;
  size_t n = errand__source_read(t->source, bytes, size * count);
  if (n == ERRAND__SOURCE_STARVED && t->peer_gone) {
    t->reason = ERRAND_CONNECTION_LOST;
    return CURL_READFUNC_ABORT;
  }
  if (n == ERRAND__SOURCE_STARVED) {
    t->starved = true;
    t->paused_bits |= CURLPAUSE_SEND;
    return CURL_READFUNC_PAUSE;
  }
  if (n == ERRAND__SOURCE_FAILED) {
    t->reason = ERRAND_UPLOAD_FAILED;
    return CURL_READFUNC_ABORT;
  }
  t->activity_ms = t->sent_ms = loop->now_ms;
  if (n == 0) {
    t->upload_done = true;
    errand__deadline_set(loop, t);
  }
  errand__loop_flush_later(loop, t);
  return n;
}

int errand__on_seek(void *context, curl_off_t offset, int origin) {
  errand__slot *slot = context;
  errand__transfer *t = slot->transfer;
  if (origin != SEEK_SET || offset != 0)
    return CURL_SEEKFUNC_CANTSEEK;
  if (t->source && errand__source_rewind(t->source))
    return CURL_SEEKFUNC_OK;
  t->reason = ERRAND_UPLOAD_NOT_REPLAYABLE;
  return CURL_SEEKFUNC_FAIL;
}
