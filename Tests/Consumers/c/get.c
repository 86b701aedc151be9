/* A C service's first program: one GET, its status and body printed. */
#include <CErrand.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct waiter {
  pthread_mutex_t mutex;
  pthread_cond_t ended;
  errand_record record;
  int done;
};

static void on_records(void *context, errand_record *records, size_t count) {
  struct waiter *waiter = context;
  for (size_t i = 0; i < count; i++) {
    if (records[i].kind != ERRAND_RECORD_COMPLETION) {
      errand_payload_free(records[i].payload);
      continue;
    }
    pthread_mutex_lock(&waiter->mutex);
    waiter->record = records[i];
    waiter->done = 1;
    pthread_cond_signal(&waiter->ended);
    pthread_mutex_unlock(&waiter->mutex);
  }
}

int main(int argc, char **argv) {
  struct waiter waiter = {
      PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {0}, 0};
  errand_group_init init = {
      .loops = 1, .on_records = on_records, .context = &waiter};
  errand_request request = {.timeout_total = 10000};
  errand_group *group;
  errand_status status;
  if (argc != 2) {
    fprintf(stderr, "usage: get URL\n");
    return 2;
  }
  request.url.data = (const uint8_t *) argv[1];
  request.url.length = strlen(argv[1]);

  status = errand_group_create(&init, &group);
  if (status != ERRAND_OK) {
    fprintf(stderr, "group: %s\n", errand_status_text(status));
    return 1;
  }
  if (errand_submit(group, &request, 1) != 1) {
    fprintf(stderr, "%s: %s\n", argv[1], errand_status_text(request.status));
    errand_group_destroy(group);
    return 1;
  }
  pthread_mutex_lock(&waiter.mutex);
  while (!waiter.done)
    pthread_cond_wait(&waiter.ended, &waiter.mutex);
  pthread_mutex_unlock(&waiter.mutex);
  errand_group_destroy(group);

  status = (errand_status) waiter.record.status;
  if (status != ERRAND_OK) {
    fprintf(stderr, "%s: %s\n", argv[1], errand_status_text(status));
    errand_payload_free(waiter.record.payload);
    return 1;
  }
  errand_bytes body = errand_payload_body(waiter.record.payload);
  printf("%d %.*s\n", waiter.record.http_status, (int) body.length,
         (const char *) body.data);
  errand_payload_free(waiter.record.payload);
  return 0;
}
