/* Which multi handle a request goes to: kept connections are found again. */
#include <stdio.h>

#include "support/rig.h"

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define ORIGINS 80 /* more than one multi handle keeps connections */

/* One multi handle keeps 73 connections; were all origins in it, each would
   close the connection that is needed next. */
static void origins_in_turn_find_their_connections(void **state) {
  test_rig *rig = *state;
  const char *resolve[ORIGINS];
  char entries[ORIGINS][64];
  unsigned port = errand_fault_server_port(rig->server);
  RIG_ON(rig, NULL, ERRAND_FAULT_STEP_SEND(OK));
  for (int i = 0; i < ORIGINS; i++) {
    snprintf(entries[i], sizeof entries[i], "o%d.test:%u:127.0.0.1", i, port);
    resolve[i] = entries[i];
  }
  errand_options *options = NULL;
  errand_options_init with = {.resolve = resolve, .resolve_count = ORIGINS};
  assert_int_equal(errand_options_create(&with, &options), ERRAND_OK);
  for (int round = 0; round < 3; round++)
    for (int i = 0; i < ORIGINS; i++) {
      errand_request r =
          rig_request("GET", text("http://o%d.test:%u/", i, port));
      r.options = options;
      rig_expect_response(rig_run(rig, &r), 200, "ok");
    }
  assert_int_equal(rig_counts(rig).connections, ORIGINS);
  errand_options_release(options);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST_ONE_LOOP(origins_in_turn_find_their_connections),
  };
  return cmocka_run_group_tests_name("affinity", tests, NULL, NULL);
}
