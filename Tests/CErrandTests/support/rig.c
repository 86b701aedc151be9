#include "support/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

/* What the libraries make once and keep must not count as a leak. */
static void warm_up(void) {
  static bool done;
  if (done)
    return;
  done = true;
  test_collector collector;
  collector_init(&collector);
  errand_group_init init = {.loops = 1,
                            .allow_denied_library = 1,
                            .on_records = collector_on_records,
                            .context = &collector};
  errand_group *group = NULL;
  assert_int_equal(errand_group_create(&init, &group), ERRAND_OK);
  assert_int_equal(errand_group_destroy(group), ERRAND_OK);
  collector_destroy(&collector);
  /* libuv's worker threads, which read request bodies from files. */
  uv_loop_t loop;
  uv_fs_t stat;
  uv_loop_init(&loop);
  uv_fs_stat(&loop, &stat, "/", uv_fs_req_cleanup);
  uv_run(&loop, UV_RUN_DEFAULT);
  uv_loop_close(&loop);
}

int rig_set_up_with(void **state, errand_group_init init) {
  warm_up();
  test_rig *rig = calloc(1, sizeof *rig);
  rig->before = process_usage_now();
  errand_memory_read(&rig->memory);
  collector_init(&rig->collector);
  if (errand_fault_server_create(NULL, &rig->server) != 0)
    return -1;
  init.on_records = collector_on_records;
  init.context = &rig->collector;
  /* That a denied version is broken, the tests that fail there show. */
  init.allow_denied_library = 1;
  assert_int_equal(errand_group_create(&init, &rig->group), ERRAND_OK);
  *state = rig;
  return 0;
}

int rig_set_up(void **state) {
  return rig_set_up_with(state, (errand_group_init){.loops = 2});
}

int rig_set_up_one_loop(void **state) {
  return rig_set_up_with(state, (errand_group_init){.loops = 1});
}

int rig_tear_down(void **state) {
  test_rig *rig = *state;
  assert_int_equal(errand_group_destroy(rig->group), ERRAND_OK);
  uint64_t completions = rig->collector.completions;
  const char *violation = rig->collector.violation;
  collector_destroy(&rig->collector);
  errand_fault_server_destroy(rig->server);
  errand_memory_stats now;
  errand_memory_read(&now);
  process_usage before = rig->before;
  errand_memory_stats then = rig->memory;
  uint64_t accepted = rig->accepted;
  free(rig);
  if (violation != NULL)
    fail_msg("%s", violation);
  assert_int_equal(completions, accepted);
  assert_int_equal(now.allocations - now.frees, then.allocations - then.frees);
  assert_true(process_usage_settles(before, 120000));
  return 0;
}

const char *rig_url(const test_rig *rig, const char *path) {
  return text("http://127.0.0.1:%u%s", errand_fault_server_port(rig->server),
              path);
}

errand_request rig_request(const char *method, const char *url) {
  return (errand_request){.method = bytes_of(method),
                          .url = bytes_of(url),
                          .timeout_total = 120000};
}

uint64_t rig_submit(test_rig *rig, errand_request *request) {
  size_t accepted = errand_submit(rig->group, request, 1);
  assert_string_equal(errand_status_name(request->status), "OK");
  assert_int_equal(accepted, 1);
  assert_int_not_equal(request->id, 0);
  rig->accepted += 1;
  return request->id;
}

const test_result *rig_run(test_rig *rig, errand_request *request) {
  return collector_wait(&rig->collector, rig_submit(rig, request));
}

const test_result *rig_get(test_rig *rig, const char *url) {
  errand_request request = rig_request("GET", url);
  return rig_run(rig, &request);
}

void rig_expect_status(const test_result *collected, errand_status status) {
  const errand_record *end = &collected->end;
  if (end->status == (int32_t) status)
    return;
  errand_bytes said = {0};
  if (end->payload != NULL)
    said = errand_payload_error_text(end->payload);
  fail_msg("ended %s (libcurl %d, errno %d, http %d: %s), not %s",
           errand_status_name(end->status), end->curl_code, end->os_error,
           end->http_status, bytes_text(said), errand_status_name(status));
}

void rig_expect_response(const test_result *collected, int http_status,
                         const char *body) {
  rig_expect_status(collected, ERRAND_OK);
  assert_int_equal(collected->end.http_status, http_status);
  if (body == NULL)
    return;
  /* A streamed response's completion need not have a payload. */
  errand_bytes there = {0};
  if (collected->end.payload != NULL)
    there = errand_payload_body(collected->end.payload);
  assert_string_equal(bytes_text(there), body);
}

const test_result *rig_expect(test_rig *rig, const char *path,
                              errand_status status) {
  const test_result *collected = rig_get(rig, rig_url(rig, path));
  rig_expect_status(collected, status);
  return collected;
}

errand_fault_counts rig_counts(test_rig *rig) {
  errand_fault_counts counts;
  errand_fault_server_counts(rig->server, &counts);
  return counts;
}

errand_stats rig_stats(test_rig *rig) {
  errand_stats stats;
  errand_group_stats(rig->group, &stats);
  return stats;
}

void rig_expect_rest(test_rig *rig, int ms, uint64_t per_second) {
  enum { WINDOWS = 10 };
  uint64_t turns = 0, took = 0;
  for (int i = 0; i < WINDOWS; i++) {
    turns = rig_stats(rig).turns;
    int64_t start = process_milliseconds();
    usleep((useconds_t) ms * 1000);
    turns = rig_stats(rig).turns - turns;
    took = (uint64_t) (process_milliseconds() - start);
    if (turns * 1000 <= per_second * took)
      return;
  }
  fail_msg("%llu turns in the last of %d windows of silence, of %llu ms",
           (unsigned long long) turns, WINDOWS, (unsigned long long) took);
}

void rig_await(test_rig *rig, errand_fault_counts least) {
  if (!errand_fault_server_wait(rig->server, &least, 150000))
    fail_msg("the server did not see that in 150 s");
}

bool bytes_contain(errand_bytes bytes, const char *part) {
  return bytes.length > 0 &&
         memmem(bytes.data, bytes.length, part, strlen(part)) != NULL;
}

const char *bytes_text(errand_bytes bytes) {
  return bytes.length == 0
             ? ""
             : text("%.*s", (int) bytes.length, (const char *) bytes.data);
}
