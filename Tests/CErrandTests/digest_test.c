/* Digest authentication: one request to the caller, two on the wire. */
#include "support/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define CHALLENGE                                                              \
  "HTTP/1.1 401 Who\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", "    \
  "qop=\"auth\"\r\n"

static errand_request digest(const char *method, const char *url,
                             const char *user, const char *password) {
  errand_request request = rig_request(method, url);
  request.authentication = ERRAND_AUTHENTICATION_DIGEST;
  request.username = bytes_of(user);
  request.password = bytes_of(password);
  return request;
}

static errand_fault_request seen(test_rig *rig, size_t index) {
  errand_fault_request request;
  assert_true(errand_fault_server_request(rig->server, index, &request));
  return request;
}

static bool has_credentials(test_rig *rig, size_t index) {
  return strstr(seen(rig, index).head, "\r\nAuthorization: Digest ") != NULL;
}

static void both_algorithms(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/md5", ERRAND_FAULT_STEP_DIGEST("ada:p:w \"x\\", 0),
         ERRAND_FAULT_STEP_SEND(OK));
  RIG_ON(rig, "/sha", ERRAND_FAULT_STEP_DIGEST("ada:p:w \"x\\", 1),
         ERRAND_FAULT_STEP_SEND(OK));
  errand_request md5 =
      digest("GET", rig_url(rig, "/md5?a=b"), "ada", "p:w \"x\\");
  rig_expect_response(rig_run(rig, &md5), 200, "ok");
  errand_request sha = digest("GET", rig_url(rig, "/sha"), "ada", "p:w \"x\\");
  rig_expect_response(rig_run(rig, &sha), 200, "ok");
  assert_int_equal(rig_counts(rig).requests, 4);
  assert_false(has_credentials(rig, 0));
  assert_true(has_credentials(rig, 1));
  assert_false(has_credentials(rig, 2));
}

static void a_quote_in_the_name_is_escaped(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_DIGEST("a\"d\\a:", 1),
         ERRAND_FAULT_STEP_SEND(OK));
  errand_request request = digest("GET", rig_url(rig, "/"), "a\"d\\a", "");
  rig_expect_response(rig_run(rig, &request), 200, "ok");
  assert_non_null(strstr(seen(rig, 1).head, "username=\"a\\\"d\\\\a\""));
}

static void a_wrong_password_is_a_401(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_DIGEST("ada:right", 0),
         ERRAND_FAULT_STEP_SEND(OK));
  errand_request request = digest("GET", rig_url(rig, "/"), "ada", "wrong");
  rig_expect_response(rig_run(rig, &request), 401, "denied\n");
  request.flags = ERRAND_REQUEST_STREAM_RESPONSE |
                  ERRAND_REQUEST_REPORT_EVENTS | ERRAND_REQUEST_REPORT_PROGRESS;
  const test_result *result = rig_run(rig, &request);
  rig_expect_response(result, 401, "");
  assert_string_equal(result->kinds, "Sshcpe");
  assert_int_equal(result->chunk_bytes, 7);
  assert_int_equal(result->head.http_status, 401);
  assert_int_equal(result->progress.bytes_received, 7);
}

/* A 401 is held back until its body or its end, as libcurl may answer it:
   trailers of an empty body come before that. */
static void trailers_of_a_401_are_not_its_head(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND(CHALLENGE "Content-Length: 0\r\n\r\n"),
         ERRAND_FAULT_STEP(READ_HEAD),
         ERRAND_FAULT_STEP_SEND(CHALLENGE
                                "X-In: head\r\nTransfer-Encoding: chunked\r\n"
                                "\r\n0\r\nX-In: trailers\r\n\r\n"));
  for (int i = 0; i < 3; i++) {
    errand_request request = digest("GET", rig_url(rig, "/"), "ada", "wrong");
    if (i > 0)
      request.flags = ERRAND_REQUEST_REPORT_EVENTS;
    if (i > 1)
      request.flags |= ERRAND_REQUEST_STREAM_RESPONSE;
    const test_result *result = rig_run(rig, &request);
    rig_expect_response(result, 401, "");
    errand_bytes trailers = errand_payload_trailers(result->end.payload);
    assert_string_equal(bytes_text(trailers), "X-In: trailers\r\n");
    errand_bytes head =
        errand_payload_head(i > 0 ? result->head.payload : result->end.payload);
    assert_true(bytes_contain(head, "HTTP/1.1 401"));
    assert_true(bytes_contain(head, "X-In: head"));
    assert_false(bytes_contain(head, "X-In: trailers"));
  }
}

static void the_records_tell_of_the_last_response(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_DIGEST("ada:pw", 1),
         ERRAND_FAULT_STEP_SEND(OK));
  errand_request request = digest("GET", rig_url(rig, "/"), "ada", "pw");
  request.flags = ERRAND_REQUEST_REPORT_EVENTS | ERRAND_REQUEST_REPORT_PROGRESS;
  for (int i = 0; i < 2; i++) {
    const test_result *result = rig_run(rig, &request);
    rig_expect_status(result, ERRAND_OK);
    assert_string_equal(result->kinds, i ? "Sshcpe" : "Sshpe");
    assert_int_equal(result->head.http_status, 200);
    assert_int_equal(result->end.bytes_received, 2);
    assert_int_equal(result->progress.totals.to_receive, 2);
    assert_false(bytes_contain(errand_payload_head(result->head.payload),
                               "WWW-Authenticate"));
    assert_false(result->end.flags & ERRAND_RECORD_REPLAYED);
    request.flags |= ERRAND_REQUEST_STREAM_RESPONSE;
  }
}

static void bodies_go_with_the_answer(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_DIGEST("ada:pw", 0),
         ERRAND_FAULT_STEP(READ_BODY), ERRAND_FAULT_STEP_SEND(OK));
  size_t length = 300000;
  uint8_t *body = calloc(1, length);
  uint64_t hash = errand_fault_hash(0, body, length);
  char path[] = "/tmp/errand-digest-XXXXXX";
  int fd = mkstemp(path);
  assert_int_equal(write(fd, body, length), length);
  for (size_t i = 0; i < 3; i++) {
    errand_request request =
        digest(i == 1 ? "PUT" : "POST", rig_url(rig, "/"), "ada", "pw");
    request.body_kind = (errand_body_kind[]){
        ERRAND_BODY_MEMORY, ERRAND_BODY_FILE, ERRAND_BODY_STREAM}[i];
    request.body_length = i == 0 ? 0 : (int64_t) length;
    request.upload_credit = length;
    if (i == 0)
      request.body = (errand_bytes){body, length};
    if (i == 1)
      request.body_path = path;
    uint64_t id = rig_submit(rig, &request);
    if (i == 2) {
      errand_upload_write(rig->group, id, (errand_bytes){body, length});
      errand_upload_finish(rig->group, id);
    }
    const test_result *result = collector_wait(&rig->collector, id);
    rig_expect_response(result, 200, "ok");
    assert_int_equal(result->end.bytes_sent, length);
    assert_int_equal(seen(rig, 2 * i).body_length, 0);
    assert_int_equal(seen(rig, 2 * i + 1).body_length, length);
    assert_int_equal(seen(rig, 2 * i + 1).body_hash, hash);
  }
  close(fd);
  unlink(path);
  free(body);
}

/* The nonce is too old by the time the body has come: memory and files go
   again, a stream is the caller's to send again, whatever the method. */
static void a_stale_nonce(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND(CHALLENGE "Content-Length: 0\r\n\r\n"),
         ERRAND_FAULT_STEP(READ_HEAD), ERRAND_FAULT_STEP(READ_BODY),
         ERRAND_FAULT_STEP_SEND(
             "HTTP/1.1 401 Who\r\nWWW-Authenticate: Digest realm=\"r\", "
             "nonce=\"m\", qop=\"auth\", stale=true\r\n"
             "Content-Length: 0\r\n\r\n"),
         ERRAND_FAULT_STEP(READ_HEAD), ERRAND_FAULT_STEP(READ_BODY),
         ERRAND_FAULT_STEP_SEND(OK));
  errand_request request = digest("POST", rig_url(rig, "/"), "ada", "pw");
  request.body_kind = ERRAND_BODY_MEMORY;
  request.body = bytes_of("body");
  request.flags = ERRAND_REQUEST_COUNT_HEADS;
  const test_result *result = rig_run(rig, &request);
  rig_expect_response(result, 200, "ok");
  /* The body was sent twice, and libcurl counts only one of them. */
  assert_int_equal(result->end.head_bytes_sent, 0);
  request.body = (errand_bytes){0};
  request.body_kind = ERRAND_BODY_STREAM;
  request.body_length = 4;
  uint64_t id = rig_submit(rig, &request);
  errand_upload_write(rig->group, id, bytes_of("body"));
  errand_upload_finish(rig->group, id);
  rig_expect_status(collector_wait(&rig->collector, id),
                    ERRAND_UPLOAD_NOT_REPLAYABLE);
}

static void credentials_do_not_stay(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/d", ERRAND_FAULT_STEP_DIGEST("ada:pw", 0),
         ERRAND_FAULT_STEP_SEND(OK));
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  errand_request request = digest("GET", rig_url(rig, "/d"), "ada", "pw");
  rig_expect_response(rig_run(rig, &request), 200, "ok");
  for (size_t i = 2; i < 5; i++) {
    rig_expect_response(rig_get(rig, rig_url(rig, "/")), 200, "ok");
    assert_null(strstr(seen(rig, i).head, "Authorization"));
  }
  /* The same connection, so it is not for want of a chance. */
  assert_int_equal(rig_counts(rig).connections, 1);
  request = digest("GET", rig_url(rig, "/d"), "bob", "pw");
  rig_expect_response(rig_run(rig, &request), 401, "denied\n");
}

static void what_is_no_digest_challenge_is_the_response(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/open", ERRAND_FAULT_STEP_SEND(OK));
  RIG_ON(rig, "/basic",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 401 Who\r\nContent-Length: 2\r\n"
                                "WWW-Authenticate: Basic realm=x\r\n\r\nno"));
  RIG_ON(
      rig, "/empty",
      ERRAND_FAULT_STEP_SEND("HTTP/1.1 401 Who\r\nContent-Length: 0\r\n\r\n"));
  errand_request request = digest("GET", rig_url(rig, "/open"), "a", "b");
  rig_expect_response(rig_run(rig, &request), 200, "ok");
  request = digest("GET", rig_url(rig, "/basic"), "a", "b");
  rig_expect_response(rig_run(rig, &request), 401, "no");
  request = digest("GET", rig_url(rig, "/empty"), "a", "b");
  request.flags = ERRAND_REQUEST_STREAM_RESPONSE;
  const test_result *result = rig_run(rig, &request);
  rig_expect_response(result, 401, "");
  assert_string_equal(result->kinds, "he");
  assert_int_equal(rig_counts(rig).requests, 3);
}

static void time_outs_hold_in_the_second_round(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND(CHALLENGE "Content-Length: 0\r\n\r\n"),
         ERRAND_FAULT_STEP(READ_HEAD), ERRAND_FAULT_STEP(STALL));
  errand_request request = digest("GET", rig_url(rig, "/"), "a", "b");
  request.timeout_first_byte = 200;
  request.flags = ERRAND_REQUEST_REPORT_EVENTS;
  const test_result *result = rig_run(rig, &request);
  rig_expect_status(result, ERRAND_TIMEOUT_FIRST_BYTE);
  assert_int_equal(result->end.http_status, 0);
  assert_int_equal(result->heads, 0);
  request.timeout_first_byte = 0;
  request.timeout_total = 300;
  rig_expect_status(rig_run(rig, &request), ERRAND_TIMEOUT_TOTAL);
}

/* The first round goes without the body, so nothing more is to be sent. */
static void the_first_round_has_its_first_byte_time(void **state) {
  test_rig *rig = *state;
  static uint8_t body[300000];
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(STALL));
  for (int i = 0; i < 2; i++) {
    errand_request request = digest("POST", rig_url(rig, "/"), "a", "b");
    request.body_kind = i ? ERRAND_BODY_STREAM : ERRAND_BODY_MEMORY;
    if (i == 0)
      request.body = (errand_bytes){body, sizeof body};
    else
      request.body_length = sizeof body;
    request.timeout_first_byte = 200;
    request.timeout_total = 100000;
    rig_expect_status(rig_run(rig, &request), ERRAND_TIMEOUT_FIRST_BYTE);
  }
}

/* libcurl keeps the body of an answered challenge to itself, not its
   trailers. */
static void a_challenge_with_trailers(void **state) {
  test_rig *rig = *state;
  /* In turn, on one connection or another (ERRAND__CURL_LEAKS_TRAILERS). */
  for (int i = 0; i < 2; i++) {
    RIG_ON(rig, "/",
           ERRAND_FAULT_STEP_SEND(CHALLENGE
                                  "Transfer-Encoding: chunked\r\n\r\n4\r\nxxxx"
                                  "\r\n0\r\nX-Sum: 1\r\n\r\n"));
    RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  }
  errand_request request = digest("GET", rig_url(rig, "/"), "a", "b");
  const test_result *result = rig_run(rig, &request);
  rig_expect_response(result, 200, "ok");
  assert_int_equal(errand_payload_trailers(result->end.payload).length, 0);
  assert_false(bytes_contain(errand_payload_head(result->end.payload),
                             "WWW-Authenticate"));
  request.flags = ERRAND_REQUEST_STREAM_RESPONSE | ERRAND_REQUEST_REPORT_EVENTS;
  result = rig_run(rig, &request);
  rig_expect_response(result, 200, "");
  assert_string_equal(result->kinds, "Sshce");
  assert_int_equal(result->head.http_status, 200);
  assert_int_equal(result->chunk_bytes, 2);
}

static void an_endless_challenge_ends(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND(CHALLENGE "Transfer-Encoding: chunked\r\n\r\n"),
         ERRAND_FAULT_STEP_REPEAT(-1, "4\r\nxxxx\r\n"));
  errand_request request = digest("GET", rig_url(rig, "/"), "a", "b");
  request.limit_body_bytes = 100000;
  rig_expect_status(rig_run(rig, &request), ERRAND_LIMIT_BODY_BYTES);
}

static void challenges_without_end_end(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND(
             "HTTP/1.1 401 Who\r\nWWW-Authenticate: Digest realm=\"r\", "
             "nonce=\"n\", stale=true\r\nContent-Length: 0\r\n\r\n"));
  errand_request request = digest("GET", rig_url(rig, "/"), "a", "b");
  rig_expect_status(rig_run(rig, &request), ERRAND_LIMIT_HEADER_COUNT);
}

/* Each round is a request of its own on the wire: that a kept connection was
   dead in the first says nothing of the second (RFC 9110 9.2.2). */
static void each_round_may_be_sent_again(void **state) {
  test_rig *rig = *state;
  const errand_fault_step kept[] = {
      ERRAND_FAULT_STEP(READ_HEAD), ERRAND_FAULT_STEP_SEND(OK),
      ERRAND_FAULT_STEP(READ_HEAD), ERRAND_FAULT_STEP(FINISH)};
  const errand_fault_step asks[] = {
      ERRAND_FAULT_STEP(READ_HEAD),
      ERRAND_FAULT_STEP_SEND(CHALLENGE "Content-Length: 0\r\n\r\n"),
      ERRAND_FAULT_STEP(READ_HEAD), ERRAND_FAULT_STEP(FINISH)};
  const errand_fault_step answers[] = {ERRAND_FAULT_STEP(READ_HEAD),
                                       ERRAND_FAULT_STEP_SEND(OK)};
  errand_fault_server *server = rig->server;
  assert_int_equal(
      errand_fault_server_on_connection(server, 1, kept, COUNT_OF(kept)), 0);
  assert_int_equal(
      errand_fault_server_on_connection(server, 2, asks, COUNT_OF(asks)), 0);
  assert_int_equal(
      errand_fault_server_on_connection(server, 3, answers, COUNT_OF(answers)),
      0);
  rig_expect_response(rig_get(rig, rig_url(rig, "/")), 200, "ok");
  errand_request request = digest("GET", rig_url(rig, "/"), "ada", "p");
  const test_result *result = rig_run(rig, &request);
  rig_expect_response(result, 200, "ok");
  assert_true(result->end.flags & ERRAND_RECORD_REPLAYED);
  assert_int_equal(result->end.resends, 2);
  assert_int_equal(result->end.rounds, 1);
  assert_int_equal(rig_counts(rig).requests, 5);
  assert_false(has_credentials(rig, 2));
  assert_true(has_credentials(rig, 3));
  assert_true(has_credentials(rig, 4));
}

/* The second round moves to another kept connection, and both have records. */
static void each_connection_of_its_rounds(void **state) {
  enum { KEPT = 2 };
  test_rig *rig = *state;
  errand_request held[KEPT];
  RIG_ON(rig, "/hold", ERRAND_FAULT_STEP(STALL), ERRAND_FAULT_STEP_SEND(OK));
  RIG_ON(rig, "/d",
         ERRAND_FAULT_STEP_SEND(CHALLENGE "Connection: close\r\n"
                                          "Content-Length: 0\r\n\r\n"));
  RIG_ON(rig, "/d", ERRAND_FAULT_STEP_SEND(OK));
  for (int i = 0; i < KEPT; i++) {
    held[i] = rig_request("GET", rig_url(rig, "/hold"));
    rig_submit(rig, &held[i]);
  }
  rig_await(rig, (errand_fault_counts){.requests = KEPT});
  errand_fault_server_release(rig->server);
  for (int i = 0; i < KEPT; i++)
    rig_expect_response(collector_wait(&rig->collector, held[i].id), 200, "ok");
  errand_request request = digest("GET", rig_url(rig, "/d"), "ada", "p");
  request.flags = ERRAND_REQUEST_REPORT_CONNECTION;
  const test_result *result = rig_run(rig, &request);
  rig_expect_response(result, 200, "ok");
  assert_int_equal(result->end.rounds, 1);
  assert_int_equal(result->end.resends, 0);
  assert_int_equal(rig_counts(rig).connections, KEPT);
  assert_int_equal(result->connections, 2);
  assert_int_equal(result->connected.flags, ERRAND_RECORD_REUSED);
}

static void wrong_input(void **state) {
  test_rig *rig = *state;
  static const char *const users[] = {"", "a:b", "a\r\nX: y", "a\n", "\x7f"};
  for (size_t i = 0; i < COUNT_OF(users); i++) {
    errand_request request = digest("GET", rig_url(rig, "/"), users[i], "p");
    assert_int_equal(errand_request_validate(&request), ERRAND_INVALID_OPTION);
  }
  errand_request request = digest("GET", rig_url(rig, "/"), "a", "p");
  assert_int_equal(errand_request_validate(&request), ERRAND_OK);
  request.password = (errand_bytes){(const uint8_t *) "a\0b", 3};
  assert_int_equal(errand_request_validate(&request), ERRAND_INVALID_OPTION);
  request.password = (errand_bytes){0};
  request.headers = bytes_of("authorization: Basic x\r\n");
  assert_int_equal(errand_request_validate(&request), ERRAND_INVALID_HEADER);
  request.headers = (errand_bytes){0};
  request.authentication = (errand_authentication) 2;
  assert_int_equal(errand_request_validate(&request), ERRAND_INVALID_OPTION);
  request.authentication = ERRAND_AUTHENTICATION_NONE;
  assert_int_equal(errand_request_validate(&request), ERRAND_INVALID_OPTION);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST(both_algorithms),
      RIG_TEST(a_quote_in_the_name_is_escaped),
      RIG_TEST(a_wrong_password_is_a_401),
      RIG_TEST(trailers_of_a_401_are_not_its_head),
      RIG_TEST(the_records_tell_of_the_last_response),
      RIG_TEST(bodies_go_with_the_answer),
      RIG_TEST_ONE_LOOP(a_stale_nonce),
      RIG_TEST_ONE_LOOP(credentials_do_not_stay),
      RIG_TEST(what_is_no_digest_challenge_is_the_response),
      RIG_TEST(time_outs_hold_in_the_second_round),
      RIG_TEST(the_first_round_has_its_first_byte_time),
      RIG_TEST(a_challenge_with_trailers),
      RIG_TEST(an_endless_challenge_ends),
      RIG_TEST(challenges_without_end_end),
      RIG_TEST(each_round_may_be_sent_again),
      RIG_TEST_ONE_LOOP(each_connection_of_its_rounds),
      RIG_TEST(wrong_input),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
