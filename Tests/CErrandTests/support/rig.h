/* What most tests of the public API stand on: a group, its collector and a
   scripted server. Its end asserts that nothing is left of them. */
#ifndef ERRAND_TESTS_RIG_H
#define ERRAND_TESTS_RIG_H

#include <errand_fault_server.h>

#include "support/collector.h"
#include "support/process.h"
#include "support/test.h"
#include "support/text.h"

typedef struct test_rig {
  process_usage before;
  errand_memory_stats memory;
  errand_group *group;
  test_collector collector;
  errand_fault_server *server;
  uint64_t accepted;
} test_rig;

/* cmocka fixtures: *state is the rig, with a group of the default settings
   and two loops, or of one loop. */
int rig_set_up(void **state);
int rig_set_up_one_loop(void **state);
int rig_tear_down(void **state);

/* The same with a group of the test's own making; on_records and context are
   filled in. */
int rig_set_up_with(void **state, errand_group_init init);

#define RIG_TEST(name)                                                         \
  cmocka_unit_test_setup_teardown(name, rig_set_up, rig_tear_down)
#define RIG_TEST_ONE_LOOP(name)                                                \
  cmocka_unit_test_setup_teardown(name, rig_set_up_one_loop, rig_tear_down)

/* Adds a script for a path; the steps are initialisers. */
#define RIG_ON(rig, path, ...)                                                 \
  assert_int_equal(errand_fault_server_on_path(                                \
                       (rig)->server, path,                                    \
                       (const errand_fault_step[]){__VA_ARGS__},               \
                       COUNT_OF(((const errand_fault_step[]){__VA_ARGS__}))),  \
                   0)

/* "http://127.0.0.1:PORT/path" of the scripted server. */
const char *rig_url(const test_rig *rig, const char *path);

/* A request with the time-out total of 120 s, so that no test hangs. */
errand_request rig_request(const char *method, const char *url);

/* Submits; the request must be accepted. Returns: its id. */
uint64_t rig_submit(test_rig *rig, errand_request *request);
/* Submits and waits for the end. */
const test_result *rig_run(test_rig *rig, errand_request *request);
const test_result *rig_get(test_rig *rig, const char *url);

/* Asserts a status by name, with libcurl's own text where it differs. */
void rig_expect_status(const test_result *result, errand_status status);
/* Asserts status OK, the HTTP status and, unless NULL, the body. */
void rig_expect_response(const test_result *result, int http_status,
                         const char *body);
/* Runs a GET of the scripted server; it must end so. */
const test_result *rig_expect(test_rig *rig, const char *path,
                              errand_status status);

errand_fault_counts rig_counts(test_rig *rig);
errand_stats rig_stats(test_rig *rig);
/* Waits for `ms` of silence in which the loops turn at most `per_second` times
   a second. Timers of libcurl that were set while requests started (one for
   each connect after 200 ms, one for each request after a second) may fill one
   window on a slow machine. A loop that spins fills all ten. */
void rig_expect_rest(test_rig *rig, int ms, uint64_t per_second);
/* Waits, 150 s at most, until the server has seen that much. */
void rig_await(test_rig *rig, errand_fault_counts least);

/* Whether `part` occurs in the bytes. */
bool bytes_contain(errand_bytes bytes, const char *part);
/* As a NUL-terminated string, cut at 1,023 bytes; good like text(). */
const char *bytes_text(errand_bytes bytes);

#endif
