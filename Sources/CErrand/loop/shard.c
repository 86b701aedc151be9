#include "loop/shard.h"

#include "base/mem.h"
#include "libcurl/curl_traits.h"
#include "loop/loop_turn.h"
#include "loop/multi.h"
#include "loop/origin.h"
#include "loop/slot_pool.h"

/* How many shards with room are searched for one with few origins. */
#define LOOK_AT 8

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
  shard->multi = errand__multi_create(shard, limit);
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

/* How many shards a realm may have for the sake of their kept connections. Over
   all loops, these shards have about as many connections as requests may be in
   flight. */
static size_t shards_for_origins(const errand__shared *shared) {
  const errand_group_init *init = &shared->init;
  size_t most =
      init->in_flight_limit / init->shard_in_flight_limit / shared->loop_count;
  return most > 0 ? most : 1;
}

/* The first shard with room for another origin's connections; else the first
   with room, unless the realm may have more shards. */
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
  return realm->shard_count < shards_for_origins(realm->loop->shared) ? NULL
                                                                      : first;
}

errand__shard *errand__shard_for(errand__realm *realm,
                                 const errand__origin *origin) {
  uint32_t limit = realm->loop->shared->init.shard_in_flight_limit;
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
  uint32_t limit = shard->realm->loop->shared->init.shard_in_flight_limit;
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
  /* First in the list: it has a connection that was just used. */
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

/* The end of any transfer makes libcurl look at the transfers that wait to
   share a connection. So the handle `nudge` is added and removed. */
void errand__shard_nudge(errand__shard *shard) {
  shard->undecided = false;
  if (curl_multi_add_handle(shard->multi, shard->nudge) != CURLM_OK ||
      curl_multi_remove_handle(shard->multi, shard->nudge) != CURLM_OK)
    shard->broken = true;
}

void errand__shard_discard(errand__shard *shard) {
  /* Closes the kept connections. on_socket and on_timer still run. */
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
