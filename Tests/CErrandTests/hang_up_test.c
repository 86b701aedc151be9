/* Connections that die while libcurl does not listen to them. */
#include "support/rig.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define NOTHING "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

static void rest(long milliseconds) {
  nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

static errand_request streamed_upload(const char *url) {
  errand_request request = rig_request("POST", url);
  request.body_kind = ERRAND_BODY_STREAM;
  request.body_length = ERRAND_LENGTH_UNKNOWN;
  return request;
}

static void expect_lost(const test_result *result) {
  if (result->end.status != ERRAND_RECEIVE_FAILED)
    rig_expect_status(result, ERRAND_CONNECTION_LOST);
}

/* A socket without a port, at its end or gone. */
static void a_starved_upload_by_a_unix_socket(void **state) {
  test_rig *rig = *state;
  char path[64];
  snprintf(path, sizeof path, "/tmp/errand-hang-up-%d.sock", (int) getpid());
  errand_fault_server *local = NULL;
  assert_int_equal(errand_fault_server_create(path, &local), 0);
  const errand_fault_step finish[] = {ERRAND_FAULT_STEP_SLEEP(100),
                                      ERRAND_FAULT_STEP(FINISH)};
  const errand_fault_step gone[] = {ERRAND_FAULT_STEP_SLEEP(100),
                                    ERRAND_FAULT_STEP(CLOSE)};
  errand_fault_server_on_path(local, "/finish", finish, COUNT_OF(finish));
  errand_fault_server_on_path(local, "/gone", gone, COUNT_OF(gone));
  errand_options_init init = {.unix_socket_path = path};
  errand_options *options = NULL;
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  static const char *const urls[] = {"http://in-a-file.test/finish",
                                     "http://in-a-file.test/gone"};
  for (size_t i = 0; i < COUNT_OF(urls); i++) {
    errand_request request = streamed_upload(urls[i]);
    request.options = options;
    expect_lost(rig_run(rig, &request));
  }
  errand_options_release(options);
  assert_int_equal(errand_group_destroy(rig->group), ERRAND_OK);
  rig->group = NULL;
  errand_fault_server_destroy(local);
}

static void a_starved_upload_that_is_paused_too(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(STALL), ERRAND_FAULT_STEP(RESET));
  RIG_ON(rig, "/fence", ERRAND_FAULT_STEP_SEND(NOTHING));
  errand_request request = streamed_upload(rig_url(rig, "/"));
  uint64_t id = rig_submit(rig, &request);
  rig_await(rig, (errand_fault_counts){.requests = 1});
  assert_int_equal(errand_pause(rig->group, id), ERRAND_OK);
  /* The pause is obeyed before the one loop starts what comes after it. */
  rig_expect_status(rig_get(rig, rig_url(rig, "/fence")), ERRAND_OK);
  errand_fault_server_release(rig->server);
  rig_await(rig, (errand_fault_counts){.closed = 1});
  rest(100);
  assert_int_equal(collector_peek(&rig->collector, id).order, 0);
  assert_int_equal(errand_resume(rig->group, id), ERRAND_OK);
  expect_lost(collector_wait(&rig->collector, id));
}

/* The body's end is that of the connection, so a reset must not look like one;
   and what came with it is still there. */
static void a_paused_response(void **state) {
  test_rig *rig = *state;
#define PART "HTTP/1.1 200 OK\r\n\r\n0123456789"
  RIG_ON(rig, "/alone", ERRAND_FAULT_STEP_SEND(PART), ERRAND_FAULT_STEP(STALL),
         ERRAND_FAULT_STEP(RESET));
  RIG_ON(rig, "/more", ERRAND_FAULT_STEP_SEND(PART), ERRAND_FAULT_STEP(STALL),
         ERRAND_FAULT_STEP_REPEAT(4000, "0123456789"),
         ERRAND_FAULT_STEP(RESET));
  static const char *const paths[] = {"/alone", "/more"};
  for (size_t i = 0; i < COUNT_OF(paths); i++) {
    errand_request request = rig_request("GET", rig_url(rig, paths[i]));
    request.flags = ERRAND_REQUEST_STREAM_RESPONSE;
    request.response_credit = 10;
    uint64_t id = rig_submit(rig, &request);
    collector_wait_chunks(&rig->collector, id, 10);
    errand_fault_server_release(rig->server);
    rig_await(rig, (errand_fault_counts){.closed = i + 1});
    errand_fault_server_hold(rig->server);
    rig_expect_rest(rig, 400, 50);
    errand_grant(rig->group, id, 1u << 30);
    const test_result *result = collector_wait(&rig->collector, id);
    rig_expect_status(result, ERRAND_RECEIVE_FAILED);
    assert_int_equal(result->chunk_bytes, i == 0 ? 10 : 40010);
  }
}

/* libcurl has all of it and looks at the socket no more; who comes next, and
   may not be sent twice, gets another connection. */
static void a_paused_response_that_is_whole(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/whole",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"
                                "Transfer-Encoding: chunked\r\n\r\n"
                                "5\r\nhello\r\n5\r\nworld\r\n0\r\n\r\n"),
         ERRAND_FAULT_STEP(STALL), ERRAND_FAULT_STEP(RESET));
  RIG_ON(rig, "/next", ERRAND_FAULT_STEP_SEND(NOTHING));
  errand_request request = rig_request("GET", rig_url(rig, "/whole"));
  request.flags = ERRAND_REQUEST_STREAM_RESPONSE;
  request.response_credit = 5;
  uint64_t id = rig_submit(rig, &request);
  collector_wait_chunks(&rig->collector, id, 5);
  errand_fault_server_release(rig->server);
  rig_await(rig, (errand_fault_counts){.closed = 1});
  rest(100);
  errand_grant(rig->group, id, 1u << 30);
  const test_result *result = collector_wait(&rig->collector, id);
  rig_expect_status(result, ERRAND_OK);
  assert_int_equal(result->chunk_bytes, 10);
  errand_request next = rig_request("POST", rig_url(rig, "/next"));
  rig_expect_status(rig_run(rig, &next), ERRAND_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST_ONE_LOOP(a_starved_upload_by_a_unix_socket),
      RIG_TEST_ONE_LOOP(a_starved_upload_that_is_paused_too),
      RIG_TEST_ONE_LOOP(a_paused_response),
      RIG_TEST_ONE_LOOP(a_paused_response_that_is_whole),
  };
  return cmocka_run_group_tests_name("hang_up", tests, NULL, NULL);
}
