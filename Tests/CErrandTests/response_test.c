/* What a response becomes: heads, bodies, trailers, encodings, bookkeeping. */
#include "libcurl/curl_traits.h"
#include "support/nginx_fixture.h"
#include "support/rig.h"

#include <string.h>

#define OK "HTTP/1.1 200 OK\r\n"

static void the_head_is_handed_over_as_it_came(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 299 Odd Reason\r\nX-A: 1\r\n"
                                "x-a:  2 \r\nX-Empty:\r\n"
                                "Content-Length: 2\r\n\r\nok"));
  const test_result *result = rig_get(rig, rig_url(rig, "/"));
  rig_expect_response(result, 299, "ok");
  assert_string_equal(bytes_text(errand_payload_head(result->end.payload)),
                      "HTTP/1.1 299 Odd Reason\r\nX-A: 1\r\nx-a:  2 \r\n"
                      "X-Empty:\r\nContent-Length: 2\r\n");
  assert_int_equal(result->end.http_major, 1);
  assert_int_equal(result->end.http_minor, 1);
  assert_string_equal(
      bytes_text(errand_payload_remote_address(result->end.payload)),
      text("127.0.0.1:%u", errand_fault_server_port(rig->server)));
  assert_non_null(
      strstr(bytes_text(errand_payload_local_address(result->end.payload)),
             "127.0.0.1:"));
  assert_int_equal(errand_payload_trailers(result->end.payload).length, 0);
  assert_int_equal(errand_payload_error_text(result->end.payload).length, 0);
}

static void responses_without_a_body(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/204", ERRAND_FAULT_STEP_SEND("HTTP/1.1 204 No\r\n\r\n"));
  RIG_ON(rig, "/304",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 304 Same\r\n"
                                "Content-Length: 77\r\n\r\n"));
  RIG_ON(rig, "/head", ERRAND_FAULT_STEP_SEND(OK "Content-Length: 77\r\n\r\n"));
  for (int i = 0; i < 2; i++) { /* on a kept connection, too */
    rig_expect_response(rig_get(rig, rig_url(rig, "/204")), 204, "");
    rig_expect_response(rig_get(rig, rig_url(rig, "/304")), 304, "");
    errand_request head = rig_request("HEAD", rig_url(rig, "/head"));
    const test_result *result = rig_run(rig, &head);
    rig_expect_response(result, 200, "");
    assert_true(bytes_contain(errand_payload_head(result->end.payload),
                              "Content-Length: 77\r\n"));
  }
  assert_int_equal(rig_counts(rig).connections, 1);
}

static void interim_responses_are_passed_over(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 100 Continue\r\n\r\n"
                                "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"),
         ERRAND_FAULT_STEP_SLEEP(20),
         ERRAND_FAULT_STEP_SEND(OK "X-A: 1\r\nContent-Length: 2\r\n\r\nok"));
  const test_result *result = rig_get(rig, rig_url(rig, "/"));
  rig_expect_response(result, 200, "ok");
  assert_string_equal(bytes_text(errand_payload_head(result->end.payload)),
                      OK "X-A: 1\r\nContent-Length: 2\r\n");
}

static void trailers_come_apart_from_the_head(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND(OK "Transfer-Encoding: chunked\r\n\r\n"
                                   "2;x=y\r\nab\r\n1\r\nc\r\n0\r\n"
                                   "X-Sum: 9\r\nX-Other: z\r\n\r\n"));
  const test_result *result = rig_get(rig, rig_url(rig, "/"));
  rig_expect_response(result, 200, "abc");
  assert_string_equal(bytes_text(errand_payload_trailers(result->end.payload)),
                      "X-Sum: 9\r\nX-Other: z\r\n");
  assert_false(
      bytes_contain(errand_payload_head(result->end.payload), "X-Sum"));
}

/* Not of one connection where libcurl forgets the trailers of the one before;
   that nothing is left of them is LeakSanitizer's and the rig's to see. */
static void trailers_on_one_connection(void **state) {
  test_rig *rig = *state;
#define WITH_TRAILER                                                           \
  ERRAND_FAULT_STEP_SEND(OK "Transfer-Encoding: chunked\r\n\r\n"               \
                            "2\r\nab\r\n0\r\nX-Sum: 9\r\n\r\n")
  RIG_ON(rig, "/", WITH_TRAILER);
  for (int i = 0; i < 4; i++) {
    const test_result *result = rig_get(rig, rig_url(rig, "/"));
    rig_expect_response(result, 200, "ab");
    assert_string_equal(
        bytes_text(errand_payload_trailers(result->end.payload)),
        "X-Sum: 9\r\n");
  }
  assert_int_equal(rig_counts(rig).connections,
                   errand__curl_does(ERRAND__CURL_LEAKS_TRAILERS) ? 4 : 1);
}

static void a_body_may_end_with_the_connection(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/1.1", ERRAND_FAULT_STEP_SEND(OK "\r\nto the end"),
         ERRAND_FAULT_STEP(FINISH));
  RIG_ON(rig, "/1.0", ERRAND_FAULT_STEP_SEND("HTTP/1.0 200 OK\r\n\r\nold"),
         ERRAND_FAULT_STEP(FINISH));
  rig_expect_response(rig_get(rig, rig_url(rig, "/1.1")), 200, "to the end");
  const test_result *result = rig_get(rig, rig_url(rig, "/1.0"));
  rig_expect_response(result, 200, "old");
  assert_int_equal(result->end.http_minor, 0);
}

static void bodies_of_nginx(void **state) {
  test_rig *rig = *state;
  static const struct {
    const char *path;
    size_t length;
  } files[] = {{"/12b", 12},
               {"/1k", 1024},
               {"/64k", 65536},
               {"/1m", 1 << 20},
               {"/empty", 0}};
  for (size_t i = 0; i < COUNT_OF(files); i++) {
    const test_result *result =
        rig_get(rig, nginx_url(&nginx, NGINX_HTTP, files[i].path));
    rig_expect_response(result, 200, NULL);
    errand_bytes body = errand_payload_body(result->end.payload);
    assert_int_equal(body.length, files[i].length);
    assert_int_equal(result->end.bytes_received, files[i].length);
    if (files[i].length >= 1024)
      assert_memory_equal(body.data + 16, "line 0000000001\n", 16);
  }
  errand_request range =
      rig_request("GET", nginx_url(&nginx, NGINX_HTTP, "/1m"));
  range.headers = bytes_of("Range: bytes=16-31\r\n");
  rig_expect_response(rig_run(rig, &range), 206, "line 0000000001\n");
  rig_expect_response(
      rig_get(rig, nginx_url(&nginx, NGINX_HTTP, "/status/503")), 503, NULL);
}

/* Redirects are the business of the layer above. */
static void redirects_are_not_followed(void **state) {
  test_rig *rig = *state;
  const test_result *result =
      rig_get(rig, nginx_url(&nginx, NGINX_HTTP, "/redirect/307"));
  rig_expect_response(result, 307, NULL);
  assert_true(bytes_contain(errand_payload_head(result->end.payload),
                            "\r\nLocation: "));
}

static errand_options *decoding(uint32_t encodings) {
  errand_options_init init = {.encodings = encodings};
  errand_options *options = NULL;
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  return options;
}

static void gzip_of_nginx_is_decoded(void **state) {
  test_rig *rig = *state;
  errand_request request =
      rig_request("GET", nginx_url(&nginx, NGINX_HTTP, "/gzip/64k"));
  rig_expect_response(rig_run(rig, &request), 200, NULL);
  request.options = decoding(ERRAND_ENCODING_GZIP);
  const test_result *result = rig_run(rig, &request);
  errand_options_release(request.options);
  rig_expect_response(result, 200, NULL);
  assert_int_equal(errand_payload_body(result->end.payload).length, 65536);
  assert_true(result->end.flags & ERRAND_RECORD_DECODED);
  assert_true(result->end.bytes_received < 60000);
}

static void brotli_and_zstd_are_decoded(void **state) {
  test_rig *rig = *state;
  errand_features features;
  errand_features_read(&features);
  RIG_ON(rig, "/br",
         ERRAND_FAULT_STEP_SEND(OK "Content-Encoding: br\r\nContent-Length: 9"
                                   "\r\n\r\n\x0b\x02\x80hello\x03"));
  RIG_ON(rig, "/zstd",
         ERRAND_FAULT_STEP_SEND(OK "Content-Encoding: zstd\r\n"
                                   "Content-Length: 14\r\n\r\n\x28\xb5\x2f\xfd"
                                   "\x20\x05\x29\0\0hello"));
  errand_request request = rig_request("GET", rig_url(rig, "/br"));
  request.options = decoding(ERRAND_ENCODING_ALL);
  if (features.flags & ERRAND_FEATURE_BROTLI)
    rig_expect_response(rig_run(rig, &request), 200, "hello");
  request.url = bytes_of(rig_url(rig, "/zstd"));
  if (features.flags & ERRAND_FEATURE_ZSTD)
    rig_expect_response(rig_run(rig, &request), 200, "hello");
  errand_options_release(request.options);
}

/* The field alone decodes nothing. */
static void without_a_body_nothing_is_decoded(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/head",
         ERRAND_FAULT_STEP_SEND(OK "Content-Encoding: gzip\r\n"
                                   "Content-Length: 77\r\n\r\n"));
  RIG_ON(rig, "/304",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 304 Same\r\n"
                                "Content-Encoding: gzip\r\n\r\n"));
  errand_request request = rig_request("HEAD", rig_url(rig, "/head"));
  request.options = decoding(ERRAND_ENCODING_GZIP);
  const test_result *result = rig_run(rig, &request);
  rig_expect_response(result, 200, "");
  assert_false(result->end.flags & ERRAND_RECORD_DECODED);
  request.method = bytes_of("GET");
  request.url = bytes_of(rig_url(rig, "/304"));
  result = rig_run(rig, &request);
  rig_expect_response(result, 304, "");
  assert_false(result->end.flags & ERRAND_RECORD_DECODED);
  errand_options_release(request.options);
}

static void what_was_not_asked_for_stays_encoded(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_GZIP_ZEROS(100000));
  const test_result *result = rig_get(rig, rig_url(rig, "/"));
  rig_expect_response(result, 200, NULL);
  assert_int_equal(errand_payload_body(result->end.payload).data[0], 0x1f);
  assert_false(result->end.flags & ERRAND_RECORD_DECODED);
}

static void broken_gzip(void **state) {
  test_rig *rig = *state;
#define GZIP OK "Content-Encoding: gzip\r\n"
  RIG_ON(rig, "/text",
         ERRAND_FAULT_STEP_SEND(GZIP "Content-Length: 5\r\n\r\nhello"));
  RIG_ON(rig, "/cut",
         ERRAND_FAULT_STEP_SEND(GZIP "Content-Length: 12\r\n\r\n\x1f\x8b\x08\0"
                                     "\0\0\0\0\0\x03\xff\xff"));
  RIG_ON(rig, "/unknown",
         ERRAND_FAULT_STEP_SEND(OK "Content-Encoding: rot13\r\n"
                                   "Content-Length: 5\r\n\r\nuryyb"));
  static const char *const paths[] = {"/text", "/cut", "/unknown"};
  for (size_t i = 0; i < COUNT_OF(paths); i++) {
    errand_request request = rig_request("GET", rig_url(rig, paths[i]));
    request.options = decoding(ERRAND_ENCODING_ALL);
    const test_result *result = rig_run(rig, &request);
    errand_options_release(request.options);
    rig_expect_status(result, ERRAND_DECODING_FAILED);
  }
}

static void a_gzip_bomb_ends_at_the_limit(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_GZIP_ZEROS(400ll << 20));
  for (int stream = 0; stream < 2; stream++) {
    errand_request request = rig_request("GET", rig_url(rig, "/"));
    request.options = decoding(ERRAND_ENCODING_GZIP);
    request.limit_decoded_bytes = 1 << 20;
    request.flags = stream ? ERRAND_REQUEST_STREAM_RESPONSE : 0;
    request.response_credit = 8 << 20;
    const test_result *result = rig_run(rig, &request);
    errand_options_release(request.options);
    rig_expect_status(result, ERRAND_LIMIT_DECODED_BYTES);
    assert_true(result->chunk_bytes <= 1 << 20);
    if (result->end.payload != NULL)
      assert_true(errand_payload_body(result->end.payload).length <= 1 << 20);
  }
  /* The group's default holds where the request names no limit. */
  errand_request request = rig_request("GET", rig_url(rig, "/"));
  request.options = decoding(ERRAND_ENCODING_GZIP);
  rig_expect_status(rig_run(rig, &request), ERRAND_LIMIT_DECODED_BYTES);
  errand_options_release(request.options);
}

static void the_decoded_limit_is_exact(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_GZIP_ZEROS(50000));
  errand_request request = rig_request("GET", rig_url(rig, "/"));
  request.options = decoding(ERRAND_ENCODING_GZIP);
  request.limit_decoded_bytes = 50000;
  const test_result *result = rig_run(rig, &request);
  rig_expect_response(result, 200, NULL);
  assert_int_equal(errand_payload_body(result->end.payload).length, 50000);
  request.limit_decoded_bytes = 49999;
  rig_expect_status(rig_run(rig, &request), ERRAND_LIMIT_DECODED_BYTES);
  errand_options_release(request.options);
}

static void connections_are_kept_and_times_are_told(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SLEEP(30),
         ERRAND_FAULT_STEP_SEND(OK "Content-Length: 2\r\n\r\nok"));
  errand_request request = rig_request("GET", rig_url(rig, "/"));
  request.tag = 0xfeedfacecafe;
  const test_result *first = rig_run(rig, &request);
  rig_expect_response(first, 200, "ok");
  assert_int_equal(first->end.tag, 0xfeedfacecafe);
  assert_false(first->end.flags & ERRAND_RECORD_REUSED);
  assert_true(first->end.timings.connected > 0);
  assert_true(first->end.timings.first_byte >= 29000);
  assert_true(first->end.timings.total >= first->end.timings.first_byte);
  const test_result *second = rig_run(rig, &request);
  assert_true(second->end.flags & ERRAND_RECORD_REUSED);
  request.flags = ERRAND_REQUEST_FRESH_CONNECTION;
  const test_result *fresh = rig_run(rig, &request);
  assert_false(fresh->end.flags & ERRAND_RECORD_REUSED);
  request.flags = 0;
  rig_expect_response(rig_run(rig, &request), 200, "ok");
  assert_int_equal(rig_counts(rig).connections, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST(the_head_is_handed_over_as_it_came),
      RIG_TEST_ONE_LOOP(responses_without_a_body),
      RIG_TEST(interim_responses_are_passed_over),
      RIG_TEST(trailers_come_apart_from_the_head),
      RIG_TEST_ONE_LOOP(trailers_on_one_connection),
      RIG_TEST(a_body_may_end_with_the_connection),
      RIG_TEST(bodies_of_nginx),
      RIG_TEST(redirects_are_not_followed),
      RIG_TEST(gzip_of_nginx_is_decoded),
      RIG_TEST(brotli_and_zstd_are_decoded),
      RIG_TEST(without_a_body_nothing_is_decoded),
      RIG_TEST(what_was_not_asked_for_stays_encoded),
      RIG_TEST(broken_gzip),
      RIG_TEST(a_gzip_bomb_ends_at_the_limit),
      RIG_TEST(the_decoded_limit_is_exact),
      RIG_TEST_ONE_LOOP(connections_are_kept_and_times_are_told),
  };
  return cmocka_run_group_tests_name("response", tests, nginx_set_up,
                                     nginx_tear_down);
}
