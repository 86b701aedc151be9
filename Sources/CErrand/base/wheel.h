/*
 * Hierarchical timing wheel in milliseconds: a deadline is added and removed
 * in constant time, and the loop needs one uv_timer for all of them.
 * Thread: the loop that owns the wheel, throughout.
 */
#ifndef ERRAND_BASE_WHEEL_H
#define ERRAND_BASE_WHEEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

enum {
  ERRAND__WHEEL_LEVELS = 5,
  ERRAND__WHEEL_SLOTS = 64,
};

/* No deadline is armed. */
#define ERRAND__WHEEL_NEVER UINT64_MAX

/* Part of the struct that waits; zeroed memory is an unarmed node. */
typedef struct errand__wheel_node {
  errand__list link;
  uint64_t deadline_ms;
  uint16_t slot; /* the wheel's own */
  bool armed;
} errand__wheel_node;

typedef struct errand__wheel {
  uint64_t now_ms;
  uint64_t occupied[ERRAND__WHEEL_LEVELS]; /* bit i: slot i is not empty */
  errand__list slots[ERRAND__WHEEL_LEVELS * ERRAND__WHEEL_SLOTS];
  errand__list due; /* about to be fired by the advance that runs */
} errand__wheel;

/* The node is no longer armed when this runs. It may add and remove any
   node, this one included, and free this one; it must not advance. */
typedef void (*errand__wheel_callback)(void *context, errand__wheel_node *node);

/* Makes an empty wheel that stands at `now_ms`. */
void errand__wheel_init(errand__wheel *wheel, uint64_t now_ms);

/*
 * Arms a node, or moves it if it is armed. Any deadline will do; one that has
 * passed fires in the next errand__wheel_advance.
 * Owns: the node stays the caller's, where it is, until fired or removed.
 */
void errand__wheel_add(errand__wheel *wheel, errand__wheel_node *node,
                       uint64_t deadline_ms);

/* Disarms a node; an unarmed one is fine. */
void errand__wheel_remove(errand__wheel *wheel, errand__wheel_node *node);

/*
 * Moves the wheel to `now_ms` (not backwards) and fires once every node that
 * was armed before with a deadline of at most `now_ms`. One that a callback
 * adds waits for the next advance, so that this one ends.
 */
void errand__wheel_advance(errand__wheel *wheel, uint64_t now_ms,
                           errand__wheel_callback callback, void *context);

/*
 * When to advance next, not before the wheel's own time. Never later than the
 * earliest deadline, and exactly it when it is in the lowest level (less than
 * 64 ms off); farther ones take a stop on the way now and then.
 * Returns: ERRAND__WHEEL_NEVER if nothing is armed.
 */
uint64_t errand__wheel_next(const errand__wheel *wheel);

#endif
