/*
 * A lock-free queue from many producers to one consumer: a Treiber stack that
 * the consumer takes as a whole and reverses. No node is popped alone, so there
 * is no ABA problem. The queue is unbounded: any limit is the caller's.
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
  /* The newest node; NULL when empty, `&closed` once closed. It has its own
     cache line, as every producer writes it. */
  _Alignas(64) _Atomic(errand__queue_node *) newest;
  errand__queue_node closed;
} errand__queue;

/* Makes an empty, open queue.
   Thread: owner, before another thread has it. */
void errand__queue_init(errand__queue *queue);

/*
 * Appends the nodes from `first` along `next` to `last`. No node of another
 * producer gets between them.
 * Thread: any.
 * Owns: accepted nodes are the consumer's, which may free them before this
 * returns; refused nodes are the caller's, linked as before.
 * Returns: false if the queue is closed.
 */
bool errand__queue_push(errand__queue *queue, errand__queue_node *first,
                        errand__queue_node *last);

/*
 * Takes all nodes, oldest first, ended by NULL. The nodes of one producer come
 * in the order of its pushes.
 * Thread: the consumer.
 * Returns: NULL if empty or closed.
 */
errand__queue_node *errand__queue_take(errand__queue *queue);

/*
 * Closes the queue, which then refuses every push, and takes the nodes that are
 * left. Every accepted node comes out of exactly one take or close.
 * Thread: any.
 */
errand__queue_node *errand__queue_close(errand__queue *queue);

/* Whether a take would return nothing. This is a hint, as a push may come at
   any time.
   Thread: any. */
bool errand__queue_is_empty(errand__queue *queue);

#endif
