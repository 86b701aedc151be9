#include "loop/pauses.h"

#include "libcurl/curl_traits.h"
#include "loop/admission.h"
#include "loop/finish.h"
#include "loop/multi.h"
#include "loop/shard.h"
#include "transfer/deadline.h"
#include "transfer/pausing.h"
#include "transfer/source.h"

void errand__set_paused(errand__loop *loop, errand__transfer *t, bool paused) {
  if (t->pause.asked == paused)
    return;
  t->pause.asked = paused;
  if (t->phase == ERRAND__WAITING) {
    errand__admission_park(loop, t);
  } else if (t->phase == ERRAND__PARKED) {
    errand__admission_unpark(loop, t);
  } else {
    errand__agenda_review(&loop->agenda, t);
  }
}

void errand__credit_grant(errand__loop *loop, errand__transfer *t,
                          uint64_t bytes) {
  /* The sum saturates: a caller that grants too much only loses backpressure.
   */
  if (bytes > (uint64_t) (INT64_MAX / 2) || t->response.credit > INT64_MAX / 2)
    t->response.credit = INT64_MAX / 2;
  else
    t->response.credit += (int64_t) bytes;
  if (t->response.credit > 0 && t->pause.out_of_credit) {
    t->pause.out_of_credit = false;
    errand__agenda_review(&loop->agenda, t);
  }
}

void errand__loop_look_again(errand__loop *loop, errand__transfer *t) {
  /* If no socket is open, the transfer is ending, or has sent its request. */
  if (!t->attempt.opened)
    return;
  t->look_again = true;
  if (!t->in_review) {
    t->in_review = true;
    errand__list_append(&loop->agenda.review, &t->review_link);
  }
}

/* Makes libcurl look at one transfer again; only a change of its pause does
   that. curl_multi_socket_all looks at all transfers, and loses timers that it
   sets on the way, so that other requests wait for ever. */
static void look_again(errand__transfer *t) {
  CURL *easy = t->slot->easy;
  t->look_again = false;
  /* Refused if the transfer has ended: errand__collect ends it. */
  if (curl_easy_pause(easy, t->pause.bits ^ CURLPAUSE_RECV) != CURLE_OK)
    return;
  (void) curl_easy_pause(easy, t->pause.bits);
  errand__shard_touch(t->slot->shard);
}

/* Whether only the write callback pauses this transfer (errand__hold_back).
   Before the head has come, a transfer whose socket libcurl still wants to read
   would keep the lines of the head, and pass them all in one call. */
static bool is_left_to_the_sink(const errand__transfer *t) {
  return errand__curl_does(ERRAND__CURL_SPINS_WHILE_PAUSED) &&
         (errand__has_head(&t->response) ||
          errand__curl_does(ERRAND__CURL_LISTENS_WHILE_PAUSED));
}

static int wanted_pause(const errand__transfer *t) {
  int bits = 0;
  if (t->pause.asked || t->pause.out_of_credit) {
    bits |= CURLPAUSE_RECV;
    if (is_left_to_the_sink(t))
      bits &= t->pause.bits > 0 ? t->pause.bits : 0;
  }
  if (t->pause.asked || t->upload.starved)
    bits |= CURLPAUSE_SEND;
  return bits;
}

/* A resting transfer goes on once a second, for as many looks of libcurl as it
   may need: up to 8.9 the first look only ends the limit, without a read or a
   write (multi.c, MSTATE_RATELIMITING). */
#define ROUNDS 3
/* Seconds in which the rest of an upload may still be in libcurl's buffer. */
#define AFTER_UPLOAD 5

void errand__rests_tend(errand__loop *loop) {
  if (!errand__curl_does(ERRAND__CURL_READS_ON_WHILE_SENDING))
    return;
  for (errand__list *l = loop->started.next; l != &loop->started; l = l->next) {
    errand__transfer *t = ERRAND__CONTAINER(l, errand__transfer, link);
    errand__slot *slot = t->slot;
    if (!slot || !slot->resting || t->pause.bits != CURLPAUSE_RECV)
      continue;
    if (!errand__has_more_to_send(slot) &&
        slot->rounds_after_upload++ >= AFTER_UPLOAD) {
      slot->rounds_after_upload = AFTER_UPLOAD;
      continue;
    }
    slot->rounds_left = ROUNDS;
    errand__agenda_review(&loop->agenda, t);
  }
}

/* Returns: whether to come back in the next round. */
static bool go_on(errand__transfer *t) {
  errand__slot *slot = t->slot;
  slot->rounds_left--;
  errand__slot_limit_speed(slot, slot->rounds_left == 0);
  if (slot->rounds_left == 0)
    return false;
  /* libcurl sets its timer only on a change. */
  if (curl_easy_pause(slot->easy, t->pause.bits | CURLPAUSE_SEND) == CURLE_OK)
    (void) curl_easy_pause(slot->easy, t->pause.bits);
  errand__shard_touch(slot->shard);
  return true;
}

bool errand__review_run(errand__loop *loop) {
  bool any = false;
  errand__list later;
  errand__list_init(&later);
  errand__list *l;
  while ((l = errand__list_pop(&loop->agenda.review)) != NULL) {
    errand__transfer *t = ERRAND__CONTAINER(l, errand__transfer, review_link);
    t->in_review = false;
    any = true;
    if (t->look_again && t->attempt.opened && t->slot)
      look_again(t);
    if (t->phase < ERRAND__SENDING)
      continue;
    /* The server refused before the end of the upload. libcurl has stopped
       sending, and would wait for ever for the pause of the upload to end. */
    bool refused =
        errand__has_head(&t->response) &&
        (t->response.http_status >= 300 ||
         (errand__is_websocket(t) && t->response.http_status != 101));
    if (t->upload.starved && (refused || t->upload.peer_gone ||
                              errand__source_is_ready(t->upload.source))) {
      t->upload.starved = false;
      t->sent_ms = loop->agenda.now_ms;
    }
    int bits = wanted_pause(t);
    if (bits == t->pause.bits) {
      if (t->slot->rounds_left > 0 && go_on(t))
        errand__list_append(&later, &t->review_link);
      errand__shard_hold(t->slot);
      continue;
    }
    if (!bits || (t->pause.bits & ~bits))
      t->activity_ms = t->sent_ms = loop->agenda.now_ms; /* time stood still */
    t->pause.bits = bits;
    if (!(bits & CURLPAUSE_RECV))
      errand__slot_rest(t->slot, false);
    /* The call passes the bytes that libcurl kept to our callbacks before it
       returns. The callbacks may change pause.bits again, and append to lists.
     */
    CURLcode code = curl_easy_pause(t->slot->easy, bits);
    if (code == CURLE_BAD_FUNCTION_ARGUMENT) {
      /* libcurl is between two connections, about to resend: on_ready of
         sockets.c reviews the transfer. */
      t->pause.bits = 0;
      errand__shard_hold(t->slot);
      continue;
    }
    if (code != CURLE_OK) {
      errand__finish(loop, t, ERRAND_OK, code);
      continue;
    }
    errand__shard_hold(t->slot);
    errand__shard_touch(t->slot->shard);
    errand__deadline_set(&loop->agenda, t);
  }
  while ((l = errand__list_pop(&later)) != NULL)
    errand__agenda_review(&loop->agenda,
                          ERRAND__CONTAINER(l, errand__transfer, review_link));
  return any;
}
