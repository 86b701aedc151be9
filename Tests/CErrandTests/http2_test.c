/* HTTP/2 by choice, against nginx: one connection, many streams. */
#include "support/nginx_fixture.h"
#include "support/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static errand_options *http2;

static int set_up(void **state) {
  if (rig_set_up(state) != 0)
    return -1;
  errand_options_init init = {.http_policy = ERRAND_HTTP_2_TLS,
                              .ca_file = nginx_file(&nginx, "certs/ca.pem")};
  return errand_options_create(&init, &http2) == ERRAND_OK ? 0 : -1;
}

static int tear_down(void **state) {
  errand_options_release(http2);
  return rig_tear_down(state);
}

static errand_request request_of(const char *path) {
  errand_request request =
      rig_request("GET", nginx_url(&nginx, NGINX_TLS, path));
  request.options = http2;
  return request;
}

static void is_negotiated_over_tls(void **state) {
  test_rig *rig = *state;
  errand_request request = request_of("/12b");
  const test_result *result = rig_run(rig, &request);
  rig_expect_response(result, 200, "hello world\n");
  assert_int_equal(result->end.http_major, 2);
  /* Not where it was not asked for. */
  errand_features features;
  errand_features_read(&features);
  errand_options_init init = {.ca_file = nginx_file(&nginx, "certs/ca.pem")};
  errand_options *automatic = NULL;
  assert_int_equal(errand_options_create(&init, &automatic), ERRAND_OK);
  request.options = automatic;
  result = rig_run(rig, &request);
  assert_int_equal(result->end.http_major,
                   features.flags & ERRAND_FEATURE_HTTP2_DEFAULT ? 2 : 1);
  errand_options_release(automatic);
}

static void falls_back_where_it_is_not_spoken(void **state) {
  test_rig *rig = *state;
  errand_request request =
      rig_request("GET", nginx_url(&nginx, NGINX_HTTP, "/12b"));
  request.options = http2;
  const test_result *result = rig_run(rig, &request);
  rig_expect_response(result, 200, "hello world\n");
  assert_int_equal(result->end.http_major, 1);
}

static void many_streams_share_a_connection(void **state) {
  test_rig *rig = *state;
  enum { COUNT = 300 };
  static errand_request requests[COUNT];
  const errand_request small = request_of("/1k"), large = request_of("/64k");
  for (int i = 0; i < COUNT; i++)
    requests[i] = i % 10 ? small : large;
  rig->accepted += errand_submit(rig->group, requests, COUNT);
  assert_int_equal(rig->accepted, COUNT);
  for (int i = 0; i < COUNT; i++) {
    const test_result *result = collector_wait(&rig->collector, requests[i].id);
    rig_expect_response(result, 200, NULL);
    assert_int_equal(result->end.http_major, 2);
    assert_int_equal(errand_payload_body(result->end.payload).length,
                     i % 10 ? 1024 : 65536);
  }
  /* nginx takes 128 streams a connection. */
  assert_true(rig_stats(rig).connections_opened <= 16);
}

/* How many connections carry 16 streams at once. Each stream lacks the credit
   for its body, so none ends before the test cancels it. */
static uint64_t connections_with(uint32_t max_concurrent_streams) {
  enum { COUNT = 16 };
  void *state = NULL;
  errand_group_init init = {.loops = 1,
                            .max_concurrent_streams = max_concurrent_streams};
  assert_int_equal(rig_set_up_with(&state, init), 0);
  test_rig *rig = state;
  uint64_t ids[COUNT];
  errand_request request = request_of("/1m");
  request.flags = ERRAND_REQUEST_STREAM_RESPONSE;
  request.response_credit = 1000;
  for (int i = 0; i < COUNT; i++)
    ids[i] = rig_submit(rig, &request);
  for (int i = 0; i < COUNT; i++)
    collector_wait_head(&rig->collector, ids[i]);
  uint64_t opened = rig_stats(rig).connections_opened;
  for (int i = 0; i < COUNT; i++) {
    errand_cancel(rig->group, ids[i]);
    rig_expect_status(collector_wait(&rig->collector, ids[i]),
                      ERRAND_CANCELLED);
  }
  assert_int_equal(rig_tear_down(&state), 0);
  return opened;
}

static void the_limit_of_streams_decides_the_connections(void **state) {
  (void) state;
  assert_true(connections_with(2) >= 8);
  assert_true(connections_with(16) <= 4);
}

static void large_bodies_and_streams(void **state) {
  test_rig *rig = *state;
  errand_request request = request_of("/1m");
  for (int i = 0; i < 5; i++) {
    const test_result *result = rig_run(rig, &request);
    rig_expect_response(result, 200, NULL);
    assert_int_equal(errand_payload_body(result->end.payload).length, 1 << 20);
  }
  collector_grant_to(&rig->collector, rig->group);
  request.flags = ERRAND_REQUEST_STREAM_RESPONSE;
  request.response_credit = 10000;
  const test_result *result = rig_run(rig, &request);
  rig_expect_status(result, ERRAND_OK);
  assert_int_equal(result->chunk_bytes, 1 << 20);
}

static void uploads(void **state) {
  test_rig *rig = *state;
  size_t length = 500000;
  uint8_t *body = calloc(1, length);
  errand_request request = request_of("/dav/upload");
  request.method = bytes_of("PUT");
  request.body_kind = ERRAND_BODY_MEMORY;
  request.body = (errand_bytes){body, length};
  const test_result *result = rig_run(rig, &request);
  free(body);
  rig_expect_status(result, ERRAND_OK);
  assert_true(result->end.http_status == 201 || result->end.http_status == 204);
  errand_request back = request_of("/dav/upload");
  result = rig_run(rig, &back);
  rig_expect_response(result, 200, NULL);
  assert_int_equal(errand_payload_body(result->end.payload).length, length);
}

/* At the 256 KiB/s of /slow/ the body lasts 192 s: longer than any request. */
static void make_48m(void) {
  FILE *file = fopen(nginx_file(&nginx, "www/48m"), "we");
  assert_non_null(file);
  assert_int_equal(ftruncate(fileno(file), 48 << 20), 0);
  assert_int_equal(fclose(file), 0);
}

static void cancelling_a_stream_leaves_the_others(void **state) {
  test_rig *rig = *state;
  make_48m();
  errand_request kept = request_of("/slow/1m"), gone = request_of("/slow/48m");
  uint64_t kept_id = rig_submit(rig, &kept);
  uint64_t gone_id = rig_submit(rig, &gone);
  errand_request small = request_of("/12b");
  rig_expect_response(rig_run(rig, &small), 200, NULL);
  errand_cancel(rig->group, gone_id);
  rig_expect_status(collector_wait(&rig->collector, gone_id), ERRAND_CANCELLED);
  const test_result *result = collector_wait(&rig->collector, kept_id);
  rig_expect_response(result, 200, NULL);
  assert_int_equal(errand_payload_body(result->end.payload).length, 1 << 20);
}

/* The handle of a stream that ended beside another keeps its receive buffer,
   and libcurl before 8.7 refuses another size for it. */
static void a_handle_of_a_stream_serves_http1(void **state) {
  test_rig *rig = *state;
  errand_request kept = request_of("/slow/1m"), small = request_of("/12b");
  uint64_t kept_id = rig_submit(rig, &kept);
  for (int i = 0; i < 3; i++) {
    rig_expect_response(rig_run(rig, &small), 200, "hello world\n");
    errand_request plain =
        rig_request("GET", nginx_url(&nginx, NGINX_HTTP, "/1m"));
    plain.options = http2;
    const test_result *result = rig_run(rig, &plain);
    rig_expect_response(result, 200, NULL);
    assert_int_equal(result->end.http_major, 1);
  }
  rig_expect_response(collector_wait(&rig->collector, kept_id), 200, NULL);
}

/* Before 8.0 libcurl cannot reuse such a connection: one after another, and
   several at once, each request is answered all the same. */
static void prior_knowledge_in_clear_text(void **state) {
  test_rig *rig = *state;
  enum { AT_ONCE = 8 };
  errand_options_init init = {.http_policy = ERRAND_HTTP_2_PRIOR_KNOWLEDGE};
  errand_options *options = NULL;
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  errand_request request =
      rig_request("GET", nginx_url(&nginx, NGINX_H2C, "/12b"));
  request.options = options;
  for (int i = 0; i < 3; i++) {
    const test_result *result = rig_run(rig, &request);
    rig_expect_response(result, 200, "hello world\n");
    assert_int_equal(result->end.http_major, 2);
  }
  uint64_t ids[AT_ONCE];
  for (int i = 0; i < AT_ONCE; i++)
    ids[i] = rig_submit(rig, &request);
  for (int i = 0; i < AT_ONCE; i++)
    rig_expect_response(collector_wait(&rig->collector, ids[i]), 200,
                        "hello world\n");
  errand_options_release(options);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(is_negotiated_over_tls),
      TEST(falls_back_where_it_is_not_spoken),
      TEST(many_streams_share_a_connection),
      TEST(the_limit_of_streams_decides_the_connections),
      TEST(large_bodies_and_streams),
      TEST(uploads),
      TEST(cancelling_a_stream_leaves_the_others),
      TEST(a_handle_of_a_stream_serves_http1),
      TEST(prior_knowledge_in_clear_text),
  };
  return cmocka_run_group_tests_name("http2", tests, nginx_set_up,
                                     nginx_tear_down);
}
