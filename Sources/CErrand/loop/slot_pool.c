#include "loop/slot_pool.h"

#include "base/mem.h"
#include "loop/address_filter.h"
#include "loop/sockets.h"
#include "transfer/body.h"
#include "transfer/setup.h"

/* How many idle slots of a list are searched. A list has slots of several
   options. */
#define LOOK_AT 16

static errand__list *list_for(errand__realm *realm,
                              const errand_options *options,
                              const struct errand__jar *jar) {
  uint64_t key = (uint64_t) (uintptr_t) options + (jar != NULL);
  key *= 0x9e3779b97f4a7c15u; /* the low bits of addresses are alike */
  return &realm->slots[key >> (64 - ERRAND__SLOT_LISTS_LOG2)];
}

static void take_out(errand__slot *slot) {
  errand__list_remove(&slot->link);
  errand__list_remove(&slot->age_link);
  slot->realm->idle_slots--;
}

static void free_slot(errand__slot *slot) {
  if (slot->easy)
    curl_easy_cleanup(slot->easy);
  errand_options_release(slot->options);
  errand__free(slot->scratch.bytes);
  errand__free(slot);
}

static errand__slot *make(errand__realm *realm, errand_options *options,
                          struct errand__jar *jar) {
  errand__slot *slot = errand__calloc(1, sizeof *slot);
  if (!slot)
    return NULL;
  errand__list_init(&slot->link);
  errand__list_init(&slot->age_link);
  slot->agenda = &realm->loop->agenda;
  slot->realm = realm;
  slot->jar = jar;
  slot->fd = -1;
  slot->options = errand_options_retain(options);
  /* Otherwise libcurl would look the name up, and the filter would not see the
     address. */
  slot->proxy_looks_up = errand__has_address_filter(slot);
  slot->easy = curl_easy_init();
  if (!slot->easy || errand__slot_apply_options(slot) != ERRAND_OK ||
      !errand__sockets_attach(slot)) {
    free_slot(slot);
    return NULL;
  }
  return slot;
}

errand__slot *errand__slot_take(errand__realm *realm, errand_options *options,
                                struct errand__jar *jar) {
  errand__list *slots = list_for(realm, options, jar);
  int looked = 0;
  for (errand__list *l = slots->next; l != slots && looked < LOOK_AT;
       l = l->next, looked++) {
    errand__slot *slot = ERRAND__CONTAINER(l, errand__slot, link);
    if (slot->options == options && slot->jar == jar) {
      take_out(slot);
      return slot;
    }
  }
  return make(realm, options, jar);
}

void errand__slot_give(errand__slot *slot, bool reusable) {
  errand__realm *realm = slot->realm;
  slot->transfer = NULL;
  slot->shard = NULL;
  slot->fd = -1;
  errand__slot_drop_decoder(slot);
  if (!reusable || slot->single_use) {
    free_slot(slot);
    return;
  }
  slot->scratch.length = 0;
  slot->error[0] = '\0';
  errand__list_prepend(list_for(realm, slot->options, slot->jar), &slot->link);
  errand__list_prepend(&realm->slots_by_age, &slot->age_link);
  realm->idle_slots++;
  errand__slots_trim(realm, ERRAND__IDLE_SLOTS_MAX);
}

void errand__slot_leave(errand__slot *slot) {
  errand__shard *shard = slot->shard;
  slot->transfer = NULL;
  slot->fd = -1;
  errand__list_append(&shard->left, &slot->link);
  errand__shard_retire(shard);
}

void errand__slots_left(errand__shard *shard) {
  errand__list *l;
  while ((l = errand__list_pop(&shard->left)) != NULL)
    free_slot(ERRAND__CONTAINER(l, errand__slot, link));
}

void errand__slots_trim(errand__realm *realm, size_t spare) {
  while (realm->idle_slots > realm->in_flight + spare) {
    errand__slot *slot =
        ERRAND__CONTAINER(realm->slots_by_age.prev, errand__slot, age_link);
    take_out(slot);
    free_slot(slot);
  }
}
