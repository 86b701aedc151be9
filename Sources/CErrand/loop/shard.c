#include "loop/shard.h"

#include "base/mem.h"
#include "libcurl/curl_traits.h"
#include "group/group.h"
#include "libcurl/jar.h"
#include "libcurl/process.h"
#include "loop/admission.h"
#include "loop/commands.h"
#include "loop/finish.h"
#include "transfer/slot.h"

/* Shards with room that are looked at for one with few origins. */
#define LOOK_AT 8
/* A shard or realm without requests is kept as long as a connection. */
#define IDLE_MS 50000
/* Idle connections whose peer has gone are closed after this. */
#define HUNG_UP_MS 1000

/* Returns: NULL: a handle of libcurl's own has no CURLINFO_PRIVATE. */
static errand__slot *slot_of(CURL *easy) {
  errand__slot *slot = NULL;
  if (curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **) &slot) != CURLE_OK)
    return NULL;
  return slot;
}

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
      look_again(slot_of(easy));
    return 0;
  }
  errand__slot *slot = slot_of(easy);
  /* CURLINFO_ACTIVESOCKET knows nothing before a transfer's end
     (lastconnect_id). */
  if (slot)
    slot->fd = fd;
  if (!errand__fd_watch(fds, fd, (unsigned) what, shard))
    shard->broken = true; /* -1 here would end every transfer unseen */
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
  bool paused = (t->paused && !t->head_done) ||
                (t->paused_bits > 0 && (t->paused_bits & CURLPAUSE_RECV));
  /* Other streams need the connection read; nobody knows before the head. */
  bool shared = t->may_http2 && t->http_major != 1;
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
    shard->timer_at_ms = loop->now_ms;
    if (!shard->kick) {
      shard->kick = true;
      errand__list_append(&loop->kicked, &shard->kicked_link);
    }
  } else {
    /* Both clocks round down. An early call would be worse than wasted:
       libcurl does not ask again for a time it has asked for. */
    uv_update_time(&loop->uv);
    shard->timer_at_ms = uv_now(&loop->uv) + (uint64_t) timeout_ms + 2;
  }
  return 0;
}

/* CURLMOPT_QUICK_EXIT, which older headers lack (8.20.0). */
#define MULTI_QUICK_EXIT ((CURLMoption) 21)

static CURLM *make_multi(errand__shard *shard, uint32_t limit) {
  CURLM *multi = curl_multi_init();
  if (!multi)
    return NULL;
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, shard);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, shard);
  /* The default is four times the handles of the moment: it shrinks with
     the load and throws connections away. */
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS,
                    (long) (limit + limit / 8 + 1));
  curl_multi_setopt(multi, CURLMOPT_PIPELINING, (long) CURLPIPE_MULTIPLEX);
  /* From 8.20 the threads that resolve are the multi handle's, whose end would
     wait for them; unknown to versions before. */
  (void) curl_multi_setopt(multi, MULTI_QUICK_EXIT, 1L);
  return multi;
}

static void free_realm(errand__realm *realm) {
  for (size_t i = 0; i < ERRAND__SHARES; i++)
    if (realm->shares[i])
      curl_share_cleanup(realm->shares[i]);
  errand__free(realm);
}

static CURLSH *make_share(void) {
  CURLSH *share = curl_share_init();
  if (share && (curl_share_setopt(share, CURLSHOPT_SHARE,
                                  CURL_LOCK_DATA_SSL_SESSION) != CURLSHE_OK ||
                curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS) !=
                    CURLSHE_OK)) {
    curl_share_cleanup(share);
    return NULL;
  }
  return share;
}

CURLSH *errand__realm_share(errand__realm *realm, bool secure,
                            uint64_t origin_hash) {
  size_t index = 0;
  if (secure)
    index =
        1 + (origin_hash * 0x9e3779b97f4a7c15u >> 32) % (ERRAND__SHARES - 1);
  if (!realm->shares[index])
    realm->shares[index] = make_share();
  return realm->shares[index];
}

errand__realm *errand__realm_for(errand__loop *loop, uint64_t identity) {
  if (identity == 0 && loop->commons)
    return loop->commons;
  for (errand__list *l = loop->realms.next; l != &loop->realms; l = l->next) {
    errand__realm *realm = ERRAND__CONTAINER(l, errand__realm, link);
    if (realm->identity == identity)
      return realm;
  }
  errand__realm *realm = errand__calloc(1, sizeof *realm);
  if (!realm)
    return NULL;
  realm->loop = loop;
  realm->identity = identity;
  realm->used_ms = loop->now_ms;
  errand__list_init(&realm->shards);
  errand__list_init(&realm->roomy);
  for (size_t i = 0; i < ERRAND__SLOT_LISTS; i++)
    errand__list_init(&realm->slots[i]);
  errand__list_init(&realm->slots_by_age);
  errand__list_append(&loop->realms, &realm->link);
  if (identity == 0)
    loop->commons = realm;
  return realm;
}

static errand__shard *make_shard(errand__realm *realm, uint32_t limit) {
  errand__shard *shard = errand__calloc(1, sizeof *shard);
  if (!shard)
    return NULL;
  shard->realm = realm;
  shard->timer_at_ms = ERRAND__WHEEL_NEVER;
  errand__list_init(&shard->room_link);
  errand__list_init(&shard->origins);
  errand__list_init(&shard->dirty_link);
  errand__list_init(&shard->kicked_link);
  errand__list_init(&shard->left);
  shard->multi = make_multi(shard, limit);
  if (!shard->multi) {
    errand__free(shard);
    return NULL;
  }
  shard->serial = ++realm->shards_made;
  errand__list_append(&realm->shards, &shard->link);
  errand__list_append(&realm->roomy, &shard->room_link);
  realm->shard_count++;
  errand__counter_bump(&realm->loop->counters.multis, 1);
  errand__loop_keep_ticking(realm->loop);
  return shard;
}

/* How many shards a realm may have for the sake of their kept connections, so
   that these, over all loops, are about as many as requests may be in flight.
 */
static size_t shards_for_origins(const struct errand_group *group) {
  const errand_group_init *init = &group->init;
  size_t most =
      init->in_flight_limit / init->shard_in_flight_limit / group->loop_count;
  return most > 0 ? most : 1;
}

/* The first with room; one that is the last of fewer origins than it keeps
   connections for, where one of a few is. */
static errand__shard *roomy_shard(const errand__realm *realm, uint32_t limit) {
  errand__shard *first = NULL;
  int looked = 0;
  for (errand__list *l = realm->roomy.next;
       l != &realm->roomy && looked < LOOK_AT; l = l->next, looked++) {
    errand__shard *shard = ERRAND__CONTAINER(l, errand__shard, room_link);
    if (shard->broken)
      continue;
    if (shard->origin_count < limit)
      return shard;
    if (!first)
      first = shard;
  }
  return realm->shard_count < shards_for_origins(realm->loop->group) ? NULL
                                                                     : first;
}

errand__shard *errand__shard_for(errand__realm *realm,
                                 const errand__origin *origin) {
  uint32_t limit = realm->loop->group->init.shard_in_flight_limit;
  errand__shard *last = origin->shard;
  if (last && last->realm == realm && last->in_flight < limit &&
      !last->broken && !last->retired)
    return last;
  errand__shard *shard = roomy_shard(realm, limit);
  return shard ? shard : make_shard(realm, limit);
}

static void forget_origin(errand__origin *origin) {
  if (!origin->shard)
    return;
  origin->shard->origin_count--;
  errand__list_remove(&origin->shard_link);
  origin->shard = NULL;
}

void errand__shard_forget(errand__origin *origin) {
  forget_origin(origin);
}

void errand__shard_entered(errand__shard *shard, errand__origin *origin) {
  uint32_t limit = shard->realm->loop->group->init.shard_in_flight_limit;
  if (++shard->in_flight >= limit)
    errand__list_remove(&shard->room_link);
  if (origin->shard == shard)
    return;
  forget_origin(origin);
  origin->shard = shard;
  shard->origin_count++;
  errand__list_append(&shard->origins, &origin->shard_link);
}

void errand__shard_left(errand__shard *shard) {
  shard->in_flight--;
  /* First: it has a connection that was just used. */
  if (errand__list_is_empty(&shard->room_link) && !shard->retired)
    errand__list_prepend(&shard->realm->roomy, &shard->room_link);
}

void errand__shard_retire(errand__shard *shard) {
  if (shard->retired)
    return;
  shard->retired = true;
  shard->realm->shard_count--;
  errand__list_remove(&shard->room_link);
  errand__loop_keep_ticking(shard->realm->loop);
}

bool errand__shard_may_wait(errand__shard *shard) {
  if (!shard->nudge && errand__curl_does(ERRAND__CURL_LEAVES_WAITING))
    shard->nudge = curl_easy_init();
  return shard->nudge || !errand__curl_does(ERRAND__CURL_LEAVES_WAITING);
}

void errand__shard_connected(errand__shard *shard) {
  if (!shard->nudge)
    return;
  shard->undecided = true;
  errand__shard_touch(shard);
}

/* The end of any transfer has libcurl look at what waits. */
void errand__shard_nudge(errand__shard *shard) {
  shard->undecided = false;
  if (curl_multi_add_handle(shard->multi, shard->nudge) != CURLM_OK ||
      curl_multi_remove_handle(shard->multi, shard->nudge) != CURLM_OK)
    shard->broken = true;
}

void errand__shard_touch(errand__shard *shard) {
  if (errand__list_is_empty(&shard->dirty_link))
    errand__list_append(&shard->realm->loop->dirty, &shard->dirty_link);
}

static void check(errand__shard *shard, CURLMcode code) {
  if (code != CURLM_OK)
    shard->broken = true;
  errand__shard_touch(shard);
}

static void act(errand__shard *shard, curl_socket_t fd, int directions) {
  const errand__jar *jar = shard->realm->loop->group->jar;
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
    if (shard->timer_at_ms <= loop->now_ms)
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
      if (shard->timer_at_ms <= loop->now_ms) {
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

void errand__shard_discard(errand__shard *shard) {
  /* Closes the kept connections; on_socket and on_timer still run. */
  curl_easy_cleanup(shard->nudge);
  curl_multi_cleanup(shard->multi);
  errand__slots_left(shard);
  errand__fd_purge(&shard->realm->loop->fds, shard);
  while (!errand__list_is_empty(&shard->origins))
    forget_origin(
        ERRAND__CONTAINER(shard->origins.next, errand__origin, shard_link));
  errand__list_remove(&shard->room_link);
  if (!shard->retired)
    shard->realm->shard_count--;
  errand__list_remove(&shard->dirty_link);
  errand__list_remove(&shard->kicked_link);
  errand__list_remove(&shard->link);
  errand__counter_bump(&shard->realm->loop->counters.multis, (uint64_t) -1);
  errand__free(shard);
}

/* 8.10 to 8.11.0 forget to ask for a timer at times (4cded6deac); asked of all
   versions, as it costs nothing. */
static void check_timer(errand__shard *shard, uint64_t now) {
  long timeout_ms = -1;
  if (shard->in_flight == 0 || shard->timer_at_ms != ERRAND__WHEEL_NEVER)
    return;
  if (curl_multi_timeout(shard->multi, &timeout_ms) == CURLM_OK &&
      timeout_ms >= 0)
    shard->timer_at_ms = now + (uint64_t) timeout_ms + 2;
}

static void tend_realm(errand__realm *realm, uint64_t now) {
  for (errand__list *l = realm->shards.next; l != &realm->shards;) {
    errand__shard *shard = ERRAND__CONTAINER(l, errand__shard, link);
    l = l->next;
    uint64_t idle = now - shard->used_ms;
    check_timer(shard, now);
    if (shard->in_flight == 0 &&
        (realm->loop->out_of_descriptors || shard->retired || idle >= IDLE_MS ||
         (shard->hung_up && idle >= HUNG_UP_MS)))
      errand__shard_discard(shard);
  }
  bool idle = realm->in_flight == 0 && now - realm->used_ms >= IDLE_MS;
  errand__slots_trim(realm, idle ? 0 : ERRAND__IDLE_SLOTS_MAX);
}

bool errand__realms_tend(errand__loop *loop) {
  bool more = false;
  errand__check_wire_limits(loop);
  errand__fd_sweep(&loop->fds);
  for (errand__list *r = loop->realms.next; r != &loop->realms;) {
    errand__realm *realm = ERRAND__CONTAINER(r, errand__realm, link);
    r = r->next;
    tend_realm(realm, loop->now_ms);
    if (!errand__list_is_empty(&realm->shards) || realm->idle_slots > 0) {
      more = true;
    } else if (realm->identity != 0 && realm->in_flight == 0) {
      errand__list_remove(&realm->link);
      free_realm(realm);
    }
  }
  loop->out_of_descriptors = false;
  return more;
}

void errand__realms_free(errand__loop *loop) {
  errand__list *r;
  while ((r = errand__list_pop(&loop->realms)) != NULL) {
    errand__realm *realm = ERRAND__CONTAINER(r, errand__realm, link);
    while (!errand__list_is_empty(&realm->shards))
      errand__shard_discard(
          ERRAND__CONTAINER(realm->shards.next, errand__shard, link));
    errand__slots_trim(realm, 0);
    free_realm(realm);
  }
  loop->commons = NULL;
}
