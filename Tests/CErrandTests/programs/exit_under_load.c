/* Exits with status 0 while its loops are busy: nothing is stopped, nothing
   is destroyed, TLS handshakes are under way.
     exit_under_load URL MILLISECONDS exit|return */
#include <CErrand.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static errand_group *group;
static errand_options *options;
static const char *url;

static void submit(size_t count) {
  errand_request items[16];
  memset(items, 0, sizeof items);
  for (size_t i = 0; i < count; i++) {
    items[i].url = (errand_bytes){(const uint8_t *) url, strlen(url)};
    items[i].options = options;
    items[i].timeout_total = 5000;
    if (i % 2 == 0)
      items[i].flags = ERRAND_REQUEST_FRESH_CONNECTION;
  }
  errand_submit(group, items, count);
}

static void on_records(void *context, errand_record *records, size_t count) {
  (void) context;
  for (size_t i = 0; i < count; i++) {
    errand_payload_free(records[i].payload);
    if (records[i].kind == ERRAND_RECORD_COMPLETION)
      submit(1);
  }
}

int main(int argc, char **argv) {
  errand_options_init how = {.insecure_accept_any_certificate = 1,
                             .insecure_accept_any_host_name = 1};
  errand_group_init init = {
      .loops = 2, .allow_denied_library = 1, .on_records = on_records};
  if (argc != 4)
    return 2;
  url = argv[1];
  if (errand_options_create(&how, &options) != ERRAND_OK)
    return 3;
  init.options = options;
  errand_group *made = NULL;
  if (errand_group_create(&init, &made) != ERRAND_OK)
    return 4;
  group = made; /* no request yet, so no callback reads it */
  submit(16);
  struct timespec pause = {0, strtol(argv[2], NULL, 10) * 1000000};
  nanosleep(&pause, NULL);
  if (strcmp(argv[3], "exit") == 0)
    exit(0);
  return 0;
}
