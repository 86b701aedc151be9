/* An HTTP/2 server that dies in mid-body: no stream may end well with a part of
   its body, whatever libcurl makes of it. */
#include "support/nghttpd_fixture.h"
#include "support/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STREAMS 8

/* Each test has a server of its own, and kills it. */
static int set_up(void **state) {
  return nginx_set_up(state) == 0 ? rig_set_up_one_loop(state) : -1;
}

/* At the 256 KiB/s of /slow/ it lasts 192 s: none is whole by itself. */
static void make_48m(void) {
  FILE *file = fopen(nginx_file(&nginx, "www/48m"), "we");
  assert_non_null(file);
  assert_int_equal(ftruncate(fileno(file), 48 << 20), 0);
  assert_int_equal(fclose(file), 0);
}

static int tear_down(void **state) {
  nginx_tear_down(state);
  return rig_tear_down(state);
}

static errand_options *http2(void) {
  errand_options *options = NULL;
  errand_options_init init = {.http_policy = ERRAND_HTTP_2_TLS,
                              .ca_file = nginx_file(&nginx, "certs/ca.pem")};
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  return options;
}

static void expect_cut(const test_result *result) {
  const errand_status typed[] = {ERRAND_PARTIAL_BODY, ERRAND_RECEIVE_FAILED,
                                 ERRAND_PROTOCOL_ERROR};
  for (size_t i = 0; i < COUNT_OF(typed); i++)
    if (result->end.status == (int32_t) typed[i])
      return;
  rig_expect_status(result, ERRAND_PARTIAL_BODY);
}

static void of_many_streams_none_ends_well(void **state) {
  test_rig *rig = *state;
  errand_request requests[STREAMS];
  errand_options *options = http2();
  make_48m();
  for (int i = 0; i < STREAMS; i++) {
    requests[i] = rig_request("GET", nginx_url(&nginx, NGINX_TLS, "/slow/48m"));
    requests[i].options = options;
    requests[i].flags = ERRAND_REQUEST_REPORT_EVENTS;
    rig_submit(rig, &requests[i]);
  }
  for (int i = 0; i < STREAMS; i++)
    collector_wait_head(&rig->collector, requests[i].id);
  nginx_fixture_stop(&nginx);
  for (int i = 0; i < STREAMS; i++)
    expect_cut(collector_wait(&rig->collector, requests[i].id));
  errand_options_release(options);
}

/* Held back by credit, so that the body is only half read when it happens. */
static void a_stream_without_credit(void **state) {
  test_rig *rig = *state;
  nghttpd_fixture nghttpd;
  assert_int_equal(nghttpd_fixture_start(&nghttpd, &nginx), 0);
  errand_options *options = http2();
  errand_request request =
      rig_request("GET", text("https://127.0.0.1:%u/1m", nghttpd.port));
  request.options = options;
  request.flags = ERRAND_REQUEST_STREAM_RESPONSE;
  request.response_credit = 1000;
  rig_submit(rig, &request);
  collector_wait_chunks(&rig->collector, request.id, 1000);
  nghttpd_fixture_stop(&nghttpd);
  errand_grant(rig->group, request.id, 1 << 30);
  const test_result *result = collector_wait(&rig->collector, request.id);
  /* All of it may have been on this side already. */
  if (result->chunk_bytes != 1 << 20)
    expect_cut(result);
  errand_options_release(options);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(of_many_streams_none_ends_well),
      TEST(a_stream_without_credit),
  };
  return cmocka_run_group_tests_name("http2_death", tests, NULL, NULL);
}
