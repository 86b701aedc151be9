#include "base/wheel.h"

/*
 * The level of a node is the highest base-64 digit in which its deadline
 * differs from the wheel's time, and its slot is the value of that digit. So
 * all slots of a level come after all slots of lower levels, and the first
 * occupied slot of the lowest occupied level is the next stop. At a stop of
 * level 0 the nodes fire. At a higher stop they are placed again, at least one
 * level lower.
 *
 * The top level alone is a ring: deadlines beyond its range are in its last
 * slot and are placed again from there.
 */

enum {
  SLOT_BITS = 6,
  SLOT_MASK = ERRAND__WHEEL_SLOTS - 1,
  TOP = ERRAND__WHEEL_LEVELS - 1,
  TOP_SHIFT = TOP * SLOT_BITS,
};

struct stop {
  uint64_t at_ms;
  unsigned level;
  unsigned slot;
};

static errand__wheel_node *node_of(errand__list *link) {
  return ERRAND__CONTAINER(link, errand__wheel_node, link);
}

/* Links an armed node into the slot of its deadline, as of now. */
static void place(errand__wheel *wheel, errand__wheel_node *node) {
  uint64_t now = wheel->now_ms;
  uint64_t at = node->deadline_ms;
  /* 63 top slots ahead, not 64: that would be the current slot. */
  uint64_t farthest = now + ((uint64_t) SLOT_MASK << TOP_SHIFT);
  if (at < now)
    at = now;
  if (at > farthest)
    at = farthest;
  /* `| SLOT_MASK` makes the result at least level 0. */
  unsigned level =
      (63 - (unsigned) __builtin_clzll((at ^ now) | SLOT_MASK)) / SLOT_BITS;
  if (level > TOP)
    level = TOP;
  unsigned slot = (at >> (level * SLOT_BITS)) & SLOT_MASK;
  node->slot = (uint16_t) (level * ERRAND__WHEEL_SLOTS + slot);
  wheel->occupied[level] |= UINT64_C(1) << slot;
  errand__list_append(&wheel->slots[node->slot], &node->link);
}

/* Also for a node in `due`. The bit of its slot is cleared if the slot is
   empty. */
static void unplace(errand__wheel *wheel, errand__wheel_node *node) {
  errand__list_remove(&node->link);
  if (errand__list_is_empty(&wheel->slots[node->slot]))
    wheel->occupied[node->slot / ERRAND__WHEEL_SLOTS] &=
        ~(UINT64_C(1) << (node->slot & SLOT_MASK));
}

/* Returns: false if no node is armed, except for those in `due`. */
static bool next_stop(const errand__wheel *wheel, struct stop *stop) {
  for (unsigned level = 0; level <= TOP; level++) {
    uint64_t occupied = wheel->occupied[level];
    if (occupied == 0)
      continue;
    unsigned shift = level * SLOT_BITS;
    uint64_t digits = wheel->now_ms >> shift;
    unsigned current = digits & SLOT_MASK;
    /* Rotated, so that bit i is the slot i steps ahead. */
    uint64_t ahead = current == 0
                         ? occupied
                         : occupied >> current | occupied << (64 - current);
    unsigned steps = (unsigned) __builtin_ctzll(ahead);
    stop->level = level;
    stop->slot = (current + steps) & SLOT_MASK;
    stop->at_ms = (digits + steps) << shift;
    return true;
  }
  return false;
}

void errand__wheel_init(errand__wheel *wheel, uint64_t now_ms) {
  wheel->now_ms = now_ms;
  for (unsigned i = 0; i <= TOP; i++)
    wheel->occupied[i] = 0;
  for (unsigned i = 0; i < ERRAND__WHEEL_LEVELS * ERRAND__WHEEL_SLOTS; i++)
    errand__list_init(&wheel->slots[i]);
  errand__list_init(&wheel->due);
}

void errand__wheel_add(errand__wheel *wheel, errand__wheel_node *node,
                       uint64_t deadline_ms) {
  errand__wheel_remove(wheel, node);
  node->deadline_ms = deadline_ms;
  node->armed = true;
  place(wheel, node);
}

void errand__wheel_remove(errand__wheel *wheel, errand__wheel_node *node) {
  if (!node->armed)
    return;
  node->armed = false;
  unplace(wheel, node);
}

/* Empties the slot of a stop: level 0 into `due`, higher levels into lower
   ones. */
static void reach(errand__wheel *wheel, const struct stop *stop) {
  errand__list *slot =
      &wheel->slots[stop->level * ERRAND__WHEEL_SLOTS + stop->slot];
  errand__list taken, *link;
  wheel->occupied[stop->level] &= ~(UINT64_C(1) << stop->slot);
  errand__list_init(&taken);
  errand__list_splice(stop->level == 0 ? &wheel->due : &taken, slot);
  while ((link = errand__list_pop(&taken)) != NULL)
    place(wheel, node_of(link));
}

void errand__wheel_advance(errand__wheel *wheel, uint64_t now_ms,
                           errand__wheel_callback callback, void *context) {
  struct stop stop;
  while (next_stop(wheel, &stop) && stop.at_ms <= now_ms) {
    if (stop.at_ms > wheel->now_ms)
      wheel->now_ms = stop.at_ms;
    reach(wheel, &stop);
  }
  if (now_ms > wheel->now_ms)
    wheel->now_ms = now_ms;

  errand__list *link;
  while ((link = errand__list_pop(&wheel->due)) != NULL) {
    errand__wheel_node *node = node_of(link);
    node->armed = false;
    callback(context, node);
  }
}

uint64_t errand__wheel_next(const errand__wheel *wheel) {
  struct stop stop;
  if (!errand__list_is_empty(&wheel->due))
    return wheel->now_ms;
  return next_stop(wheel, &stop) ? stop.at_ms : ERRAND__WHEEL_NEVER;
}
