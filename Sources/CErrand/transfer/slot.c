#include "transfer/slot.h"

#include "base/mem.h"

/* How many idle slots are looked at for one with the right options. */
#define LOOK_AT 4

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
  slot->realm = realm;
  slot->jar = jar;
  slot->easy = curl_easy_init();
  slot->options = errand_options_retain(options);
  if (!slot->easy || errand__slot_apply_options(slot) != ERRAND_OK) {
    free_slot(slot);
    return NULL;
  }
  return slot;
}

errand__slot *errand__slot_take(errand__realm *realm, errand_options *options,
                                struct errand__jar *jar) {
  int looked = 0;
  for (errand__list *l = realm->slots.next;
       l != &realm->slots && looked < LOOK_AT; l = l->next, looked++) {
    errand__slot *slot = ERRAND__CONTAINER(l, errand__slot, link);
    if (slot->options == options && slot->jar == jar) {
      errand__list_remove(&slot->link);
      realm->idle_slots--;
      return slot;
    }
  }
  return make(realm, options, jar);
}

void errand__slot_give(errand__slot *slot, bool reusable) {
  slot->transfer = NULL;
  slot->shard = NULL;
  if (!reusable || slot->single_use) {
    free_slot(slot);
    return;
  }
  slot->scratch.length = 0;
  slot->error[0] = '\0';
  errand__list_prepend(&slot->realm->slots, &slot->link);
  slot->realm->idle_slots++;
}

void errand__slot_free_idle(errand__realm *realm) {
  errand__slot *slot = ERRAND__CONTAINER(realm->slots.prev, errand__slot, link);
  errand__list_remove(&slot->link);
  realm->idle_slots--;
  free_slot(slot);
}
