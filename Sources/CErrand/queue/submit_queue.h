/*
 * Lock-free queue, many producers to one consumer: a Treiber stack that the
 * consumer takes whole and turns round. Nothing is ever popped singly, so
 * there is no ABA. It is unbounded; whoever pushes keeps the bound.
 */
#ifndef ERRAND_QUEUE_SUBMIT_QUEUE_H
#define ERRAND_QUEUE_SUBMIT_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct errand__queue_node {
  struct errand__queue_node *next;
} errand__queue_node;

typedef struct errand__queue {
  /* Newest node, NULL when empty, `&closed` once closed. A line of its own:
     every producer writes it. */
  _Alignas(64) _Atomic(errand__queue_node *) newest;
  errand__queue_node closed;
} errand__queue;

/* Makes an empty, open queue. Thread: owner, before anyone else has it. */
void errand__queue_init(errand__queue *queue);

/*
 * Appends the nodes from `first` along `next` to `last`, as one block that
 * nothing of another producer gets into.
 * Thread: any.
 * Owns: once accepted the nodes are the consumer's, which may have freed them
 * before this returns; refused, they are the caller's, linked as before.
 * Returns: false if the queue is closed.
 */
bool errand__queue_push(errand__queue *queue, errand__queue_node *first,
                        errand__queue_node *last);

/*
 * Takes everything, oldest first, ended by NULL. One producer's nodes come in
 * the order in which they were pushed.
 * Thread: the consumer.  Returns: NULL if empty or closed.
 */
errand__queue_node *errand__queue_take(errand__queue *queue);

/*
 * Refuses every later push, and takes what is left, like errand__queue_take.
 * Every node accepted at any time comes out of exactly one take or close.
 * Thread: any.
 */
errand__queue_node *errand__queue_close(errand__queue *queue);

/* Whether a take would return nothing. A hint: a push may come at any time.
   Thread: any. */
bool errand__queue_is_empty(errand__queue *queue);

#endif
