/* Trusted roots are read once for all multi handles, and not by a loop. */
#include <stdio.h>
#include <time.h>

#include "support/nginx_fixture.h"
#include "support/rig.h"
#include "transfer/clock.h"
#include "transfer/options.h"

#define SHARDS 32

static int64_t processor_milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A multi handle for each request: libcurl would parse the system's bundle in
   each, 20 ms of the loop's time. */
static void the_bundle_is_parsed_once_for_all_shards(void **state) {
  test_rig *rig = *state;
  static errand_request requests[SHARDS];
  const char *url = nginx_url(&nginx, NGINX_TLS12, "/12b");
  rig_expect_status(rig_get(rig, url), ERRAND_TLS_UNTRUSTED);
  int64_t start = processor_milliseconds();
  for (int i = 0; i < SHARDS; i++)
    requests[i] = rig_request("GET", url);
  rig->accepted += errand_submit(rig->group, requests, SHARDS);
  for (int i = 0; i < SHARDS; i++)
    rig_expect_status(collector_wait(&rig->collector, requests[i].id),
                      ERRAND_TLS_UNTRUSTED);
  int64_t took = processor_milliseconds() - start;
  printf("%d handshakes took %lld ms of processor time\n", SHARDS,
         (long long) took);
  assert_true(took < SHARDS * 10);
}

static int copy_file(const char *from, const char *to) {
  char bytes[65536];
  FILE *in = fopen(from, "r");
  size_t length = in ? fread(bytes, 1, sizeof bytes, in) : 0;
  if (in)
    fclose(in);
  FILE *out = fopen(to, "w");
  if (!out)
    return -1;
  size_t written = fwrite(bytes, 1, length, out);
  return fclose(out) == 0 && written == length && length > 0 ? 0 : -1;
}

/* Only the named file's roots; options of another file do not get them. */
static void a_file_is_trusted_alone(void **state) {
  test_rig *rig = *state;
  errand_options *options = NULL;
  errand_options_init with = {.ca_file = nginx_file(&nginx, "certs/ca.pem")};
  assert_int_equal(errand_options_create(&with, &options), ERRAND_OK);
  errand_request r = rig_request("GET", nginx_url(&nginx, NGINX_TLS12, "/12b"));
  r.options = options;
  rig_expect_response(rig_run(rig, &r), 200, NULL);
  r = rig_request("GET", nginx_url(&nginx, NGINX_SELFSIGNED, "/12b"));
  r.options = options;
  rig_expect_status(rig_run(rig, &r), ERRAND_TLS_UNTRUSTED);
  rig_expect_status(rig_get(rig, nginx_url(&nginx, NGINX_TLS12, "/12b")),
                    ERRAND_TLS_UNTRUSTED);
  errand_options_release(options);
}

/* Options made after a file was changed have the new roots, whatever is in use
   of the old. */
static void new_options_read_a_changed_file(void **state) {
  test_rig *rig = *state;
  const char *file = nginx_file(&nginx, "certs/changing.pem");
  errand_options_init with = {.ca_file = file};
  errand_options *before = NULL, *after = NULL;
  assert_int_equal(copy_file(nginx_file(&nginx, "certs/selfsigned.pem"), file),
                   0);
  assert_int_equal(errand_options_create(&with, &before), ERRAND_OK);
  errand_request r = rig_request("GET", nginx_url(&nginx, NGINX_TLS12, "/12b"));
  r.options = before;
  rig_expect_status(rig_run(rig, &r), ERRAND_TLS_UNTRUSTED);
  assert_int_equal(copy_file(nginx_file(&nginx, "certs/ca.pem"), file), 0);
  assert_int_equal(errand_options_create(&with, &after), ERRAND_OK);
  r = rig_request("GET", nginx_url(&nginx, NGINX_TLS12, "/12b"));
  r.options = after;
  rig_expect_response(rig_run(rig, &r), 200, NULL);
  errand_options_release(before);
  errand_options_release(after);
}

/* Options in use take a renewed file, once it was looked at again. */
static void options_in_use_take_a_changed_file(void **state) {
  test_rig *rig = *state;
  const char *file = nginx_file(&nginx, "certs/renewed.pem");
  errand_options_init with = {.ca_file = file};
  errand_options *options = NULL;
  assert_int_equal(copy_file(nginx_file(&nginx, "certs/selfsigned.pem"), file),
                   0);
  assert_int_equal(errand_options_create(&with, &options), ERRAND_OK);
  errand_request r = rig_request("GET", nginx_url(&nginx, NGINX_TLS12, "/12b"));
  r.options = options;
  rig_expect_status(rig_run(rig, &r), ERRAND_TLS_UNTRUSTED);
  const char *next = nginx_file(&nginx, "certs/next.pem");
  assert_int_equal(copy_file(nginx_file(&nginx, "certs/ca.pem"), next), 0);
  assert_int_equal(rename(next, file), 0);
  rig_expect_status(rig_run(rig, &r), ERRAND_TLS_UNTRUSTED);
  if (options->trust) {
    errand__trust_prepare(options->trust, errand__now_ms() + 61000);
    rig_expect_response(rig_run(rig, &r), 200, NULL);
  }
  errand_options_release(options);
}

static int set_up_small_shards(void **state) {
  return rig_set_up_with(
      state, (errand_group_init){.loops = 1, .shard_in_flight_limit = 1});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(the_bundle_is_parsed_once_for_all_shards,
                                      set_up_small_shards, rig_tear_down),
      RIG_TEST_ONE_LOOP(a_file_is_trusted_alone),
      RIG_TEST_ONE_LOOP(new_options_read_a_changed_file),
      RIG_TEST_ONE_LOOP(options_in_use_take_a_changed_file),
  };
  return cmocka_run_group_tests_name("trust", tests, nginx_set_up,
                                     nginx_tear_down);
}
