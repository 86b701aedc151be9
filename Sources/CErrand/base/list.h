/*
 * Intrusive doubly-linked list: a ring through a head, which is a link too. A
 * link that is in no list points to itself.
 */
#ifndef ERRAND_BASE_LIST_H
#define ERRAND_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct errand__list {
  struct errand__list *prev, *next;
} errand__list;

/* The struct of `type` whose field `member` is `link`. */
#define ERRAND__CONTAINER(link, type, member)                                  \
  ((type *) (void *) (((char *) (link)) - offsetof(type, member)))

/* Makes an empty head, or a link that is in no list. */
static inline void errand__list_init(errand__list *link) {
  link->prev = link->next = link;
}

static inline bool errand__list_is_empty(const errand__list *head) {
  return head->next == head;
}

/* `link` must be in no list. */
static inline void errand__list_append(errand__list *head, errand__list *link) {
  link->next = head;
  link->prev = head->prev;
  head->prev->next = link;
  head->prev = link;
}

static inline void errand__list_prepend(errand__list *head,
                                        errand__list *link) {
  errand__list_append(head->next, link);
}

/* Takes a link out of its list; a link in no list is fine. */
static inline void errand__list_remove(errand__list *link) {
  link->prev->next = link->next;
  link->next->prev = link->prev;
  errand__list_init(link);
}

/* Takes the first link out.  Returns: NULL if there is none. */
static inline errand__list *errand__list_pop(errand__list *head) {
  errand__list *first = head->next;
  if (first == head)
    return NULL;
  errand__list_remove(first);
  return first;
}

/* Moves everything in `from` to the end of `to`; `from` is empty then. */
static inline void errand__list_splice(errand__list *to, errand__list *from) {
  if (errand__list_is_empty(from))
    return;
  from->next->prev = to->prev;
  from->prev->next = to;
  to->prev->next = from->next;
  to->prev = from->prev;
  errand__list_init(from);
}

#endif
