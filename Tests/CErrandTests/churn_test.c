/* Timeout: 240 s */
/* Groups come and go: descriptors, threads, memory and resident size stay. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/rig.h"

#define GROUPS 10000
#define WARM_UP 500
#define REQUEST_EVERY 50
/* Allocators keep some; 10,000 groups at one leaked line each are 640 KB. */
#define GROWTH_MAX_KB 512

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static errand_fault_server *server;
static char url[64];

static long resident_kb(void) {
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%*s %ld", &pages) != 1)
    pages = -1;
  if (file != NULL)
    fclose(file);
  return pages < 0 ? -1 : pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void one_group(int number) {
  test_collector collector;
  collector_init(&collector);
  errand_group_init init = {.loops = 1 + (uint32_t) (number % 4 == 0),
                            .allow_denied_library = 1,
                            .on_records = collector_on_records,
                            .context = &collector};
  errand_group *group = NULL;
  assert_int_equal(errand_group_create(&init, &group), ERRAND_OK);
  if (number % REQUEST_EVERY == 0) {
    errand_request r = {.url = bytes_of(url), .timeout_total = 120000};
    assert_int_equal(errand_submit(group, &r, 1), 1);
    if (number % (2 * REQUEST_EVERY) == 0)
      rig_expect_response(collector_wait(&collector, r.id), 200, "ok");
  }
  assert_int_equal(errand_group_destroy(group), ERRAND_OK);
  assert_int_equal(collector.completions, number % REQUEST_EVERY == 0);
  assert_null(collector.violation);
  collector_destroy(&collector);
}

static void ten_thousand_groups(void **state) {
  (void) state;
  process_usage usage = {0};
  errand_memory_stats before = {0};
  long resident = 0;
  for (int i = 0; i < GROUPS; i++) {
    if (i == WARM_UP) {
      usage = process_usage_now();
      errand_memory_read(&before);
      resident = resident_kb();
    }
    one_group(i);
  }
  errand_memory_stats after;
  errand_memory_read(&after);
  assert_int_equal(after.allocations - after.frees,
                   before.allocations - before.frees);
  assert_true(process_usage_settles(usage, 60000));
  long grown = resident_kb() - resident;
  printf("resident size grew by %ld KB\n", grown);
  assert_true(resident > 0);
  /* The sanitizers keep what was freed. */
  if (!SANITIZED)
    assert_true(grown <= GROWTH_MAX_KB);
}

static int set_up(void **state) {
  (void) state;
  if (errand_fault_server_create(NULL, &server) != 0)
    return -1;
  struct {
    errand_fault_server *server;
  } on = {server};
  RIG_ON(&on, "/",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
                                "ok"));
  snprintf(url, sizeof url, "http://127.0.0.1:%u/",
           errand_fault_server_port(server));
  return 0;
}

static int tear_down(void **state) {
  (void) state;
  errand_fault_server_destroy(server);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ten_thousand_groups)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
