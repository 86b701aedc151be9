/* Responses that no server should send, on connections and handles that had a
   good one before. */
#include "support/rig.h"

#include <stdio.h>
#include <string.h>

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

/* RFC 9112 2.2. libcurl 7.88.0 to 8.0.1 appends such a line to a field of the
   response before, which it has freed (unfold_value); a run under
   AddressSanitizer of libcurl too says so. */
static void a_first_field_that_begins_with_a_blank(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/ok", ERRAND_FAULT_STEP_SEND(OK));
  RIG_ON(rig, "/space",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n folded: x\r\n"
                                "Content-Length: 2\r\n\r\nno"));
  RIG_ON(rig, "/tab",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n\tfolded: x\r\n"
                                "Content-Length: 2\r\n\r\nno"));
  RIG_ON(rig, "/interim",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 103 Early\r\n folded: x\r\n\r\n" OK));
  static const char *const paths[] = {"/space", "/tab", "/interim"};
  for (int i = 0; i < 12; i++) {
    rig_expect_response(rig_get(rig, rig_url(rig, "/ok")), 200, "ok");
    errand_request request = rig_request("GET", rig_url(rig, paths[i % 3]));
    request.flags = i % 2 ? ERRAND_REQUEST_STREAM_RESPONSE : 0;
    const test_result *result = rig_run(rig, &request);
    rig_expect_status(result, ERRAND_MALFORMED_RESPONSE);
    assert_int_equal(result->chunk_bytes, 0);
  }
}

/* What is folded elsewhere stays one field: RFC 9112 5.2 lets a client read it
   as a blank. */
static void a_folded_line_behind_a_field(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\nX-Long: a\r\n b\r\n"
                                "Content-Length: 2\r\n\r\nok"));
  for (int i = 0; i < 3; i++) {
    const test_result *result = rig_get(rig, rig_url(rig, "/"));
    rig_expect_response(result, 200, "ok");
    assert_true(
        bytes_contain(errand_payload_head(result->end.payload), "X-Long: a"));
  }
}

/* The head that libcurl tells of goes nowhere but into the head. */
static void heads_are_not_bodies(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 103 Early\r\nA: b\r\n\r\n"
                                "HTTP/1.1 200 OK\r\nTrailer: T\r\n"
                                "Transfer-Encoding: chunked\r\n\r\n"
                                "2\r\nok\r\n0\r\nT: x\r\n\r\n"));
  for (int i = 0; i < 4; i++) {
    errand_request request = rig_request("GET", rig_url(rig, "/"));
    request.flags = i % 2 ? ERRAND_REQUEST_STREAM_RESPONSE : 0;
    const test_result *result = rig_run(rig, &request);
    rig_expect_response(result, 200, i % 2 ? "" : "ok");
    assert_int_equal(result->end.bytes_received, 2);
    assert_true(
        bytes_contain(errand_payload_trailers(result->end.payload), "T: x"));
    assert_int_equal(result->chunk_bytes, i % 2 ? 2 : 0);
  }
}

/* A trailer of an empty body may look like a status line. It is a trailer: the
   head is told once. */
static void a_trailer_that_looks_like_a_head(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"
                                "Transfer-Encoding: chunked\r\n\r\n"
                                "0\r\nHTTP/1.1 201 No: x\r\n\r\n"));
  for (int i = 0; i < 4; i++) {
    errand_request request = rig_request("GET", rig_url(rig, "/"));
    request.flags =
        i % 2 ? ERRAND_REQUEST_STREAM_RESPONSE : ERRAND_REQUEST_REPORT_EVENTS;
    const test_result *result = rig_run(rig, &request);
    rig_expect_response(result, 200, "");
    assert_int_equal(result->heads, 1);
    assert_true(bytes_contain(errand_payload_trailers(result->end.payload),
                              "HTTP/1.1 201"));
  }
}

/* libcurl reads 200 where RFC 9112 4 has no status: a head that is none must
   not leave a body without one. */
static void a_status_that_is_none(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1  200 OK\r\nContent-Length: 9\r\n\r\n"
                                "half"),
         ERRAND_FAULT_STEP(FINISH));
  for (int i = 0; i < 4; i++) {
    errand_request request = rig_request("GET", rig_url(rig, "/"));
    request.flags = i % 2 ? ERRAND_REQUEST_STREAM_RESPONSE : 0;
    const test_result *result = rig_run(rig, &request);
    rig_expect_status(result, ERRAND_MALFORMED_RESPONSE);
    assert_int_equal(result->end.http_status, 0);
    if (result->end.payload)
      assert_int_equal(errand_payload_body(result->end.payload).length, 0);
  }
}

#define EVIL "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"

/* Bytes behind a complete response, which come while the connection is idle. */
static void what_comes_while_idle_answers_nothing(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/first", ERRAND_FAULT_STEP_SEND(OK), ERRAND_FAULT_STEP_SLEEP(20),
         ERRAND_FAULT_STEP_SEND(EVIL));
  RIG_ON(rig, "/next", ERRAND_FAULT_STEP_SEND(OK));
  for (int i = 0; i < 5; i++) {
    uint64_t sent = rig_counts(rig).bytes_sent + sizeof OK EVIL - 1;
    rig_expect_response(rig_get(rig, rig_url(rig, "/first")), 200, "ok");
    rig_await(rig, (errand_fault_counts){.bytes_sent = sent});
    rig_expect_response(rig_get(rig, rig_url(rig, "/next")), 200, "ok");
  }
}

/* As many as libcurl reads at once (16 KiB) and more: what is behind the first
   response is unread when the second request, which waits, may start. */
static void what_is_unread_answers_nothing(void **state) {
  enum {
    READ = 16384,
    HEAD = sizeof "HTTP/1.1 200 OK\r\n"
                  "Content-Length: 16337\r\n\r\n" -
           1
  };
  test_rig *rig = *state;
  static char bytes[READ + sizeof EVIL];
  snprintf(bytes, sizeof bytes, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n",
           READ - HEAD);
  memset(bytes + HEAD, 'x', READ - HEAD);
  memcpy(bytes + READ, EVIL, sizeof EVIL);
  const errand_fault_step steps[] = {{.kind = ERRAND_FAULT_SEND,
                                      .data = bytes,
                                      .length = READ + sizeof EVIL - 1}};
  errand_fault_server_on_path(rig->server, "/first", steps, 1);
  RIG_ON(rig, "/next", ERRAND_FAULT_STEP_SEND(OK));
  for (int i = 0; i < 5; i++) {
    errand_request both[] = {rig_request("GET", rig_url(rig, "/first")),
                             rig_request("GET", rig_url(rig, "/next"))};
    rig->accepted += errand_submit(rig->group, both, 2);
    const test_result *first = collector_wait(&rig->collector, both[0].id);
    rig_expect_response(first, 200, NULL);
    assert_int_equal(errand_payload_body(first->end.payload).length,
                     READ - HEAD);
    rig_expect_response(collector_wait(&rig->collector, both[1].id), 200, "ok");
  }
}

/* An upload that Digest sends without its body first, and that is answered at
   once: libcurl sends it with the body then. One head is told, the last. */
static void an_upload_that_is_not_challenged(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(READ_BODY), ERRAND_FAULT_STEP_SEND(OK));
  for (int i = 0; i < 4; i++) {
    errand_request request = rig_request("PUT", rig_url(rig, "/"));
    request.authentication = ERRAND_AUTHENTICATION_DIGEST;
    request.username = bytes_of("ada");
    request.password = bytes_of("pw");
    request.body_kind = ERRAND_BODY_MEMORY;
    request.body = bytes_of("payload");
    request.flags =
        i % 2 ? ERRAND_REQUEST_STREAM_RESPONSE : ERRAND_REQUEST_REPORT_EVENTS;
    const test_result *result = rig_run(rig, &request);
    rig_expect_response(result, 200, i % 2 ? "" : "ok");
    assert_int_equal(result->heads, 1);
    assert_int_equal(result->chunk_bytes, i % 2 ? 2 : 0);
  }
}

static int one_at_a_time(void **state) {
  return rig_set_up_with(
      state, (errand_group_init){.loops = 1, .origin_in_flight_limit = 1});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST_ONE_LOOP(a_first_field_that_begins_with_a_blank),
      RIG_TEST_ONE_LOOP(a_folded_line_behind_a_field),
      RIG_TEST_ONE_LOOP(heads_are_not_bodies),
      RIG_TEST_ONE_LOOP(a_status_that_is_none),
      RIG_TEST_ONE_LOOP(what_comes_while_idle_answers_nothing),
      RIG_TEST_ONE_LOOP(a_trailer_that_looks_like_a_head),
      cmocka_unit_test_setup_teardown(what_is_unread_answers_nothing,
                                      one_at_a_time, rig_tear_down),
      RIG_TEST_ONE_LOOP(an_upload_that_is_not_challenged),
  };
  return cmocka_run_group_tests_name("hostile_heads", tests, NULL, NULL);
}
