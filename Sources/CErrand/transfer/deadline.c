#include "transfer/deadline.h"

#include "transfer/slot.h"

static errand_status consider(uint64_t since, int64_t timeout, uint64_t now,
                              errand_status what, errand_status so_far,
                              uint64_t *next) {
  if (timeout <= 0)
    return so_far;
  uint64_t at = since + (uint64_t) timeout;
  if (now >= at)
    return so_far == ERRAND_OK ? what : so_far;
  if (at < *next)
    *next = at;
  return so_far;
}

/* How often in each timeout the core looks for bytes that no callback sees. */
#define LOOKS 8
#define LOOK_MIN_MS 10

static bool moves_unseen(const errand__transfer *t) {
  if (t->phase != ERRAND__SENDING && t->phase != ERRAND__RECEIVING)
    return false;
  return t->send == ERRAND__SEND_READ ||
         t->upload.body_length > ERRAND__SENT_AT_ONCE;
}

void errand__deadline_look(errand__transfer *t, uint64_t now) {
  if (!moves_unseen(t))
    return;
  curl_off_t uploaded = 0;
  curl_off_t downloaded = 0;
  curl_easy_getinfo(t->slot->easy, CURLINFO_SIZE_UPLOAD_T, &uploaded);
  curl_easy_getinfo(t->slot->easy, CURLINFO_SIZE_DOWNLOAD_T, &downloaded);
  if (uploaded != t->upload.seen_bytes)
    t->sent_ms = t->activity_ms = now;
  int64_t length = errand__transfer_upload_length(t);
  if (length >= 0 && uploaded >= length)
    t->upload.done = true;
  if (downloaded != t->seen_downloaded)
    t->activity_ms = now;
  t->upload.seen_bytes = uploaded;
  t->seen_downloaded = downloaded;
}

/* Moves *next to the next look at a transfer whose bytes no callback sees. */
static void look_sooner(const errand__transfer *t, uint64_t now,
                        uint64_t *next) {
  int64_t shortest = t->timeouts.idle;
  if (t->phase == ERRAND__SENDING && t->timeouts.first_byte > 0 &&
      (shortest <= 0 || t->timeouts.first_byte < shortest))
    shortest = t->timeouts.first_byte;
  if (shortest <= 0 || !moves_unseen(t))
    return;
  uint64_t pause = (uint64_t) shortest / LOOKS;
  uint64_t at = now + (pause < LOOK_MIN_MS ? LOOK_MIN_MS : pause);
  if (at < *next)
    *next = at;
}

errand_status errand__deadline_check(const errand__transfer *t, uint64_t now,
                                     uint64_t *next) {
  errand_status status = ERRAND_OK;
  *next = ERRAND__WHEEL_NEVER;
  /* While the caller holds the transfer no byte moves, so silence is no fault.
   */
  bool held = t->pause.asked || t->pause.out_of_credit;
  errand__phase phase = t->attempt.reconnecting ? ERRAND__CONNECTING : t->phase;
  switch (phase) {
  case ERRAND__WAITING:
  case ERRAND__PARKED:
    status = consider(t->submitted_ms, t->timeouts.queue, now,
                      ERRAND_TIMEOUT_QUEUE, status, next);
    break;
  case ERRAND__CONNECTING:
    status = consider(t->attempt.connecting_ms, t->timeouts.connect, now,
                      ERRAND_TIMEOUT_CONNECT, status, next);
    break;
  case ERRAND__SENDING:
    if (held)
      break;
    if (t->upload.done && (!t->upload.starved || errand__is_websocket(t)))
      status = consider(t->sent_ms, t->timeouts.first_byte, now,
                        ERRAND_TIMEOUT_FIRST_BYTE, status, next);
    status = consider(t->activity_ms, t->timeouts.idle, now,
                      ERRAND_TIMEOUT_IDLE, status, next);
    break;
  case ERRAND__RECEIVING:
    if (held)
      break;
    status = consider(t->activity_ms, t->timeouts.idle, now,
                      ERRAND_TIMEOUT_IDLE, status, next);
    break;
  case ERRAND__FINISHED:
    return ERRAND_OK;
  }
  if (!held)
    look_sooner(t, now, next);
  return consider(t->submitted_ms, t->timeouts.total, now, ERRAND_TIMEOUT_TOTAL,
                  status, next);
}

void errand__deadline_set(errand__agenda *agenda, errand__transfer *t) {
  uint64_t next;
  /* Overdue already: the wheel fires the node in this turn, outside libcurl. */
  if (errand__deadline_check(t, agenda->now_ms, &next) != ERRAND_OK)
    next = agenda->now_ms;
  if (next == ERRAND__WHEEL_NEVER)
    return;
  if (!t->deadline.armed || next < t->deadline.deadline_ms)
    errand__wheel_add(&agenda->wheel, &t->deadline, next);
}

void errand__deadline_reconnect(errand__agenda *agenda, errand__transfer *t) {
  if (errand__is_connecting(t))
    return;
  t->attempt.reconnecting = true;
  t->attempt.connecting_ms = agenda->now_ms;
  errand__deadline_set(agenda, t);
}
