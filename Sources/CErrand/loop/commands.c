#include "loop/commands.h"

#include "base/mem.h"
#include "libcurl/curl_traits.h"
#include "group/group.h"
#include "loop/admission.h"
#include "loop/deadline.h"
#include "loop/finish.h"
#include "loop/report.h"
#include "loop/shard.h"
#include "loop/transfers.h"
#include "queue/command.h"
#include "transfer/pausing.h"
#include "transfer/slot.h"
#include "transfer/source.h"

static void fill_default(int64_t *value, int64_t fallback) {
  if (*value == 0)
    *value = fallback;
}

static void take_on(errand__loop *loop, errand__transfer *t) {
  const errand_group_init *init = &loop->group->init;
  fill_default(&t->limit_header_bytes, init->limit_header_bytes);
  fill_default(&t->limit_header_count, init->limit_header_count);
  fill_default(&t->limit_body_bytes, init->limit_body_bytes);
  fill_default(&t->limit_decoded_bytes, init->limit_decoded_bytes);
  if (!errand__loop_reserve_records(loop, 1) ||
      !errand__transfers_add(loop, t)) {
    errand__deliver_refusal(loop, t, ERRAND_OUT_OF_MEMORY);
    return;
  }
  t->phase = ERRAND__PARKED; /* in no queue yet */
  if (!errand__admission_enqueue(loop, t))
    errand__finish(loop, t, ERRAND_OUT_OF_MEMORY, CURLE_OK);
  else
    errand__deadline_set(loop, t);
}

static void set_paused(errand__loop *loop, errand__transfer *t, bool paused) {
  if (t->paused == paused)
    return;
  t->paused = paused;
  if (t->phase == ERRAND__WAITING) {
    errand__admission_park(loop, t);
  } else if (t->phase == ERRAND__PARKED) {
    errand__admission_unpark(loop, t);
  } else {
    errand__loop_review(loop, t);
  }
}

static void obey(errand__loop *loop, errand__transfer *t,
                 errand__order *order) {
  errand_status status = ERRAND_OK;
  switch (order->command.kind) {
  case ERRAND__COMMAND_CANCEL:
    status = ERRAND_CANCELLED;
    break;
  case ERRAND__COMMAND_PAUSE:
  case ERRAND__COMMAND_RESUME:
    set_paused(loop, t, order->command.kind == ERRAND__COMMAND_PAUSE);
    break;
  case ERRAND__COMMAND_GRANT:
    /* Saturates: a caller that grants too much only loses its backpressure. */
    if (order->amount > (uint64_t) (INT64_MAX / 2) || t->credit > INT64_MAX / 2)
      t->credit = INT64_MAX / 2;
    else
      t->credit += (int64_t) order->amount;
    if (t->credit > 0 && t->out_of_credit) {
      t->out_of_credit = false;
      errand__loop_review(loop, t);
    }
    break;
  case ERRAND__COMMAND_UPLOAD_WRITE:
    status = t->source ? errand__source_write(t->source, order)
                       : ERRAND_INVALID_BODY;
    if (t->source)
      order = NULL; /* the source's now */
    errand__loop_review(loop, t);
    break;
  case ERRAND__COMMAND_UPLOAD_FINISH:
    status = t->source ? errand__source_finish(t->source) : ERRAND_INVALID_BODY;
    errand__loop_review(loop, t);
    break;
  case ERRAND__COMMAND_UPLOAD_FAIL:
    status = ERRAND_UPLOAD_FAILED;
    break;
  case ERRAND__COMMAND_SUBMIT:
    break;
  }
  errand__free(order);
  if (status != ERRAND_OK)
    errand__finish(loop, t, status, CURLE_OK);
}

static void run(errand__loop *loop, errand__queue_node *node) {
  while (node) {
    errand__command *command = (errand__command *) (void *) node;
    node = node->next;
    if (command->kind == ERRAND__COMMAND_SUBMIT) {
      take_on(loop, (errand__transfer *) (void *) command);
      continue;
    }
    errand__order *order = (errand__order *) (void *) command;
    errand__transfer *t = errand__transfers_find(loop, order->id);
    if (t)
      obey(loop, t, order);
    else
      errand__free(order); /* it has ended */
  }
}

bool errand__commands_run(errand__loop *loop) {
  errand__queue_node *first = errand__queue_take(&loop->queue);
  run(loop, first);
  return first != NULL;
}

void errand__commands_close(errand__loop *loop) {
  run(loop, errand__queue_close(&loop->queue));
}

void errand__loop_review(errand__loop *loop, errand__transfer *t) {
  /* Before it has a connection libcurl refuses to pause a transfer, or
     forgets that it did; errand__on_ready comes back to it. */
  if (t->in_review || t->phase < ERRAND__SENDING ||
      t->phase == ERRAND__FINISHED)
    return;
  t->in_review = true;
  errand__list_append(&loop->review, &t->review_link);
}

void errand__loop_look_again(errand__loop *loop, errand__transfer *t) {
  /* Where nothing is opened it ends, or has sent what it had to. */
  if (!t->opened)
    return;
  t->look_again = true;
  if (!t->in_review) {
    t->in_review = true;
    errand__list_append(&loop->review, &t->review_link);
  }
}

/* A change of a pause is what libcurl's interface has to say "look again" of
   one transfer. curl_multi_socket_all looks at all of them, and thereby loses
   timers that it sets on the way: other requests then wait for ever. */
static void look_again(errand__transfer *t) {
  CURL *easy = t->slot->easy;
  t->look_again = false;
  /* Refused where the transfer has ended; errand__collect comes to it. */
  if (curl_easy_pause(easy, t->paused_bits ^ CURLPAUSE_RECV) != CURLE_OK)
    return;
  (void) curl_easy_pause(easy, t->paused_bits);
  errand__shard_touch(t->slot->shard);
}

bool errand__socket_is_used(const errand__loop *loop,
                            const struct errand__shard *shard, int fd) {
  for (errand__list *l = loop->started.next; l != &loop->started; l = l->next) {
    errand__transfer *t = ERRAND__CONTAINER(l, errand__transfer, link);
    if (t->slot && t->slot->shard == shard &&
        (t->slot->fd == fd ||
         (t->slot->fd < 0 && (t->paused_bits || t->phase >= ERRAND__SENDING))))
      return true;
  }
  return false;
}

bool errand__socket_hung_up(errand__loop *loop,
                            const struct errand__shard *shard, int fd) {
  bool used = false;
  for (errand__list *l = loop->started.next; l != &loop->started; l = l->next) {
    errand__transfer *t = ERRAND__CONTAINER(l, errand__transfer, link);
    if (!t->slot || t->slot->shard != shard)
      continue;
    if (t->slot->fd < 0 && t->phase >= ERRAND__SENDING && t->paused_bits) {
      /* Paused in the first look at a kept connection: libcurl has not said
         which it is. */
      used = true;
      continue;
    }
    if (t->slot->fd != fd)
      continue;
    used = true;
    /* It may end without another look at the socket, as libcurl may have all
       of the body already; nobody else is to get this connection. */
    curl_easy_setopt(t->slot->easy, CURLOPT_FORBID_REUSE, 1L);
    t->slot->single_use = true;
    if (!t->starved)
      continue;
    t->peer_gone = true;
    errand__loop_review(loop, t);
  }
  return used;
}

/* Only what the sink has stopped stays so; the sink stops the rest of a body.
   What goes on to listen would keep the head's lines and give them all in one
   call. */
static bool is_left_to_the_sink(const errand__transfer *t) {
  return errand__curl_does(ERRAND__CURL_SPINS_WHILE_PAUSED) &&
         (t->head_done || errand__curl_does(ERRAND__CURL_LISTENS_WHILE_PAUSED));
}

static int wanted_pause(const errand__transfer *t) {
  int bits = 0;
  if (t->paused || t->out_of_credit) {
    bits |= CURLPAUSE_RECV;
    if (is_left_to_the_sink(t))
      bits &= t->paused_bits > 0 ? t->paused_bits : 0;
  }
  if (t->paused || t->starved)
    bits |= CURLPAUSE_SEND;
  return bits;
}

bool errand__review_run(errand__loop *loop) {
  bool any = false;
  errand__list *l;
  while ((l = errand__list_pop(&loop->review)) != NULL) {
    errand__transfer *t = ERRAND__CONTAINER(l, errand__transfer, review_link);
    t->in_review = false;
    any = true;
    if (t->look_again && t->opened && t->slot)
      look_again(t);
    if (t->phase < ERRAND__SENDING)
      continue;
    /* A refusal that came before the end of the upload: libcurl has stopped
       sending, and would wait for ever for its own pause to end. */
    bool refused =
        t->head_done && (t->http_status >= 300 ||
                         (errand__is_websocket(t) && t->http_status != 101));
    if (t->starved &&
        (refused || t->peer_gone || errand__source_is_ready(t->source))) {
      t->starved = false;
      t->sent_ms = loop->now_ms;
    }
    int bits = wanted_pause(t);
    if (bits == t->paused_bits) {
      errand__shard_hold(t->slot);
      continue;
    }
    if (!bits || (t->paused_bits & ~bits))
      t->activity_ms = t->sent_ms = loop->now_ms; /* time stood still */
    t->paused_bits = bits;
    if (!(bits & CURLPAUSE_RECV))
      errand__slot_limit_speed(t->slot, 0);
    /* Delivers what libcurl kept, through our callbacks, before it returns;
       they may change paused_bits again and only append to lists. */
    CURLcode code = curl_easy_pause(t->slot->easy, bits);
    if (code == CURLE_BAD_FUNCTION_ARGUMENT) {
      /* Between two connections, about to send again: errand__on_ready comes
         back to it. */
      t->paused_bits = 0;
      errand__shard_hold(t->slot);
      continue;
    }
    if (code != CURLE_OK) {
      errand__finish(loop, t, ERRAND_OK, code);
      continue;
    }
    errand__shard_hold(t->slot);
    errand__shard_touch(t->slot->shard);
    errand__deadline_set(loop, t);
  }
  return any;
}
