/* Requests that once ended wrongly, or not at all. */
#include "support/rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

static void rest(int milliseconds) {
  struct timespec time = {milliseconds / 1000,
                          (long) (milliseconds % 1000) * 1000000};
  nanosleep(&time, NULL);
}

static errand_request streamed_upload(test_rig *rig, const char *path) {
  errand_request request = rig_request("POST", rig_url(rig, path));
  request.body_kind = ERRAND_BODY_STREAM;
  request.body_length = ERRAND_LENGTH_UNKNOWN;
  return request;
}

/* libcurl rewinds no source while POSTFIELDS of an earlier request is set. */
static void a_replayed_file_starts_at_its_first_byte(void **state) {
  test_rig *rig = *state;
  size_t length = 500000;
  uint8_t *bytes = malloc(length);
  for (size_t i = 0; i < length; i++)
    bytes[i] = (uint8_t) (i * 31 >> 3);
  FILE *file = tmpfile();
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  assert_int_equal(fflush(file), 0);
  const errand_fault_step steps[] = {
      ERRAND_FAULT_STEP(READ_HEAD), ERRAND_FAULT_STEP(READ_BODY),
      ERRAND_FAULT_STEP_SEND(OK),   ERRAND_FAULT_STEP(READ_HEAD),
      ERRAND_FAULT_STEP(READ_BODY), ERRAND_FAULT_STEP(FINISH)};
  assert_int_equal(
      errand_fault_server_on_connection(rig->server, 1, steps, COUNT_OF(steps)),
      0);
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(READ_BODY), ERRAND_FAULT_STEP_SEND(OK));
  errand_request post = rig_request("POST", rig_url(rig, "/"));
  post.body_kind = ERRAND_BODY_MEMORY;
  post.body = bytes_of("first");
  rig_expect_response(rig_run(rig, &post), 200, "ok");

  errand_request put = rig_request("PUT", rig_url(rig, "/"));
  put.body_kind = ERRAND_BODY_DESCRIPTOR;
  put.body_fd = fileno(file);
  put.body_length = ERRAND_LENGTH_UNKNOWN;
  const test_result *result = rig_run(rig, &put);
  rig_expect_response(result, 200, "ok");
  assert_true(result->end.flags & ERRAND_RECORD_REPLAYED);
  errand_fault_request last = {0};
  errand_fault_request seen;
  for (size_t i = 0; errand_fault_server_request(rig->server, i, &seen); i++)
    last = seen;
  assert_int_equal(last.body_length, length);
  assert_true(last.body_hash == errand_fault_hash(0, bytes, length));
  fclose(file);
  free(bytes);
}

static void a_starved_upload_ends_with_its_connection(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SLEEP(100), ERRAND_FAULT_STEP(CLOSE));
  errand_request request = streamed_upload(rig, "/");
  uint64_t id = rig_submit(rig, &request);
  const test_result *result = collector_wait(&rig->collector, id);
  if (result->end.status != ERRAND_RECEIVE_FAILED)
    rig_expect_status(result, ERRAND_CONNECTION_LOST);
}

static void silence_after_an_interim_response(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND("HTTP/1.1 103 Early Hints\r\n\r\n"),
         ERRAND_FAULT_STEP(STALL));
  errand_request request = rig_request("GET", rig_url(rig, "/"));
  request.timeout_first_byte = 300;
  rig_expect_status(rig_run(rig, &request), ERRAND_TIMEOUT_FIRST_BYTE);
}

static void silence_after_a_late_head(void **state) {
  test_rig *rig = *state;
  RIG_ON(
      rig, "/", ERRAND_FAULT_STEP_SLEEP(600),
      ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"),
      ERRAND_FAULT_STEP(STALL));
  errand_request request = streamed_upload(rig, "/");
  request.timeout_idle = 200;
  uint64_t id = rig_submit(rig, &request);
  errand_upload_write(rig->group, id, bytes_of("part"));
  rig_expect_status(collector_wait(&rig->collector, id), ERRAND_TIMEOUT_IDLE);
}

static void a_trailer_that_looks_like_a_status_line(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked"
                                "\r\n\r\n5\r\nhello\r\n0\r\n"
                                "HTTP/1.1 500 x: y\r\n\r\n"));
  rig_expect_response(rig_get(rig, rig_url(rig, "/")), 200, "hello");
}

/* Empty deflate blocks without end: no byte is ever decoded. */
static void a_decoded_body_of_nothing_has_a_limit(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"
                                "Content-Encoding: deflate\r\n\r\n\x78\x9c"),
         {.kind = ERRAND_FAULT_SEND,
          .count = -1,
          .data = "\0\0\0\xff\xff",
          .length = 5});
  errand_options_init init = {.encodings = ERRAND_ENCODING_DEFLATE};
  errand_options *options = NULL;
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  errand_request request = rig_request("GET", rig_url(rig, "/"));
  request.options = options;
  request.limit_body_bytes = 10000;
  rig_expect_status(rig_run(rig, &request), ERRAND_LIMIT_BODY_BYTES);
  errand_options_release(options);
}

static void a_transfer_coding_nobody_asked_for(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, "
                                "chunked\r\n\r\n0\r\n\r\n"));
  rig_expect(rig, "/", ERRAND_DECODING_FAILED);
}

/* libcurl keeps the errno of an earlier request of the same handle. */
static void a_failure_says_nothing_of_the_one_before(void **state) {
  test_rig *rig = *state;
  errand_fault_port *closed;
  assert_int_equal(errand_fault_port_create(ERRAND_FAULT_PORT_REFUSED, &closed),
                   0);
  const char *url =
      text("http://127.0.0.1:%u/", errand_fault_port_number(closed));
  rig_expect_status(rig_get(rig, url), ERRAND_CONNECT_FAILED);
  errand_fault_port_destroy(closed);
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked"
                                "\r\n\r\n5\r\nhello\r\nZZ\r\n"));
  const test_result *result = rig_expect(rig, "/", ERRAND_MALFORMED_RESPONSE);
  assert_int_equal(result->end.os_error, 0);
}

/* Nor of an address that was tried before the one that answers, whose errno the
   handle of a kept connection must not have either. */
static void a_failure_says_nothing_of_other_addresses(void **state) {
  test_rig *rig = *state;
  static const char *const paths[] = {"/", "/half", "/half"};
  unsigned port = errand_fault_server_port(rig->server);
  const char *entry = text("two.errand.test:%u:127.0.0.2,127.0.0.1", port);
  errand_options_init init = {.resolve = &entry, .resolve_count = 1};
  errand_options *options = NULL;
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  RIG_ON(rig, "/half",
         ERRAND_FAULT_STEP_SEND(
             "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"),
         ERRAND_FAULT_STEP(FINISH));
  for (size_t i = 0; i < COUNT_OF(paths); i++) {
    errand_request request =
        rig_request("GET", text("http://two.errand.test:%u%s", port, paths[i]));
    request.options = options;
    const test_result *result = rig_run(rig, &request);
    rig_expect_status(result, i == 0 ? ERRAND_OK : ERRAND_PARTIAL_BODY);
    assert_int_equal(result->end.os_error, 0);
  }
  assert_int_equal(rig_counts(rig).connections, 2);
  errand_options_release(options);
}

/* libcurl resends the request on a new connection, which is reset too. */
static void a_second_reset_has_its_error(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  RIG_ON(rig, "/reset", ERRAND_FAULT_STEP(RESET));
  rig_expect_status(rig_get(rig, rig_url(rig, "/")), ERRAND_OK);
  const test_result *result = rig_get(rig, rig_url(rig, "/reset"));
  rig_expect_status(result, ERRAND_CONNECTION_LOST);
  assert_true(result->end.flags & ERRAND_RECORD_REPLAYED);
  assert_int_equal(result->end.os_error, ECONNRESET);
}

static void bytes_at_null_are_refused(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(READ_BODY), ERRAND_FAULT_STEP_SEND(OK));
  errand_request request = streamed_upload(rig, "/");
  uint64_t id = rig_submit(rig, &request);
  errand_bytes nothing = {NULL, 4000};
  assert_int_equal(errand_upload_write(rig->group, id, nothing),
                   ERRAND_INVALID_ARGUMENT);
  assert_int_equal(errand_upload_finish(rig->group, id), ERRAND_OK);
  rig_expect_response(collector_wait(&rig->collector, id), 200, "ok");
}

/* A paused socket that has data is not a dead one. */
static void backpressure_leaves_the_connection_alone(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\nContent-Length: 4000000"
                                "\r\n\r\n"),
         ERRAND_FAULT_STEP_REPEAT(400000, "0123456789"));
  errand_request request = rig_request("GET", rig_url(rig, "/"));
  request.flags = ERRAND_REQUEST_STREAM_RESPONSE;
  request.response_credit = 1000;
  uint64_t id = rig_submit(rig, &request);
  collector_wait_chunks(&rig->collector, id, 1000);
  rest(200);
  errand_grant(rig->group, id, 1u << 30);
  rig_expect_response(collector_wait(&rig->collector, id), 200, NULL);
  rest(2500); /* two ticks: a hung-up shard would be gone */
  assert_int_equal(rig_stats(rig).connections_open, 1);
}

static _Atomic int stopped;

static void on_stopped(void *context) {
  (void) context;
  stopped = 1;
}

/* Threads may be late, but not each of twenty times. */
static void expect_one_at_once(int64_t (*took)(test_rig *rig)) {
  int64_t least = INT64_MAX;
  for (int i = 0; i < 20 && least >= 500; i++) {
    void *rig = NULL;
    stopped = 0;
    assert_int_equal(
        rig_set_up_with(
            &rig, (errand_group_init){.loops = 1, .on_stopped = on_stopped}),
        0);
    int64_t now = took(rig);
    least = now < least ? now : least;
    assert_int_equal(rig_tear_down(&rig), 0);
  }
  if (least >= 500)
    fail_msg("the fastest of 20 took %lld ms", (long long) least);
}

static int64_t drain(test_rig *rig) {
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SLEEP(200), ERRAND_FAULT_STEP_SEND(OK));
  errand_request request = rig_request("GET", rig_url(rig, "/"));
  uint64_t id = rig_submit(rig, &request);
  assert_int_equal(errand_group_stop(rig->group, ERRAND_STOP_DRAIN, 100000),
                   ERRAND_OK);
  rig_expect_response(collector_wait(&rig->collector, id), 200, "ok");
  int64_t start = process_milliseconds();
  while (!stopped && process_milliseconds() - start < 60000)
    rest(1);
  return process_milliseconds() - start;
}

/* A drain ends with its last request, not with the next tick; and a stop can
   only come sooner than asked for before. */
static void a_drain_ends_at_once(void **state) {
  (void) state;
  expect_one_at_once(drain);
}

static int64_t drain_of_no_time(test_rig *rig) {
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(STALL));
  errand_request request = rig_request("GET", rig_url(rig, "/"));
  uint64_t id = rig_submit(rig, &request);
  rig_await(rig, (errand_fault_counts){.requests = 1});
  rest(350); /* libcurl's own timers have passed */
  int64_t start = process_milliseconds();
  assert_int_equal(errand_group_stop(rig->group, ERRAND_STOP_DRAIN, 0),
                   ERRAND_OK);
  rig_expect_status(collector_wait(&rig->collector, id), ERRAND_CANCELLED);
  return process_milliseconds() - start;
}

/* Not at the next tick of a second. */
static void a_drain_of_no_time_cancels_at_once(void **state) {
  (void) state;
  expect_one_at_once(drain_of_no_time);
}

static void a_stop_is_not_lengthened(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(STALL));
  errand_request request = rig_request("GET", rig_url(rig, "/"));
  uint64_t id = rig_submit(rig, &request);
  rig_await(rig, (errand_fault_counts){.requests = 1});
  assert_int_equal(errand_group_stop(rig->group, ERRAND_STOP_DRAIN, 200),
                   ERRAND_OK);
  assert_int_equal(errand_group_stop(rig->group, ERRAND_STOP_DRAIN, 100000),
                   ERRAND_OK);
  int64_t start = process_milliseconds();
  rig_expect_status(collector_wait(&rig->collector, id), ERRAND_CANCELLED);
  assert_true(process_milliseconds() - start < 95000);
}

static void overrides_that_override_nothing_are_refused(void **state) {
  static const char *const entries[] = {
      "-host:80:1.2.3.4",   "+host:80:1.2.3.4", "*:80:1.2.3.4",
      "host:65536:1.2.3.4", "host:80:",         "host:80:name"};
  (void) state;
  for (size_t i = 0; i < COUNT_OF(entries); i++) {
    errand_options_init init = {.resolve = &entries[i], .resolve_count = 1};
    errand_options *options;
    assert_int_equal(errand_options_create(&init, &options),
                     ERRAND_INVALID_OPTION);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST_ONE_LOOP(a_replayed_file_starts_at_its_first_byte),
      RIG_TEST(a_starved_upload_ends_with_its_connection),
      RIG_TEST(silence_after_an_interim_response),
      RIG_TEST(silence_after_a_late_head),
      RIG_TEST(a_trailer_that_looks_like_a_status_line),
      RIG_TEST(a_decoded_body_of_nothing_has_a_limit),
      RIG_TEST(a_transfer_coding_nobody_asked_for),
      RIG_TEST_ONE_LOOP(a_failure_says_nothing_of_the_one_before),
      RIG_TEST_ONE_LOOP(a_failure_says_nothing_of_other_addresses),
      RIG_TEST_ONE_LOOP(a_second_reset_has_its_error),
      RIG_TEST(bytes_at_null_are_refused),
      RIG_TEST_ONE_LOOP(backpressure_leaves_the_connection_alone),
      cmocka_unit_test(a_drain_ends_at_once),
      cmocka_unit_test(a_drain_of_no_time_cancels_at_once),
      RIG_TEST(a_stop_is_not_lengthened),
      cmocka_unit_test(overrides_that_override_nothing_are_refused),
  };
  return cmocka_run_group_tests_name("endings", tests, NULL, NULL);
}
