#include "loop/multi.h"

#include "libcurl/curl_traits.h"
#include "libcurl/jar.h"
#include "loop/pauses.h"
#include "transfer/slot.h"

static void look_again(errand__slot *slot) {
  if (slot && slot->transfer)
    errand__loop_look_again(slot->realm->loop, slot->transfer);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *context,
                     void *assigned) {
  errand__shard *shard = context;
  errand__fd_table *fds = &shard->realm->loop->fds;
  (void) assigned;
  if (what == CURL_POLL_REMOVE) {
    bool given_up = errand__fd_unwatch(fds, fd);
    if (given_up && errand__curl_does(ERRAND__CURL_WAITS_AFTER_REFUSAL))
      look_again(errand__slot_of(easy));
    return 0;
  }
  errand__slot *slot = errand__slot_of(easy);
  /* The socket is noted here because CURLINFO_ACTIVESOCKET is not known before
     the end of a transfer (lastconnect_id). */
  if (slot)
    slot->fd = fd;
  if (!errand__fd_watch(fds, fd, (unsigned) what, shard))
    shard->broken = true; /* -1 would end every transfer without a message */
  if (slot)
    errand__shard_hold(slot);
  else if (errand__curl_does(ERRAND__CURL_WATCHES_ITS_WAKE_UP))
    errand__fd_keep(fds, fd);
  return 0;
}

void errand__shard_hold(errand__slot *slot) {
  const errand__transfer *t = slot->transfer;
  if (slot->fd < 0 || !errand__curl_does(ERRAND__CURL_LISTENS_WHILE_PAUSED))
    return;
  bool paused = (t->pause.asked && !errand__has_head(&t->response)) ||
                (t->pause.bits > 0 && (t->pause.bits & CURLPAUSE_RECV));
  /* Other streams of the connection have to be read. Whether it has HTTP/2 is
     not known before the head. */
  bool shared = t->may_http2 && t->response.http_major != 1;
  if (!errand__fd_hold(&slot->realm->loop->fds, slot->fd, paused && !shared))
    slot->shard->broken = true;
}

static int on_timer(CURLM *multi, long timeout_ms, void *context) {
  errand__shard *shard = context;
  errand__loop *loop = shard->realm->loop;
  (void) multi;
  if (timeout_ms < 0) {
    shard->timer_at_ms = ERRAND__WHEEL_NEVER;
  } else if (timeout_ms == 0) {
    shard->timer_at_ms = loop->agenda.now_ms;
    if (!shard->kick) {
      shard->kick = true;
      errand__list_append(&loop->kicked, &shard->kicked_link);
    }
  } else {
    /* Both clocks round down. A call that is too early would have no effect,
       and libcurl does not ask again for a time that it has asked for. */
    uv_update_time(&loop->uv);
    shard->timer_at_ms = uv_now(&loop->uv) + (uint64_t) timeout_ms + 2;
  }
  return 0;
}

/* CURLMOPT_QUICK_EXIT, which older headers lack (8.20.0). */
#define MULTI_QUICK_EXIT ((CURLMoption) 21)

CURLM *errand__multi_create(errand__shard *shard, uint32_t limit) {
  CURLM *multi = curl_multi_init();
  if (!multi)
    return NULL;
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, shard);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, shard);
  /* The default is four times the present number of handles: it falls with the
     load, and libcurl then closes connections. */
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS,
                    (long) (limit + limit / 8 + 1));
  curl_multi_setopt(multi, CURLMOPT_PIPELINING, (long) CURLPIPE_MULTIPLEX);
  uint32_t streams = shard->realm->loop->shared->init.max_concurrent_streams;
  if (streams > 0)
    curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, (long) streams);
  /* From 8.20 on the resolver threads belong to the multi handle, whose cleanup
     waits for them. Earlier versions do not know the option. */
  (void) curl_multi_setopt(multi, MULTI_QUICK_EXIT, 1L);
  return multi;
}

static void check(errand__shard *shard, CURLMcode code) {
  if (code != CURLM_OK)
    shard->broken = true;
  errand__shard_touch(shard);
}

static void act(errand__shard *shard, curl_socket_t fd, int directions) {
  const errand__jar *jar = shard->realm->loop->shared->jar;
  int running;
  if (jar)
    errand__jar_keep_locked();
  CURLMcode code =
      curl_multi_socket_action(shard->multi, fd, directions, &running);
  if (jar)
    errand__jar_release();
  check(shard, code);
}

void errand__shard_socket(errand__shard *shard, int fd, unsigned directions) {
  act(shard, fd, (int) directions);
}

bool errand__shards_kick(errand__loop *loop) {
  errand__list now;
  bool any = false;
  errand__list_init(&now);
  errand__list_splice(&now, &loop->kicked);
  errand__list *l;
  while ((l = errand__list_pop(&now)) != NULL) {
    errand__shard *shard = ERRAND__CONTAINER(l, errand__shard, kicked_link);
    any = true;
    shard->kick = false;
    if (shard->timer_at_ms <= loop->agenda.now_ms)
      shard->timer_at_ms = ERRAND__WHEEL_NEVER;
    act(shard, CURL_SOCKET_TIMEOUT, 0);
  }
  return any;
}

uint64_t errand__shards_timer(errand__loop *loop) {
  uint64_t earliest = ERRAND__WHEEL_NEVER;
  for (errand__list *r = loop->realms.next; r != &loop->realms; r = r->next) {
    errand__realm *realm = ERRAND__CONTAINER(r, errand__realm, link);
    for (errand__list *l = realm->shards.next; l != &realm->shards;
         l = l->next) {
      errand__shard *shard = ERRAND__CONTAINER(l, errand__shard, link);
      if (shard->timer_at_ms <= loop->agenda.now_ms) {
        if (!shard->kick) {
          shard->kick = true;
          errand__list_append(&loop->kicked, &shard->kicked_link);
        }
      } else if (shard->timer_at_ms < earliest) {
        earliest = shard->timer_at_ms;
      }
    }
  }
  return earliest;
}

/* libcurl 8.10 to 8.11.0 sometimes forgets to ask for a timer (4cded6deac). All
   versions are asked, as that costs nothing. */
void errand__shard_check_timer(errand__shard *shard, uint64_t now) {
  long timeout_ms = -1;
  if (shard->in_flight == 0 || shard->timer_at_ms != ERRAND__WHEEL_NEVER)
    return;
  if (curl_multi_timeout(shard->multi, &timeout_ms) == CURLM_OK &&
      timeout_ms >= 0)
    shard->timer_at_ms = now + (uint64_t) timeout_ms + 2;
}

/* libcurl closes a connection 2 s after it began to shut the connection down;
   there is a tick a second. */
#define SHUTDOWN_TICKS 4

/* libcurl 8.21.0 looks at connections in shutdown when it runs its own handle
   (#22282). A wake-up or curl_multi_perform makes it do so; a timer does not.
 */
void errand__shard_end_shutdowns(errand__shard *shard) {
  int running;
  if (!errand__curl_does(ERRAND__CURL_LEAVES_SHUTDOWNS))
    return;
  /* Ticks are counted, not time, because the loop may have been held up for
     long. */
  if (shard->seen_used_ms != shard->used_ms) {
    shard->seen_used_ms = shard->used_ms;
    shard->shutdown_ticks = SHUTDOWN_TICKS;
  }
  if (shard->shutdown_ticks == 0)
    return;
  shard->shutdown_ticks--;
  if (shard->in_flight > 0)
    curl_multi_wakeup(shard->multi);
  else
    check(shard, curl_multi_perform(shard->multi, &running));
}
