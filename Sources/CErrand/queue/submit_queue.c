#include "queue/submit_queue.h"

/* Reverses a chain.
   Returns: its new first node. */
static errand__queue_node *reversed(errand__queue_node *node) {
  errand__queue_node *done = NULL;
  while (node != NULL) {
    errand__queue_node *next = node->next;
    node->next = done;
    done = node;
    node = next;
  }
  return done;
}

void errand__queue_init(errand__queue *queue) {
  queue->closed.next = NULL;
  atomic_init(&queue->newest, NULL);
}

bool errand__queue_push(errand__queue *queue, errand__queue_node *first,
                        errand__queue_node *last) {
  errand__queue_node *before =
      atomic_load_explicit(&queue->newest, memory_order_relaxed);
  if (before == &queue->closed)
    return false;
  /* The stack goes from newest to oldest, the caller's chain the other way. */
  last->next = NULL;
  reversed(first);
  for (;;) {
    first->next = before;
    /* Release makes the contents of the nodes visible to the consumer. Pushes
       are read-modify-writes, so the release of one producer reaches the
       consumer's acquire through the pushes of others. */
    if (atomic_compare_exchange_weak_explicit(&queue->newest, &before, last,
                                              memory_order_release,
                                              memory_order_relaxed))
      break;
    if (before == &queue->closed) {
      first->next = NULL;
      reversed(last);
      return false;
    }
  }
  return true;
}

errand__queue_node *errand__queue_take(errand__queue *queue) {
  errand__queue_node *newest =
      atomic_load_explicit(&queue->newest, memory_order_relaxed);
  /* Not a plain exchange, which would open a queue that was closed meanwhile.
   */
  do {
    if (newest == NULL || newest == &queue->closed)
      return NULL;
  } while (!atomic_compare_exchange_weak_explicit(&queue->newest, &newest, NULL,
                                                  memory_order_acquire,
                                                  memory_order_relaxed));
  return reversed(newest);
}

errand__queue_node *errand__queue_close(errand__queue *queue) {
  errand__queue_node *newest = atomic_exchange_explicit(
      &queue->newest, &queue->closed, memory_order_acq_rel);
  if (newest == &queue->closed)
    return NULL;
  return reversed(newest);
}

bool errand__queue_is_empty(errand__queue *queue) {
  errand__queue_node *newest =
      atomic_load_explicit(&queue->newest, memory_order_relaxed);
  return newest == NULL || newest == &queue->closed;
}
