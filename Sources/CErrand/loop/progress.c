#include "loop/progress.h"

#include "transfer/info.h"
#include "transfer/slot.h"

/* The time between two reports of one transfer. */
#define INTERVAL_MS 100

static int64_t to_receive(const errand__transfer *t) {
  if (!errand__has_last_head(&t->response))
    return ERRAND_LENGTH_UNKNOWN;
  if (t->send == ERRAND__SEND_HEAD) /* a response to HEAD has no body */
    return 0;
  curl_off_t length = errand__info_body_length(t->slot->easy);
  return length < 0 ? ERRAND_LENGTH_UNKNOWN : (int64_t) length;
}

/* libcurl counts from zero when it resends a request, and counts the body of a
   challenge that it answers. Neither is reported. */
static bool moved(errand__progress *p) {
  const errand__transfer *t = p->transfer;
  uint64_t sent = errand__info_count(t->slot->easy, CURLINFO_SIZE_UPLOAD_T);
  uint64_t received =
      errand__has_body(&t->response)
          ? errand__info_count(t->slot->easy, CURLINFO_SIZE_DOWNLOAD_T)
          : 0;
  bool more = sent > p->sent || received > p->received;
  if (sent > p->sent)
    p->sent = sent;
  if (received > p->received)
    p->received = received;
  return more;
}

static bool report(errand__loop *loop, const errand__progress *p) {
  const errand__transfer *t = p->transfer;
  if (!errand__records_reserve(&loop->agenda.records, 1))
    return false;
  errand_record *record =
      errand__records_add(&loop->agenda.records, t->id, t->tag);
  record->kind = ERRAND_RECORD_PROGRESS;
  record->bytes_sent = p->sent;
  record->bytes_received = p->received;
  record->totals.to_send = errand__transfer_upload_length(t);
  record->totals.to_receive = to_receive(t);
  return true;
}

static void arm(errand__loop *loop) {
  if (!loop->progress_tick.armed)
    errand__wheel_add(&loop->agenda.wheel, &loop->progress_tick,
                      loop->agenda.now_ms + INTERVAL_MS);
}

void errand__progress_started(errand__loop *loop, errand__transfer *t) {
  errand__list_append(&loop->progressing, &errand__progress_of(t)->link);
  arm(loop);
}

void errand__progress_run(errand__loop *loop) {
  errand__list *l = loop->progressing.next;
  for (; l != &loop->progressing; l = l->next) {
    errand__progress *p = ERRAND__CONTAINER(l, errand__progress, link);
    if (moved(p) && !report(loop, p))
      break; /* the next report has the numbers */
  }
  if (!errand__list_is_empty(&loop->progressing))
    arm(loop);
}

bool errand__progress_ended(errand__loop *loop, errand__transfer *t) {
  errand__list_remove(&errand__progress_of(t)->link);
  moved(errand__progress_of(t));
  return report(loop, errand__progress_of(t));
}
