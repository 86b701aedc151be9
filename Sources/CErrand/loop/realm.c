#include "loop/realm.h"

#include "base/mem.h"
#include "loop/finish.h"
#include "loop/multi.h"
#include "loop/pauses.h"
#include "loop/shard.h"
#include "loop/slot_pool.h"

/* A shard or realm without requests is kept as long as an idle connection by
   default, and a shard as long as its connections may be used. */
#define IDLE_MS 50000
/* Idle connections whose peer has closed are closed after this time. */
#define HUNG_UP_MS 1000

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
  realm->used_ms = loop->agenda.now_ms;
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

static void tend_realm(errand__realm *realm, uint64_t now) {
  for (errand__list *l = realm->shards.next; l != &realm->shards;) {
    errand__shard *shard = ERRAND__CONTAINER(l, errand__shard, link);
    l = l->next;
    uint64_t idle = now - shard->used_ms;
    uint64_t keep = shard->keep_ms > IDLE_MS ? shard->keep_ms : IDLE_MS;
    errand__shard_check_timer(shard, now);
    errand__shard_end_shutdowns(shard);
    if (shard->in_flight == 0 &&
        (realm->loop->out_of_descriptors || shard->retired || idle >= keep ||
         (shard->hung_up && idle >= HUNG_UP_MS)))
      errand__shard_discard(shard);
  }
  bool idle = realm->in_flight == 0 && now - realm->used_ms >= IDLE_MS;
  errand__slots_trim(realm, idle ? 0 : ERRAND__IDLE_SLOTS_MAX);
}

bool errand__realms_tend(errand__loop *loop) {
  bool more = false;
  errand__check_wire_limits(loop);
  errand__rests_tend(loop);
  errand__fd_sweep(&loop->fds);
  for (errand__list *r = loop->realms.next; r != &loop->realms;) {
    errand__realm *realm = ERRAND__CONTAINER(r, errand__realm, link);
    r = r->next;
    tend_realm(realm, loop->agenda.now_ms);
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
