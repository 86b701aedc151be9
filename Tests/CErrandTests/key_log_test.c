/* SSLKEYLOGFILE is set before libcurl starts: keys are written only for options
   that ask for it. */
#include "support/nginx_fixture.h"
#include "support/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char file[] = "/tmp/errand-keys-XXXXXX";

static off_t logged(void) {
  struct stat now;
  assert_int_equal(stat(file, &now), 0);
  return now.st_size;
}

static void run(test_rig *rig, nginx_port port, errand_options_init init) {
  errand_options *options = NULL;
  init.ca_file = nginx_file(&nginx, "certs/ca.pem");
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  errand_request request = rig_request("GET", nginx_url(&nginx, port, "/12b"));
  request.options = options;
  rig_expect_response(rig_run(rig, &request), 200, NULL);
  errand_options_release(options);
}

static const nginx_port ports[] = {NGINX_TLS, NGINX_TLS12};

static void nothing_is_written_unasked(void **state) {
  test_rig *rig = *state;
  for (size_t i = 0; i < COUNT_OF(ports); i++) {
    run(rig, ports[i], (errand_options_init){0});
    /* libcurl's own roots, so that nothing else needs the context. */
    run(rig, ports[i],
        (errand_options_init){.insecure_accept_any_certificate = 1});
  }
  assert_int_equal(logged(), 0);
}

static void keys_are_written_where_asked(void **state) {
  test_rig *rig = *state;
  for (size_t i = 0; i < COUNT_OF(ports); i++) {
    off_t before = logged();
    run(rig, ports[i],
        (errand_options_init){.key_log = ERRAND_KEY_LOG_ENVIRONMENT});
    assert_true(logged() > before);
    before = logged();
    /* Not for others beside it, nor on its connection. */
    run(rig, ports[i], (errand_options_init){0});
    assert_int_equal(logged(), before);
  }
}

static void no_other_values(void **state) {
  errand_options *options = NULL;
  errand_options_init init = {0};
  int absurd = 2;
  (void) state;
  memcpy(&init.key_log, &absurd, sizeof absurd);
  assert_int_equal(errand_options_create(&init, &options),
                   ERRAND_INVALID_OPTION);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST_ONE_LOOP(nothing_is_written_unasked),
      RIG_TEST_ONE_LOOP(keys_are_written_where_asked),
      RIG_TEST(no_other_values),
  };
  int made = mkstemp(file);
  if (made < 0)
    return 1;
  close(made);
  setenv("SSLKEYLOGFILE", file, 1);
  int failed = cmocka_run_group_tests_name("key_log", tests, nginx_set_up,
                                           nginx_tear_down);
  unlink(file);
  return failed;
}
