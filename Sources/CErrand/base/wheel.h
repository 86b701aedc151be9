/*
 * A hierarchical timing wheel in milliseconds. A deadline is added and removed
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

/* Part of the struct that has the deadline. Zeroed memory is an unarmed node.
 */
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
  errand__list due; /* nodes that the present advance is about to fire */
} errand__wheel;

/* The node is disarmed when this runs. The function may add and remove any
   node, this one included, and free this one. It must not advance the wheel. */
typedef void (*errand__wheel_callback)(void *context, errand__wheel_node *node);

/* Makes an empty wheel whose time is `now_ms`. */
void errand__wheel_init(errand__wheel *wheel, uint64_t now_ms);

/*
 * Arms a node, or moves an armed one, to any deadline. A deadline that has
 * passed fires in the next errand__wheel_advance.
 * Owns: the node stays the caller's, and must not move until it fired or was
 * removed.
 */
void errand__wheel_add(errand__wheel *wheel, errand__wheel_node *node,
                       uint64_t deadline_ms);

/* Disarms a node; an unarmed one is fine. */
void errand__wheel_remove(errand__wheel *wheel, errand__wheel_node *node);

/*
 * Moves the wheel to `now_ms` (not backwards), and fires, once, each node that
 * was armed before the call with a deadline of at most `now_ms`. A node that a
 * callback adds fires in a later advance, so that this advance ends.
 */
void errand__wheel_advance(errand__wheel *wheel, uint64_t now_ms,
                           errand__wheel_callback callback, void *context);

/*
 * When to advance next: not before the wheel's own time, and never after the
 * earliest deadline. A deadline less than 64 ms ahead is returned exactly. For
 * later deadlines there may be earlier stops.
 * Returns: ERRAND__WHEEL_NEVER if no node is armed.
 */
uint64_t errand__wheel_next(const errand__wheel *wheel);

#endif
