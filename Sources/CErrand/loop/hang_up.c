#include "loop/hang_up.h"

#include "transfer/slot.h"

bool errand__socket_is_used(const errand__loop *loop,
                            const struct errand__shard *shard, int fd) {
  for (errand__list *l = loop->started.next; l != &loop->started; l = l->next) {
    errand__transfer *t = ERRAND__CONTAINER(l, errand__transfer, link);
    if (t->slot && t->slot->shard == shard &&
        (t->slot->fd == fd ||
         (t->slot->fd < 0 && (t->pause.bits || t->phase >= ERRAND__SENDING))))
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
    if (t->slot->fd < 0 && t->phase >= ERRAND__SENDING && t->pause.bits) {
      /* Paused when libcurl first looked at a kept connection: libcurl has not
         said which connection it is. */
      used = true;
      continue;
    }
    if (t->slot->fd != fd)
      continue;
    used = true;
    /* libcurl may have all of the body, and end the transfer without looking at
       the socket again. No other request may get this connection. */
    curl_easy_setopt(t->slot->easy, CURLOPT_FORBID_REUSE, 1L);
    t->slot->single_use = true;
    if (!t->upload.starved)
      continue;
    t->upload.peer_gone = true;
    errand__agenda_review(&loop->agenda, t);
  }
  return used;
}
