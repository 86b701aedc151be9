/* Timeout: 240 s */
/* A process may exit with live groups: OpenSSL's exit handler crashed 80 of
   150 such exits (openssl #6214, curl #12153). */
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

#include "support/nginx_fixture.h"
#include "support/random.h"
#include "support/rig.h"

#define EXITS 150

extern char **environ;

static pid_t start(const char *url, const char *milliseconds, const char *way) {
  char program[] = ERRAND_TEST_PROGRAMS "/exit_under_load";
  char *const arguments[] = {program, (char *) url, (char *) milliseconds,
                             (char *) way, NULL};
  pid_t pid = -1;
  assert_int_equal(posix_spawn(&pid, program, NULL, NULL, arguments, environ),
                   0);
  return pid;
}

static void exits_with_live_loops(const char *url, uint64_t seed) {
  random_source random = {seed};
  for (int i = 0; i < EXITS; i++) {
    const char *milliseconds = text("%d", 1 + (int) random_below(&random, 40));
    const char *way = random_below(&random, 2) ? "exit" : "return";
    pid_t pid = start(url, milliseconds, way);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (status != 0)
      fail_msg("exit %d, %s after %s ms, ended with wait status %#x", i, way,
               milliseconds, (unsigned) status);
  }
}

static void exits_amid_tls(void **state) {
  (void) state;
  exits_with_live_loops(nginx_url(&nginx, NGINX_TLS, "/1k"), random_seed(1));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(exits_amid_tls)};
  return cmocka_run_group_tests(tests, nginx_set_up, nginx_tear_down);
}
