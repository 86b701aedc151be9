/* Servers that break off, lie or flood: each request ends once and with the
   status that says what happened. */
#include "support/rig.h"

#include <string.h>

#define HEAD "HTTP/1.1 200 OK\r\n"

static void connection_refused(void **state) {
  test_rig *rig = *state;
  errand_fault_port *port = NULL;
  assert_int_equal(errand_fault_port_create(ERRAND_FAULT_PORT_REFUSED, &port),
                   0);
  const char *url =
      text("http://127.0.0.1:%u/", errand_fault_port_number(port));
  const test_result *result = rig_get(rig, url);
  rig_expect_status(result, ERRAND_CONNECT_FAILED);
  assert_int_equal(result->end.os_error, 111 /* ECONNREFUSED */);
  assert_int_equal(result->end.http_status, 0);
  errand_fault_port_destroy(port);
}

static void reset_before_the_response(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/reset", ERRAND_FAULT_STEP(RESET));
  RIG_ON(rig, "/fin", ERRAND_FAULT_STEP(FINISH));
  rig_expect(rig, "/reset", ERRAND_CONNECTION_LOST);
  rig_expect(rig, "/fin", ERRAND_CONNECTION_LOST);
  assert_int_equal(rig_counts(rig).requests, 2);
}

static void reset_at_accept(void **state) {
  test_rig *rig = *state;
  const errand_fault_step steps[] = {ERRAND_FAULT_STEP(RESET)};
  errand_fault_server_on_connection(rig->server, 0, steps, 1);
  const test_result *result = rig_get(rig, rig_url(rig, "/"));
  /* The reset may be seen by the connect, by the send or by the read. */
  if (result->end.status != ERRAND_CONNECT_FAILED &&
      result->end.status != ERRAND_SEND_FAILED)
    rig_expect_status(result, ERRAND_CONNECTION_LOST);
}

static void reset_in_the_head(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(HEAD "Content-Le"),
         ERRAND_FAULT_STEP_SLEEP(30), ERRAND_FAULT_STEP(RESET));
  rig_expect(rig, "/", ERRAND_RECEIVE_FAILED);
}

/* libcurl takes what it has for a whole head: RFC 9112 8 does not. */
static void closed_in_the_head(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/field", ERRAND_FAULT_STEP_SEND(HEAD "Content-Le"),
         ERRAND_FAULT_STEP(FINISH));
  RIG_ON(rig, "/line", ERRAND_FAULT_STEP_SEND(HEAD "X-A: 1\r\n"),
         ERRAND_FAULT_STEP(FINISH));
  RIG_ON(rig, "/status", ERRAND_FAULT_STEP_SEND("HTTP/1.1 20"),
         ERRAND_FAULT_STEP(FINISH));
  static const char *const paths[] = {"/field", "/line"};
  for (size_t i = 0; i < COUNT_OF(paths); i++) {
    const test_result *result = rig_get(rig, rig_url(rig, paths[i]));
    /* Of a status line without its end libcurl shows nothing. */
    if (i == 2 && result->end.status == ERRAND_CONNECTION_LOST)
      continue;
    if (result->end.status != ERRAND_MALFORMED_RESPONSE)
      rig_expect_status(result, ERRAND_RECEIVE_FAILED);
  }
  /* No line is whole, so for libcurl nothing came. */
  rig_expect(rig, "/status", ERRAND_CONNECTION_LOST);
}

static void reset_in_the_body(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(HEAD "Content-Length: 10\r\n\r\nabc"),
         ERRAND_FAULT_STEP_SLEEP(30), ERRAND_FAULT_STEP(RESET));
  const test_result *result = rig_expect(rig, "/", ERRAND_RECEIVE_FAILED);
  assert_int_equal(result->end.http_status, 200);
  assert_int_equal(result->end.bytes_received, 3);
  assert_string_equal(bytes_text(errand_payload_body(result->end.payload)),
                      "abc");
}

static void half_a_body_by_content_length(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(HEAD "Content-Length: 10\r\n\r\nabc"),
         ERRAND_FAULT_STEP(FINISH));
  const test_result *result = rig_expect(rig, "/", ERRAND_PARTIAL_BODY);
  assert_int_equal(result->end.http_status, 200);
  assert_int_equal(result->end.bytes_received, 3);
}

static void half_a_body_by_chunk(void **state) {
  test_rig *rig = *state;
#define CHUNKED HEAD "Transfer-Encoding: chunked\r\n\r\n"
  RIG_ON(rig, "/in-chunk", ERRAND_FAULT_STEP_SEND(CHUNKED "a\r\nabc"),
         ERRAND_FAULT_STEP(FINISH));
  RIG_ON(rig, "/after-chunk", ERRAND_FAULT_STEP_SEND(CHUNKED "3\r\nabc\r\n"),
         ERRAND_FAULT_STEP(FINISH));
  RIG_ON(rig, "/in-end", ERRAND_FAULT_STEP_SEND(CHUNKED "3\r\nabc\r\n0\r\n"),
         ERRAND_FAULT_STEP(FINISH));
  RIG_ON(rig, "/bad-size", ERRAND_FAULT_STEP_SEND(CHUNKED "zz\r\nabc\r\n"),
         ERRAND_FAULT_STEP(FINISH));
  RIG_ON(rig, "/huge-size",
         ERRAND_FAULT_STEP_SEND(CHUNKED "fffffffffffffffffff\r\nabc\r\n"),
         ERRAND_FAULT_STEP(FINISH));
  rig_expect(rig, "/in-chunk", ERRAND_PARTIAL_BODY);
  rig_expect(rig, "/after-chunk", ERRAND_PARTIAL_BODY);
  rig_expect(rig, "/in-end", ERRAND_PARTIAL_BODY);
  rig_expect(rig, "/bad-size", ERRAND_MALFORMED_RESPONSE);
  rig_expect(rig, "/huge-size", ERRAND_MALFORMED_RESPONSE);
}

static void lying_lengths(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/negative",
         ERRAND_FAULT_STEP_SEND(HEAD "Content-Length: -1\r\n\r\nabc"),
         ERRAND_FAULT_STEP(FINISH));
  RIG_ON(rig, "/words",
         ERRAND_FAULT_STEP_SEND(HEAD "Content-Length: three\r\n\r\nabc"),
         ERRAND_FAULT_STEP(FINISH));
  rig_expect(rig, "/negative", ERRAND_MALFORMED_RESPONSE);
  rig_expect(rig, "/words", ERRAND_MALFORMED_RESPONSE);
}

/* More body than was said belongs to nobody and must not become the next
   response on that connection. */
static void more_than_the_length_is_nobodys(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/more",
         ERRAND_FAULT_STEP_SEND(HEAD "Content-Length: 3\r\n\r\nabc"
                                     "HTTP/1.1 299 Smuggled\r\n"
                                     "Content-Length: 0\r\n\r\n"));
  RIG_ON(rig, "/next",
         ERRAND_FAULT_STEP_SEND(HEAD "Content-Length: 4\r\n\r\nmine"));
  for (int i = 0; i < 5; i++) {
    rig_expect_response(rig_get(rig, rig_url(rig, "/more")), 200, "abc");
    rig_expect_response(rig_get(rig, rig_url(rig, "/next")), 200, "mine");
  }
}

static void two_lengths_that_differ(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND(HEAD "Content-Length: 3\r\n"
                                     "Content-Length: 5\r\n\r\nabcde"),
         ERRAND_FAULT_STEP(FINISH));
  /* RFC 9112 6.3: invalid, and not to be used as a body of either length. */
  rig_expect(rig, "/", ERRAND_MALFORMED_RESPONSE);
}

static void length_and_chunks_means_chunks(void **state) {
  test_rig *rig = *state;
  /* RFC 9112 6.3: Transfer-Encoding overrides Content-Length. */
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND(HEAD "Content-Length: 100\r\n"
                                     "Transfer-Encoding: chunked\r\n\r\n"
                                     "3\r\nabc\r\n0\r\n\r\n"));
  rig_expect_response(rig_get(rig, rig_url(rig, "/")), 200, "abc");
}

static void garbage_instead_of_a_status_line(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/text", ERRAND_FAULT_STEP_SEND("220 smtp.test ESMTP\r\n"),
         ERRAND_FAULT_STEP(FINISH));
  RIG_ON(rig, "/binary", ERRAND_FAULT_STEP_SEND("\x16\x03\x01\0\xff\xfe\r\n"),
         ERRAND_FAULT_STEP(FINISH));
  RIG_ON(rig, "/code", ERRAND_FAULT_STEP_SEND("HTTP/1.1 abc OK\r\n\r\n"),
         ERRAND_FAULT_STEP(FINISH));
  RIG_ON(rig, "/version", ERRAND_FAULT_STEP_SEND("HTTP/7.3 200 OK\r\n\r\n"),
         ERRAND_FAULT_STEP(FINISH));
  RIG_ON(rig, "/endless", ERRAND_FAULT_STEP_REPEAT(-1, "garbage "));
  rig_expect(rig, "/text", ERRAND_MALFORMED_RESPONSE);
  rig_expect(rig, "/binary", ERRAND_MALFORMED_RESPONSE);
  rig_expect(rig, "/code", ERRAND_MALFORMED_RESPONSE);
  rig_expect(rig, "/version", ERRAND_MALFORMED_RESPONSE);
  const test_result *result = rig_get(rig, rig_url(rig, "/endless"));
  assert_int_not_equal(result->end.status, ERRAND_OK);
  assert_true(result->end.timings.total < 30000000);
}

static void endless_fields(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/fields", ERRAND_FAULT_STEP_SEND(HEAD),
         ERRAND_FAULT_STEP_REPEAT(-1, "X-Field: value\r\n"));
  RIG_ON(rig, "/interim",
         ERRAND_FAULT_STEP_REPEAT(-1, "HTTP/1.1 103 Early Hints\r\n\r\n"));
  errand_request request = rig_request("GET", rig_url(rig, "/fields"));
  rig_expect_status(rig_run(rig, &request), ERRAND_LIMIT_HEADER_COUNT);
  request.limit_header_count = 1 << 20;
  rig_expect_status(rig_run(rig, &request), ERRAND_LIMIT_HEADER_BYTES);
  const test_result *interim = rig_get(rig, rig_url(rig, "/interim"));
  if (interim->end.status != ERRAND_LIMIT_HEADER_COUNT)
    rig_expect_status(interim, ERRAND_LIMIT_HEADER_BYTES);
}

static void endless_field(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/field", ERRAND_FAULT_STEP_SEND(HEAD "X-Field: "),
         ERRAND_FAULT_STEP_REPEAT(-1, "value"));
  RIG_ON(rig, "/status", ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 "),
         ERRAND_FAULT_STEP_REPEAT(-1, "OK "));
  rig_expect(rig, "/field", ERRAND_LIMIT_HEADER_BYTES);
  rig_expect(rig, "/status", ERRAND_LIMIT_HEADER_BYTES);
}

static void the_header_limits_are_exact(void **state) {
  test_rig *rig = *state;
  /* Three fields; with the status line 63 bytes. */
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND(HEAD "X-A: 1\r\nX-B: 2\r\n"
                                     "Content-Length: 0\r\n\r\n"));
  errand_request request = rig_request("GET", rig_url(rig, "/"));
  request.limit_header_count = 3;
  rig_expect_response(rig_run(rig, &request), 200, "");
  request.limit_header_count = 2;
  rig_expect_status(rig_run(rig, &request), ERRAND_LIMIT_HEADER_COUNT);
  request.limit_header_count = 0;
  int64_t size = sizeof HEAD "X-A: 1\r\nX-B: 2\r\nContent-Length: 0\r\n\r\n";
  request.limit_header_bytes = size;
  rig_expect_response(rig_run(rig, &request), 200, "");
  request.limit_header_bytes = size / 2;
  rig_expect_status(rig_run(rig, &request), ERRAND_LIMIT_HEADER_BYTES);
}

static void endless_body(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/close", ERRAND_FAULT_STEP_SEND(HEAD "\r\n"),
         ERRAND_FAULT_STEP_REPEAT(-1, "0123456789abcdef"));
  RIG_ON(rig, "/chunks",
         ERRAND_FAULT_STEP_SEND(HEAD "Transfer-Encoding: chunked\r\n\r\n"),
         ERRAND_FAULT_STEP_REPEAT(-1, "10\r\n0123456789abcdef\r\n"));
  RIG_ON(rig, "/length",
         ERRAND_FAULT_STEP_SEND(HEAD "Content-Length: 99999999999\r\n\r\n"),
         ERRAND_FAULT_STEP_REPEAT(-1, "0123456789abcdef"));
  static const char *const paths[] = {"/close", "/chunks", "/length"};
  for (size_t i = 0; i < COUNT_OF(paths); i++) {
    errand_request request = rig_request("GET", rig_url(rig, paths[i]));
    request.limit_body_bytes = 100000;
    const test_result *result = rig_run(rig, &request);
    rig_expect_status(result, ERRAND_LIMIT_BODY_BYTES);
    assert_true(errand_payload_body(result->end.payload).length <= 100000);
  }
  /* Without a limit of the request's own, the group's default holds. */
  rig_expect(rig, "/close", ERRAND_LIMIT_BODY_BYTES);
}

static void the_body_limit_is_exact(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/length",
         ERRAND_FAULT_STEP_SEND(HEAD "Content-Length: 5\r\n\r\nabcde"));
  RIG_ON(rig, "/chunk",
         ERRAND_FAULT_STEP_SEND(HEAD "Transfer-Encoding: chunked\r\n\r\n"
                                     "5\r\nabcde\r\n0\r\n\r\n"));
  static const char *const paths[] = {"/length", "/chunk"};
  for (size_t i = 0; i < COUNT_OF(paths); i++) {
    errand_request request = rig_request("GET", rig_url(rig, paths[i]));
    request.limit_body_bytes = 5;
    rig_expect_response(rig_run(rig, &request), 200, "abcde");
    request.limit_body_bytes = 4;
    rig_expect_status(rig_run(rig, &request), ERRAND_LIMIT_BODY_BYTES);
  }
}

static void closed_while_the_body_is_sent(void **state) {
  test_rig *rig = *state;
  static uint8_t body[8 << 20];
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_READ_BYTES(1000),
         ERRAND_FAULT_STEP(RESET));
  errand_request request = rig_request("PUT", rig_url(rig, "/"));
  request.body_kind = ERRAND_BODY_MEMORY;
  request.body = (errand_bytes){body, sizeof body};
  const test_result *result = rig_run(rig, &request);
  if (result->end.status != ERRAND_CONNECTION_LOST)
    rig_expect_status(result, ERRAND_SEND_FAILED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST(connection_refused),
      RIG_TEST(reset_before_the_response),
      RIG_TEST(reset_at_accept),
      RIG_TEST(reset_in_the_head),
      RIG_TEST(closed_in_the_head),
      RIG_TEST(reset_in_the_body),
      RIG_TEST(half_a_body_by_content_length),
      RIG_TEST(half_a_body_by_chunk),
      RIG_TEST(lying_lengths),
      RIG_TEST(more_than_the_length_is_nobodys),
      RIG_TEST(two_lengths_that_differ),
      RIG_TEST(length_and_chunks_means_chunks),
      RIG_TEST(garbage_instead_of_a_status_line),
      RIG_TEST(endless_fields),
      RIG_TEST(endless_field),
      RIG_TEST(the_header_limits_are_exact),
      RIG_TEST(endless_body),
      RIG_TEST(the_body_limit_is_exact),
      RIG_TEST(closed_while_the_body_is_sent),
  };
  return cmocka_run_group_tests_name("bad_server", tests, NULL, NULL);
}
