/* A priority is the weight of the stream, as a real HTTP/2 server sees it. */
#include "support/nghttpd_fixture.h"
#include "support/rig.h"

/* In a HEADERS frame; libcurl also sends a PRIORITY frame with a new
   connection. */
#define HEADERS_WEIGHT "padlen=0, dep_stream_id=0, weight="

static nghttpd_fixture nghttpd;

static int start(void **state) {
  if (nginx_set_up(state) != 0)
    return -1;
  return nghttpd_fixture_start(&nghttpd, &nginx);
}

static int stop(void **state) {
  nghttpd_fixture_stop(&nghttpd);
  return nginx_tear_down(state);
}

static void run_with(test_rig *rig, errand_options *options,
                     errand_priority priority, const char *path) {
  errand_request request =
      rig_request("GET", text("https://127.0.0.1:%u%s", nghttpd.port, path));
  request.options = options;
  request.priority = priority;
  const test_result *result = rig_run(rig, &request);
  rig_expect_status(result, ERRAND_OK);
  assert_int_equal(result->end.http_major, 2);
}

static void the_weight_follows_the_priority(void **state) {
  test_rig *rig = *state;
  errand_options *options = NULL;
  errand_options_init init = {.http_policy = ERRAND_HTTP_2_TLS,
                              .ca_file = nginx_file(&nginx, "certs/ca.pem")};
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  /* One pooled handle takes them all: the last must not keep the weight. */
  run_with(rig, options, ERRAND_PRIORITY_HIGH, "/high");
  assert_int_equal(nghttpd_logged(&nghttpd, HEADERS_WEIGHT "32,"), 1);
  run_with(rig, options, ERRAND_PRIORITY_LOW, "/low");
  assert_int_equal(nghttpd_logged(&nghttpd, HEADERS_WEIGHT "8,"), 1);
  run_with(rig, options, ERRAND_PRIORITY_DEFAULT, "/default");
  run_with(rig, options, ERRAND_PRIORITY_DEFAULT, "/again");
  assert_true(nghttpd_logged(&nghttpd, "/again") > 0);
  assert_int_equal(nghttpd_logged(&nghttpd, HEADERS_WEIGHT "32,"), 1);
  assert_int_equal(nghttpd_logged(&nghttpd, HEADERS_WEIGHT "8,"), 1);
  errand_options_release(options);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST_ONE_LOOP(the_weight_follows_the_priority),
  };
  return cmocka_run_group_tests_name("priority", tests, start, stop);
}
