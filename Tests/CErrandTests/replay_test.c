/* Kept connections that turn out dead: what may be sent twice, and what not. */
#include "support/rig.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

static void dies_at_the_second_of(test_rig *rig, int connection,
                                  errand_fault_step_kind last) {
  const errand_fault_step steps[] = {
      ERRAND_FAULT_STEP(READ_HEAD), ERRAND_FAULT_STEP(READ_BODY),
      ERRAND_FAULT_STEP_SEND(OK),   ERRAND_FAULT_STEP(READ_HEAD),
      ERRAND_FAULT_STEP(READ_BODY), {.kind = last}};
  assert_int_equal(errand_fault_server_on_connection(rig->server, connection,
                                                     steps, COUNT_OF(steps)),
                   0);
}

/* The connection's first request is answered; its second is read, body and
   all, and answered by `last`. */
static void dies_at_the_second(test_rig *rig, errand_fault_step_kind last) {
  dies_at_the_second_of(rig, 1, last);
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(READ_BODY), ERRAND_FAULT_STEP_SEND(OK));
}

static int count_of(test_rig *rig, const char *method) {
  errand_fault_request request;
  int count = 0;
  for (size_t i = 0; errand_fault_server_request(rig->server, i, &request); i++)
    count += strcmp(request.method, method) == 0;
  return count;
}

static const test_result *send(test_rig *rig, const char *method,
                               uint32_t flags) {
  errand_request request = rig_request(method, rig_url(rig, "/"));
  request.flags = flags;
  if (strcmp(method, "GET") != 0) {
    request.body_kind = ERRAND_BODY_MEMORY;
    request.body = bytes_of("payload");
  }
  return rig_run(rig, &request);
}

static void a_get_is_sent_again(void **state) {
  test_rig *rig = *state;
  dies_at_the_second(rig, ERRAND_FAULT_FINISH);
  rig_expect_response(send(rig, "OPTIONS", 0), 200, "ok");
  const test_result *result = send(rig, "GET", 0);
  rig_expect_response(result, 200, "ok");
  assert_true(result->end.flags & ERRAND_RECORD_REPLAYED);
  assert_int_equal(result->end.resends, 1);
  assert_int_equal(result->end.rounds, 0);
  assert_int_equal(count_of(rig, "GET"), 2);
  assert_int_equal(rig_counts(rig).connections, 2);
}

/* A send is told of once: with the head, where there is a HEAD record. */
static void a_record_tells_of_it_once(void **state) {
  test_rig *rig = *state;
  static const uint32_t flags[] = {0, ERRAND_REQUEST_REPORT_EVENTS,
                                   ERRAND_REQUEST_STREAM_RESPONSE};
  for (size_t i = 0; i < COUNT_OF(flags); i++) {
    RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
    RIG_ON(rig, "/", ERRAND_FAULT_STEP(CLOSE));
  }
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  const test_result *result = send(rig, "GET", 0);
  rig_expect_response(result, 200, "ok");
  assert_int_equal(result->end.resends, 0);
  for (size_t i = 0; i < COUNT_OF(flags); i++) {
    result = send(rig, "GET", flags[i]);
    rig_expect_status(result, ERRAND_OK);
    assert_true(result->end.flags & ERRAND_RECORD_REPLAYED);
    assert_int_equal(result->head.resends, i == 0 ? 0 : 1);
    assert_int_equal(result->end.resends, i == 0 ? 1 : 0);
  }
}

/* The handle had another origin's whole URL in between, and libcurl sends again
   by the URL that a handle has (Curl_retry_request). */
static void to_the_origin_and_target_of_the_request(void **state) {
  test_rig *rig = *state;
  char other[64];
  snprintf(other, sizeof other, "http://LOCALHOST:%u/other",
           (unsigned) errand_fault_server_port(rig->server));
  dies_at_the_second_of(rig, 1, ERRAND_FAULT_FINISH);
  RIG_ON(rig, NULL, ERRAND_FAULT_STEP(READ_BODY), ERRAND_FAULT_STEP_SEND(OK));
  rig_expect_response(rig_get(rig, rig_url(rig, "/first")), 200, "ok");
  rig_expect_response(rig_get(rig, other), 200, "ok");
  const test_result *result = rig_get(rig, rig_url(rig, "/a?b"));
  rig_expect_response(result, 200, "ok");
  assert_true(result->end.flags & ERRAND_RECORD_REPLAYED);
  for (size_t i = 2; i < 4; i++) {
    errand_fault_request request;
    assert_true(errand_fault_server_request(rig->server, i, &request));
    assert_string_equal(request.target, "/a?b");
    assert_non_null(strstr(request.head, "\r\nHost: 127.0.0.1:"));
  }
}

/* Each connection answers once. libcurl counts what it sends again by handle,
   not by request, and its sixth is an error: the handles are ours to change. */
static void as_often_as_it_happens(void **state) {
  test_rig *rig = *state;
  for (int i = 1; i <= 20; i++)
    dies_at_the_second_of(rig, i, ERRAND_FAULT_FINISH);
  rig_expect_response(send(rig, "GET", 0), 200, "ok");
  for (int i = 1; i < 20; i++) {
    const test_result *result = send(rig, "GET", 0);
    rig_expect_response(result, 200, "ok");
    assert_true(result->end.flags & ERRAND_RECORD_REPLAYED);
  }
}

/* Kept connections that all die at their second request: RFC 9110 9.2.2 has a
   client not send again what was sent again. */
static void once_more_and_no_more(void **state) {
  test_rig *rig = *state;
  enum { KEPT = 4 };
  errand_request requests[KEPT];
  for (int i = 1; i <= KEPT; i++) {
    const errand_fault_step steps[] = {
        ERRAND_FAULT_STEP(READ_HEAD), ERRAND_FAULT_STEP(STALL),
        ERRAND_FAULT_STEP_SEND(OK),   ERRAND_FAULT_STEP(READ_HEAD),
        ERRAND_FAULT_STEP(READ_BODY), ERRAND_FAULT_STEP(FINISH)};
    errand_fault_server_on_connection(rig->server, i, steps, COUNT_OF(steps));
  }
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(READ_BODY), ERRAND_FAULT_STEP_SEND(OK));
  for (int i = 0; i < KEPT; i++) {
    requests[i] = rig_request("OPTIONS", rig_url(rig, "/"));
    rig_submit(rig, &requests[i]);
  }
  rig_await(rig, (errand_fault_counts){.requests = KEPT});
  errand_fault_server_release(rig->server);
  for (int i = 0; i < KEPT; i++)
    rig_expect_response(collector_wait(&rig->collector, requests[i].id), 200,
                        "ok");
  const test_result *result = send(rig, "GET", 0);
  rig_expect_response(result, 200, "ok");
  assert_true(result->end.flags & ERRAND_RECORD_REPLAYED);
  assert_int_equal(count_of(rig, "GET"), 2);
  assert_int_equal(rig_counts(rig).connections, KEPT + 1);
}

static void posts_are_never_sent_twice(void **state) {
  test_rig *rig = *state;
  dies_at_the_second(rig, ERRAND_FAULT_FINISH);
  rig_expect_response(send(rig, "GET", 0), 200, "ok");
  const test_result *result = send(rig, "POST", 0);
  rig_expect_status(result, ERRAND_CONNECTION_LOST);
  assert_int_equal(result->end.resends, 0);
  assert_int_equal(count_of(rig, "POST"), 1);
  /* The next one has a live connection. */
  rig_expect_response(send(rig, "POST", 0), 200, "ok");
  assert_int_equal(count_of(rig, "POST"), 2);
}

static void nor_after_a_reset(void **state) {
  test_rig *rig = *state;
  dies_at_the_second(rig, ERRAND_FAULT_RESET);
  rig_expect_response(send(rig, "GET", 0), 200, "ok");
  const test_result *result = send(rig, "PATCH", 0);
  rig_expect_status(result, ERRAND_CONNECTION_LOST);
  assert_int_equal(count_of(rig, "PATCH"), 1);
  /* Nor is a connection tried, whose failure would be the wrong reason. */
  assert_int_equal(rig_stats(rig).connections_opened, 1);
}

static void unless_the_caller_allows_it(void **state) {
  test_rig *rig = *state;
  dies_at_the_second(rig, ERRAND_FAULT_FINISH);
  rig_expect_response(send(rig, "GET", 0), 200, "ok");
  rig_expect_response(send(rig, "POST", ERRAND_REQUEST_ALLOW_REPLAY), 200,
                      "ok");
  assert_int_equal(count_of(rig, "POST"), 2);
  errand_fault_request last;
  assert_true(errand_fault_server_request(rig->server, 2, &last));
  assert_int_equal(last.body_hash, errand_fault_hash(0, "payload", 7));
}

static void idempotent_methods_with_a_body_are_sent_again(void **state) {
  test_rig *rig = *state;
  dies_at_the_second(rig, ERRAND_FAULT_FINISH);
  rig_expect_response(send(rig, "GET", 0), 200, "ok");
  rig_expect_response(send(rig, "PUT", 0), 200, "ok");
  assert_int_equal(count_of(rig, "PUT"), 2);
}

/* The chunk of "pay" (3, CRLF, pay, CRLF), which may be written late. */
#define HALF_A_BODY ERRAND_FAULT_STEP_READ_BYTES(8)

/* A stream, the first chunk of which is gone when it would have to be sent
   again. To "/half" it has no more for now. */
static const test_result *stream(test_rig *rig, const char *method,
                                 const char *path, uint32_t flags) {
  errand_request request = rig_request(method, rig_url(rig, path));
  request.flags = flags;
  request.body_kind = ERRAND_BODY_STREAM;
  request.body_length = ERRAND_LENGTH_UNKNOWN;
  uint64_t id = rig_submit(rig, &request);
  errand_upload_write(rig->group, id, bytes_of("pay"));
  if (strcmp(path, "/whole") == 0)
    errand_upload_finish(rig->group, id);
  return collector_wait(&rig->collector, id);
}

static void streams_are_the_callers_to_send_again(void **state) {
  test_rig *rig = *state;
  static const struct {
    const char *method;
    uint32_t flags;
    errand_status status;
  } cases[] = {
      {"PUT", 0, ERRAND_UPLOAD_NOT_REPLAYABLE},
      {"POST", ERRAND_REQUEST_ALLOW_REPLAY, ERRAND_UPLOAD_NOT_REPLAYABLE},
      {"POST", 0, ERRAND_CONNECTION_LOST}};
  RIG_ON(rig, "/keep", ERRAND_FAULT_STEP_SEND(OK));
  RIG_ON(rig, "/whole", ERRAND_FAULT_STEP(READ_BODY),
         ERRAND_FAULT_STEP(FINISH));
  /* Where the source has nothing ready, the server's end is seen by the engine
     alone. */
  RIG_ON(rig, "/half", HALF_A_BODY, ERRAND_FAULT_STEP_SLEEP(50),
         ERRAND_FAULT_STEP(FINISH));
  for (size_t i = 0; i < 2 * COUNT_OF(cases); i++) {
    const char *method = cases[i / 2].method;
    rig_expect_response(rig_get(rig, rig_url(rig, "/keep")), 200, "ok");
    const test_result *result =
        stream(rig, method, i % 2 ? "/whole" : "/half", cases[i / 2].flags);
    rig_expect_status(result, cases[i / 2].status);
    assert_int_equal(count_of(rig, "PUT") + count_of(rig, "POST"), i + 1);
  }
}

/* On a connection of its own it is the server that does not answer. */
static void a_new_connection_is_no_reason_to_send_again(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/half", HALF_A_BODY, ERRAND_FAULT_STEP_SLEEP(50),
         ERRAND_FAULT_STEP(FINISH));
  rig_expect_status(stream(rig, "PUT", "/half", 0), ERRAND_CONNECTION_LOST);
}

/* Once a byte of the response has come, a POST least of all is sent again:
   libcurl does not count a line that is not whole. */
static void no_replay_after_the_first_byte(void **state) {
  test_rig *rig = *state;
  const errand_fault_step steps[] = {
      ERRAND_FAULT_STEP(READ_HEAD), ERRAND_FAULT_STEP(READ_BODY),
      ERRAND_FAULT_STEP_SEND(OK),   ERRAND_FAULT_STEP(READ_HEAD),
      ERRAND_FAULT_STEP(READ_BODY), ERRAND_FAULT_STEP_SEND("HTTP/1."),
      ERRAND_FAULT_STEP(FINISH)};
  errand_fault_server_on_connection(rig->server, 1, steps, COUNT_OF(steps));
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(READ_BODY), ERRAND_FAULT_STEP_SEND(OK));
  rig_expect_response(send(rig, "GET", 0), 200, "ok");
  assert_int_not_equal(send(rig, "POST", 0)->end.status, ERRAND_OK);
  assert_int_equal(count_of(rig, "POST"), 1);
}

/* A server that closes idle connections at once, a hundred times over: the
   close may be seen before the next request, or race with it. */
static void closed_between_requests(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(READ_BODY), ERRAND_FAULT_STEP_SEND(OK),
         ERRAND_FAULT_STEP(FINISH));
  for (int i = 0; i < 100; i++) {
    rig_expect_response(send(rig, "GET", 0), 200, "ok");
    if (i % 3 == 0)
      nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
  }
  int lost = 0, answered = 0;
  for (int i = 0; i < 100; i++) {
    const test_result *result = send(rig, "POST", 0);
    if (result->end.status == ERRAND_OK) {
      answered++;
    } else {
      lost++;
      if (result->end.status != ERRAND_SEND_FAILED)
        rig_expect_status(result, ERRAND_CONNECTION_LOST);
    }
  }
  assert_true(answered > 0);
  assert_true(count_of(rig, "POST") <= answered + lost);
  assert_true(count_of(rig, "POST") >= answered);
}

static void an_idle_connection_that_was_reset(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK), ERRAND_FAULT_STEP_SLEEP(5),
         ERRAND_FAULT_STEP(RESET));
  for (int i = 0; i < 10; i++) {
    rig_expect_response(send(rig, "GET", 0), 200, "ok");
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
  }
}

/* The kept connection by a proxy dies, and the proxy does not answer the next:
   connecting has its time again. */
static void connecting_again_has_its_time(void **state) {
  test_rig *rig = *state;
  errand_fault_server *behind = NULL;
  assert_int_equal(errand_fault_server_create(NULL, &behind), 0);
  const errand_fault_step ok[] = {ERRAND_FAULT_STEP_SEND(OK)};
  const errand_fault_step close[] = {ERRAND_FAULT_STEP(CLOSE)};
  errand_fault_server_on_path(behind, "/", ok, 1);
  errand_fault_server_on_path(behind, "/close", close, 1);
  const errand_fault_step socks[] = {ERRAND_FAULT_STEP(SOCKS5)};
  const errand_fault_step stall[] = {ERRAND_FAULT_STEP(STALL)};
  errand_fault_server_on_connection(rig->server, 1, socks, 1);
  errand_fault_server_on_connection(rig->server, 0, stall, 1);
  errand_options_init init = {
      .proxy_policy = ERRAND_PROXY_URL,
      .proxy_url =
          text("socks5://127.0.0.1:%u", errand_fault_server_port(rig->server))};
  errand_options *options = NULL;
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  unsigned port = errand_fault_server_port(behind);
  errand_request request =
      rig_request("GET", text("http://127.0.0.1:%u/", port));
  request.options = options;
  rig_expect_response(rig_run(rig, &request), 200, "ok");
  request.url = bytes_of(text("http://127.0.0.1:%u/close", port));
  request.timeout_connect = 300;
  request.timeout_total = 60000;
  rig_expect_status(rig_run(rig, &request), ERRAND_TIMEOUT_CONNECT);
  errand_options_release(options);
  errand_fault_server_destroy(behind);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST_ONE_LOOP(a_get_is_sent_again),
      RIG_TEST_ONE_LOOP(a_record_tells_of_it_once),
      RIG_TEST_ONE_LOOP(to_the_origin_and_target_of_the_request),
      RIG_TEST_ONE_LOOP(as_often_as_it_happens),
      RIG_TEST_ONE_LOOP(once_more_and_no_more),
      RIG_TEST_ONE_LOOP(posts_are_never_sent_twice),
      RIG_TEST_ONE_LOOP(nor_after_a_reset),
      RIG_TEST_ONE_LOOP(unless_the_caller_allows_it),
      RIG_TEST_ONE_LOOP(idempotent_methods_with_a_body_are_sent_again),
      RIG_TEST_ONE_LOOP(streams_are_the_callers_to_send_again),
      RIG_TEST_ONE_LOOP(a_new_connection_is_no_reason_to_send_again),
      RIG_TEST_ONE_LOOP(no_replay_after_the_first_byte),
      RIG_TEST_ONE_LOOP(closed_between_requests),
      RIG_TEST_ONE_LOOP(an_idle_connection_that_was_reset),
      RIG_TEST_ONE_LOOP(connecting_again_has_its_time),
  };
  return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
