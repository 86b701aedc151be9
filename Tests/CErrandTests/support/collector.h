/* Gathers the records of a group by request, and what breaks the promise of
   exactly one completion, last of all. */
#ifndef ERRAND_TESTS_COLLECTOR_H
#define ERRAND_TESTS_COLLECTOR_H

#include <CErrand.h>
#include <pthread.h>
#include <stdbool.h>

/* All that came for one request. Read it after its completion, or under the
   collector's lock. */
typedef struct test_result {
  uint64_t id;
  uint64_t order; /* of completion, from 1; 0: not yet */
  errand_record end;
  errand_record head; /* streams: the HEAD record */
  unsigned heads;
  unsigned chunks;
  uint64_t chunk_bytes;
  uint64_t chunk_hash; /* FNV-1a of the chunks */
  uint64_t credit;     /* upload credit granted, in all */
  unsigned started;
  unsigned sent;
  unsigned connections;
  errand_record connected; /* the last one */
  unsigned progresses;
  errand_record progress; /* the last one */
  /* Records in order: S started, C connected, s sent, h head, p progress, c
     chunk, e end; the same twice in a row counts once. */
  char kinds[32];
} test_result;

typedef struct test_collector {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  test_result **table; /* open addressing, by id */
  size_t capacity;
  size_t count;
  uint64_t completions;
  uint64_t chunk_bytes;
  const char *violation; /* the first broken promise */
  errand_group *group;   /* to grant to; NULL: nothing is granted */
} test_collector;

void collector_init(test_collector *collector);
/* Frees the payloads. */
void collector_destroy(test_collector *collector);

/* An errand_record_callback; `context` is the collector. */
void collector_on_records(void *context, errand_record *records, size_t count);

/* Grants each chunk back to this group at once. */
void collector_grant_to(test_collector *collector, errand_group *group);

/* Wait, 150 s at most, and fail the test after that. */
const test_result *collector_wait(test_collector *collector, uint64_t id);
const test_result *collector_wait_head(test_collector *collector, uint64_t id);
const test_result *collector_wait_chunks(test_collector *collector, uint64_t id,
                                         uint64_t bytes);
const test_result *collector_wait_credit(test_collector *collector, uint64_t id,
                                         uint64_t bytes);
void collector_wait_completions(test_collector *collector, uint64_t count);

/* A copy of what there is now; zero where there is nothing. */
test_result collector_peek(test_collector *collector, uint64_t id);
uint64_t collector_completions(test_collector *collector);

#endif
