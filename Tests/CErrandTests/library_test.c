/* What is expected of the libcurl that runs here, and what it can do. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "libcurl/process.h"
#include "support/nginx_fixture.h"
#include "support/rig.h"

static errand_options *make(errand_options_init init) {
  errand_options *options = NULL;
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  return options;
}

static void features_are_told(void **state) {
  errand_features features = {0};
  (void) state;
  errand_features_read(&features);
  assert_int_equal(features.curl_version_number, errand__curl_version());
  assert_true((features.flags & ERRAND_FEATURE_TLS) != 0);
  assert_true((features.flags & ERRAND_FEATURE_NO_ATEXIT) != 0);
  assert_int_equal((features.flags & ERRAND_FEATURE_HTTP2_DEFAULT) != 0,
                   errand__curl_version() >= 0x080200);
  assert_true(features.curl_version[0] && features.tls_version[0] &&
              features.uv_version[0] && features.errand_version[0]);
  char libcurl[64];
  snprintf(libcurl, sizeof libcurl, "libcurl/%s ", features.curl_version);
  assert_int_equal(strncmp(features.curl_libraries, libcurl, strlen(libcurl)),
                   0);
  assert_non_null(strstr(features.curl_libraries, features.tls_version));
  int major, minor;
  assert_int_equal(
      sscanf(features.coding_libraries, "zlib/%d.%d", &major, &minor), 2);
  assert_int_equal(strstr(features.coding_libraries, " brotli/") != NULL,
                   (features.flags & ERRAND_FEATURE_BROTLI) != 0);
  assert_int_equal(strstr(features.coding_libraries, " zstd/") != NULL,
                   (features.flags & ERRAND_FEATURE_ZSTD) != 0);
}

/* 32, 33, 34: HTTP/2 is not spoken unasked where it loses bodies. */
static void http2_only_where_it_can_be_trusted(void **state) {
  test_rig *rig = *state;
  errand_options *options = make(
      (errand_options_init){.ca_file = nginx_file(&nginx, "certs/ca.pem")});
  errand_request r = rig_request("GET", nginx_url(&nginx, NGINX_TLS, "/12b"));
  r.options = options;
  const test_result *end = rig_run(rig, &r);
  rig_expect_response(end, 200, NULL);
  assert_int_equal(end->end.http_major,
                   errand__curl_version() >= 0x080200 ? 2 : 1);
  errand_options_release(options);
}

/* What nginx says of the session; HTTP/2 has names in lower case. */
static bool was_resumed(const test_result *end) {
  errand_bytes head = errand_payload_head(end->end.payload);
  bool resumed = bytes_contain(head, "-Session-Reused: r") ||
                 bytes_contain(head, "-session-reused: r");
  assert_true(resumed || bytes_contain(head, "-Session-Reused: .") ||
              bytes_contain(head, "-session-reused: ."));
  return resumed;
}

/* 40: the second connection resumes the first one's session. */
static void tls_sessions_are_resumed(void **state) {
  test_rig *rig = *state;
  errand_options *options = make(
      (errand_options_init){.ca_file = nginx_file(&nginx, "certs/ca.pem")});
  int resumed = 0;
  for (int i = 0; i < 5; i++) {
    errand_request r =
        rig_request("GET", nginx_url(&nginx, NGINX_TLS, "/echo"));
    r.options = options;
    r.flags = ERRAND_REQUEST_FRESH_CONNECTION;
    const test_result *end = rig_run(rig, &r);
    rig_expect_response(end, 200, NULL);
    resumed += was_resumed(end);
  }
  assert_true(resumed >= 4);
  errand_options_release(options);
}

static int64_t processor_milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A share of libcurl keeps the sessions of eight hosts alone. */
static void tls_sessions_of_many_hosts_are_resumed(void **state) {
  enum { HOSTS = 40 };
  test_rig *rig = *state;
  static char entries[HOSTS][64];
  const char *resolve[HOSTS];
  for (int i = 0; i < HOSTS; i++) {
    snprintf(entries[i], sizeof entries[i], "h%d.test:%u:127.0.0.1", i,
             nginx.ports[NGINX_TLS]);
    resolve[i] = entries[i];
  }
  errand_options *options =
      make((errand_options_init){.ca_file = nginx_file(&nginx, "certs/ca.pem"),
                                 .insecure_accept_any_host_name = 1,
                                 .resolve = resolve,
                                 .resolve_count = HOSTS});
  int resumed = 0;
  for (int i = 0; i < 2 * HOSTS; i++) {
    errand_request r =
        rig_request("GET", text("https://h%d.test:%u/echo", i % HOSTS,
                                nginx.ports[NGINX_TLS]));
    r.options = options;
    r.flags = ERRAND_REQUEST_FRESH_CONNECTION;
    const test_result *end = rig_run(rig, &r);
    rig_expect_response(end, 200, NULL);
    resumed += was_resumed(end);
  }
  printf("%d of %d sessions were resumed\n", resumed, HOSTS);
  /* Not all: the shares that hosts go to are drawn by the group's seed, and a
     share that gets more than eight hosts forgets some. */
  assert_true(resumed >= HOSTS / 2);
  errand_options_release(options);
}

/* 41: the system's bundle of some 140 certificates is parsed once, not for
   20 ms with every connection. */
static void the_bundle_is_parsed_once(void **state) {
  test_rig *rig = *state;
  const char *url = nginx_url(&nginx, NGINX_TLS, "/12b");
  rig_expect_status(rig_get(rig, url), ERRAND_TLS_UNTRUSTED);
  int64_t start = processor_milliseconds();
  for (int i = 0; i < 20; i++)
    rig_expect_status(rig_get(rig, nginx_url(&nginx, NGINX_TLS, "/12b")),
                      ERRAND_TLS_UNTRUSTED);
  int64_t took = processor_milliseconds() - start;
  printf("20 handshakes took %lld ms of processor time\n", (long long) took);
  assert_true(took < 200);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(features_are_told),
      RIG_TEST_ONE_LOOP(http2_only_where_it_can_be_trusted),
      RIG_TEST_ONE_LOOP(tls_sessions_are_resumed),
      RIG_TEST_ONE_LOOP(tls_sessions_of_many_hosts_are_resumed),
      RIG_TEST_ONE_LOOP(the_bundle_is_parsed_once),
  };
  return cmocka_run_group_tests(tests, nginx_set_up, nginx_tear_down);
}
