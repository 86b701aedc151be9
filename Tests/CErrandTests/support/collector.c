#include "support/collector.h"

#include <errand_fault_server.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/test.h"

void collector_init(test_collector *collector) {
  pthread_condattr_t clock;
  memset(collector, 0, sizeof *collector);
  pthread_mutex_init(&collector->lock, NULL);
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_cond_init(&collector->changed, &clock);
  pthread_condattr_destroy(&clock);
  collector->capacity = 64;
  collector->table = calloc(collector->capacity, sizeof *collector->table);
}

void collector_destroy(test_collector *collector) {
  for (size_t i = 0; i < collector->capacity; i++) {
    if (collector->table[i] == NULL)
      continue;
    errand_payload_free(collector->table[i]->end.payload);
    errand_payload_free(collector->table[i]->head.payload);
    errand_payload_free(collector->table[i]->connected.payload);
    free(collector->table[i]);
  }
  free(collector->table);
  pthread_cond_destroy(&collector->changed);
  pthread_mutex_destroy(&collector->lock);
}

static test_result **slot(test_result **table, size_t capacity, uint64_t id) {
  size_t at = (size_t) (id * 0x9e3779b97f4a7c15u) & (capacity - 1);
  while (table[at] != NULL && table[at]->id != id)
    at = (at + 1) & (capacity - 1);
  return &table[at];
}

static void grow(test_collector *collector) {
  size_t capacity = collector->capacity * 2;
  test_result **table = calloc(capacity, sizeof *table);
  for (size_t i = 0; i < collector->capacity; i++)
    if (collector->table[i] != NULL)
      *slot(table, capacity, collector->table[i]->id) = collector->table[i];
  free(collector->table);
  collector->table = table;
  collector->capacity = capacity;
}

/* The entry of an id, made where there is none. */
static test_result *entry(test_collector *collector, uint64_t id) {
  test_result **at = slot(collector->table, collector->capacity, id);
  if (*at != NULL)
    return *at;
  *at = calloc(1, sizeof **at);
  (*at)->id = id;
  test_result *made = *at;
  if (++collector->count * 2 > collector->capacity)
    grow(collector);
  return made;
}

static void violated(test_collector *collector, const char *what) {
  if (collector->violation == NULL)
    collector->violation = what;
}

static void take_chunk(test_collector *collector, test_result *to,
                       errand_record *record) {
  errand_bytes body = {0};
  if (record->payload != NULL)
    body = errand_payload_body(record->payload);
  if (body.length == 0)
    violated(collector, "an empty chunk");
  if (body.length != record->bytes_received)
    violated(collector, "a chunk's bytes_received is not its length");
  if (to->heads == 0)
    violated(collector, "a chunk before its head");
  to->chunks += 1;
  to->chunk_bytes += body.length;
  to->chunk_hash = errand_fault_hash(to->chunk_hash, body.data, body.length);
  collector->chunk_bytes += body.length;
  errand_payload_free(record->payload);
}

static void note_kind(test_result *to, int32_t kind) {
  static const char letters[] = "ehcuSspC";
  size_t length = strlen(to->kinds);
  char letter = letters[kind];
  if (letter != 'u' && length + 1 < sizeof to->kinds &&
      (length == 0 || to->kinds[length - 1] != letter))
    to->kinds[length] = letter;
}

static void take(test_collector *collector, errand_record *record) {
  test_result *to = entry(collector, record->id);
  if (record->id == 0)
    violated(collector, "a record without an id");
  if (to->order != 0)
    violated(collector, "a record after the completion");
  note_kind(to, record->kind);
  switch ((errand_record_kind) record->kind) {
  case ERRAND_RECORD_STARTED:
    to->started += 1;
    break;
  case ERRAND_RECORD_SENT:
    to->sent += 1;
    break;
  case ERRAND_RECORD_PROGRESS:
    if (record->bytes_sent < to->progress.bytes_sent ||
        record->bytes_received < to->progress.bytes_received)
      violated(collector, "progress went back");
    to->progress = *record;
    to->progresses += 1;
    break;
  case ERRAND_RECORD_COMPLETION:
    if (to->order != 0) { /* keep the first; its payload may be in use */
      errand_payload_free(record->payload);
      break;
    }
    to->end = *record;
    to->order = ++collector->completions;
    break;
  case ERRAND_RECORD_HEAD:
    if (to->heads++ > 0) {
      violated(collector, "two heads");
      errand_payload_free(record->payload);
      break;
    }
    to->head = *record;
    break;
  case ERRAND_RECORD_CHUNK:
    take_chunk(collector, to, record);
    break;
  case ERRAND_RECORD_CONNECTED: /* the last one is kept */
    if (record->payload == NULL)
      violated(collector, "a connection without a payload");
    errand_payload_free(to->connected.payload);
    to->connected = *record;
    to->connections += 1;
    break;
  case ERRAND_RECORD_UPLOAD_CREDIT:
    to->credit += record->bytes_sent;
    errand_payload_free(record->payload);
    break;
  }
}

void collector_on_records(void *context, errand_record *records, size_t count) {
  test_collector *collector = context;
  pthread_mutex_lock(&collector->lock);
  if (count == 0)
    violated(collector, "a batch of nothing");
  for (size_t i = 0; i < count; i++)
    take(collector, &records[i]);
  errand_group *group = collector->group;
  pthread_cond_broadcast(&collector->changed);
  pthread_mutex_unlock(&collector->lock);
  for (size_t i = 0; group != NULL && i < count; i++)
    if (records[i].kind == ERRAND_RECORD_CHUNK)
      errand_grant(group, records[i].id, records[i].bytes_received);
}

void collector_grant_to(test_collector *collector, errand_group *group) {
  pthread_mutex_lock(&collector->lock);
  collector->group = group;
  pthread_mutex_unlock(&collector->lock);
}

typedef bool (*condition)(const test_collector *collector,
                          const test_result *of, uint64_t value);

static test_result *wait_for(test_collector *collector, uint64_t id,
                             condition met_by, uint64_t value) {
  struct timespec deadline;
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  deadline.tv_sec += 150; /* more than a rig_request has */
  pthread_mutex_lock(&collector->lock);
  test_result *of = entry(collector, id);
  int rc = 0;
  while (rc != ETIMEDOUT && !met_by(collector, of, value))
    rc = pthread_cond_timedwait(&collector->changed, &collector->lock,
                                &deadline);
  bool met = met_by(collector, of, value);
  errand_record end = of->end;
  const char *violation = collector->violation;
  pthread_mutex_unlock(&collector->lock);
  if (violation != NULL)
    fail_msg("%s", violation);
  if (!met)
    fail_msg("waited 150 s in vain for request %llu (status %s)",
             (unsigned long long) id, errand_status_name(end.status));
  return of;
}

static bool ended(const test_collector *collector, const test_result *of,
                  uint64_t value) {
  (void) collector;
  (void) value;
  return of->order != 0;
}

static bool has_head(const test_collector *collector, const test_result *of,
                     uint64_t value) {
  (void) collector;
  (void) value;
  return of->heads > 0;
}

static bool has_bytes(const test_collector *collector, const test_result *of,
                      uint64_t value) {
  (void) collector;
  return of->chunk_bytes >= value;
}

static bool has_credit(const test_collector *collector, const test_result *of,
                       uint64_t value) {
  (void) collector;
  return of->credit >= value;
}

static bool has_completions(const test_collector *collector,
                            const test_result *of, uint64_t value) {
  (void) of;
  return collector->completions >= value;
}

const test_result *collector_wait(test_collector *collector, uint64_t id) {
  return wait_for(collector, id, ended, 0);
}

const test_result *collector_wait_head(test_collector *collector, uint64_t id) {
  return wait_for(collector, id, has_head, 0);
}

const test_result *collector_wait_chunks(test_collector *collector, uint64_t id,
                                         uint64_t bytes) {
  return wait_for(collector, id, has_bytes, bytes);
}

const test_result *collector_wait_credit(test_collector *collector, uint64_t id,
                                         uint64_t bytes) {
  return wait_for(collector, id, has_credit, bytes);
}

void collector_wait_completions(test_collector *collector, uint64_t count) {
  wait_for(collector, UINT64_MAX, has_completions, count);
}

test_result collector_peek(test_collector *collector, uint64_t id) {
  pthread_mutex_lock(&collector->lock);
  test_result copy = *entry(collector, id);
  pthread_mutex_unlock(&collector->lock);
  return copy;
}

uint64_t collector_completions(test_collector *collector) {
  pthread_mutex_lock(&collector->lock);
  uint64_t count = collector->completions;
  pthread_mutex_unlock(&collector->lock);
  return count;
}
