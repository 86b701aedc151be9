/* Records of the requests. Records are never removed and their head never
   changes, so that views of them can be returned. */
#include "fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t errand_fault_hash(uint64_t seed, const void *data, size_t length) {
  uint64_t hash = seed == 0 ? 14695981039346656037u : seed;
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ ((const uint8_t *) data)[i]) * 1099511628211u;
  return hash;
}

/* The method and target of the request line, as two strings in one block. */
static char *split(const char *head, const char **target) {
  size_t line = strcspn(head, "\r\n");
  size_t method = strcspn(head, " \r\n");
  char *words = malloc(line + 2);
  if (words == NULL)
    return NULL;
  memcpy(words, head, line);
  words[line] = words[line + 1] = 0;
  words[method] = 0;
  char *start = words + method + (method < line ? 1 : 0);
  start[strcspn(start, " ")] = 0;
  *target = start;
  return words;
}

fault_record *errand_fault__record(fault_connection *connection, char *head,
                                   size_t length) {
  errand_fault_server *server = connection->server;
  fault_record *record = calloc(1, sizeof *record);
  const char *target = NULL;
  char *words = split(head, &target);
  bool stored = false;
  pthread_mutex_lock(&server->lock);
  if (record != NULL && words != NULL) {
    if (server->record_count == server->record_capacity) {
      size_t wanted = server->record_capacity * 2 + 64;
      fault_record **grown =
          realloc(server->records, wanted * sizeof *server->records);
      if (grown != NULL) {
        server->records = grown;
        server->record_capacity = wanted;
      }
    }
    if (server->record_count < server->record_capacity) {
      *record = (fault_record){
          .view = {.connection = connection->number,
                   .method = words,
                   .target = target,
                   .head = head,
                   .head_length = length},
          .head = head,
          .words = words,
      };
      server->records[server->record_count++] = record;
      server->counts.requests += 1;
      stored = true;
      pthread_cond_broadcast(&server->changed);
    }
  }
  pthread_mutex_unlock(&server->lock);
  if (stored)
    return record;
  free(record);
  free(words);
  free(head);
  return NULL;
}

void errand_fault__record_body(fault_connection *connection, uint8_t *body,
                               size_t kept, uint64_t length, uint64_t hash,
                               bool complete) {
  errand_fault_server *server = connection->server;
  fault_record *record = connection->request;
  pthread_mutex_lock(&server->lock);
  record->body = body;
  record->view.body = body;
  record->view.body_kept = kept;
  record->view.body_length = length;
  record->view.body_hash = hash;
  record->view.body_complete = complete;
  server->counts.bodies += complete;
  pthread_cond_broadcast(&server->changed);
  pthread_mutex_unlock(&server->lock);
}

int errand_fault_server_request(errand_fault_server *server, size_t index,
                                errand_fault_request *out) {
  pthread_mutex_lock(&server->lock);
  int found = index < server->record_count;
  if (found)
    *out = server->records[index]->view;
  pthread_mutex_unlock(&server->lock);
  return found;
}

void errand_fault_server_counts(errand_fault_server *server,
                                errand_fault_counts *out) {
  pthread_mutex_lock(&server->lock);
  *out = server->counts;
  pthread_mutex_unlock(&server->lock);
}

static bool reached(const errand_fault_counts *counts,
                    const errand_fault_counts *least) {
  return counts->connections >= least->connections &&
         counts->closed >= least->closed &&
         counts->requests >= least->requests &&
         counts->bodies >= least->bodies &&
         counts->bytes_received >= least->bytes_received &&
         counts->bytes_sent >= least->bytes_sent;
}

int errand_fault_server_wait(errand_fault_server *server,
                             const errand_fault_counts *least,
                             uint32_t milliseconds) {
  struct timespec deadline;
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  deadline.tv_sec += milliseconds / 1000;
  deadline.tv_nsec += (long) (milliseconds % 1000) * 1000000;
  if (deadline.tv_nsec >= 1000000000) {
    deadline.tv_sec += 1;
    deadline.tv_nsec -= 1000000000;
  }
  pthread_mutex_lock(&server->lock);
  int rc = 0;
  while (rc != ETIMEDOUT && !reached(&server->counts, least))
    rc = pthread_cond_timedwait(&server->changed, &server->lock, &deadline);
  int there = reached(&server->counts, least);
  pthread_mutex_unlock(&server->lock);
  return there;
}

void errand_fault__free_records(errand_fault_server *server) {
  for (size_t i = 0; i < server->record_count; i++) {
    free(server->records[i]->head);
    free(server->records[i]->words);
    free(server->records[i]->body);
    free(server->records[i]);
  }
  free(server->records);
}
