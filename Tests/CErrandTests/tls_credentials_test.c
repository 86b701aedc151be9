/* What the client shows: locked keys, and certificates a server refuses. */
#include "support/child_server.h"
#include "support/nginx_fixture.h"
#include "support/rig.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const test_result *get(test_rig *rig, const char *url,
                              errand_options_init init) {
  errand_options *options = NULL;
  init.ca_file = nginx_file(&nginx, "certs/ca.pem");
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  errand_request request = rig_request("GET", url);
  request.options = options;
  const test_result *result = rig_run(rig, &request);
  errand_options_release(options);
  return result;
}

static const test_result *unlock(test_rig *rig, const char *password) {
  return get(rig, nginx_url(&nginx, NGINX_CLIENTCERT, "/echo"),
             (errand_options_init){
                 .client_certificate = nginx_file(&nginx, "certs/client.pem"),
                 .client_key = nginx_file(&nginx, "certs/locked.key"),
                 .client_key_password = password});
}

/* The process has a terminal: asked there, a loop's thread would stand. */
static void the_password_of_a_key(void **state) {
  test_rig *rig = *state;
  int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
  assert_true(terminal >= 0);
  close(terminal);
  const test_result *result = unlock(rig, "secret");
  rig_expect_response(result, 200, NULL);
  assert_true(bytes_contain(errand_payload_body(result->end.payload),
                            "client: CN=errand test client"));
  rig_expect_status(unlock(rig, "wrong"), ERRAND_TLS_CREDENTIALS);
  rig_expect_status(unlock(rig, ""), ERRAND_TLS_CREDENTIALS);
  rig_expect_status(unlock(rig, NULL), ERRAND_TLS_CREDENTIALS);
}

/* nginx answers 400; this server breaks the handshake off. Over TLS 1.3 the
   client takes it for done by then. */
static void a_certificate_that_is_refused(void **state) {
  test_rig *rig = *state;
  static const char *const versions[] = {"-tls1_2", "-tls1_3"};
  for (size_t i = 0; i < COUNT_OF(versions); i++) {
    uint16_t port = child_server_free_port();
    const char *const arguments[] = {"openssl",
                                     "s_server",
                                     "-quiet",
                                     "-www",
                                     "-Verify",
                                     "1",
                                     "-verify_return_error",
                                     versions[i],
                                     "-accept",
                                     text("127.0.0.1:%u", port),
                                     "-cert",
                                     nginx_file(&nginx, "certs/valid.pem"),
                                     "-key",
                                     nginx_file(&nginx, "certs/valid.key"),
                                     "-CAfile",
                                     nginx_file(&nginx, "certs/ca.pem"),
                                     NULL};
    pid_t server =
        child_server_start(arguments, port, nginx_file(&nginx, "s_server.log"));
    assert_true(server > 0);
    const char *url = text("https://127.0.0.1:%u/", port);
    const test_result *result =
        get(rig, url,
            (errand_options_init){
                .client_certificate = nginx_file(&nginx, "certs/client.pem"),
                .client_key = nginx_file(&nginx, "certs/client.key")});
    rig_expect_response(result, 200, NULL);
    result = get(
        rig, url,
        (errand_options_init){
            .client_certificate = nginx_file(&nginx, "certs/selfsigned.pem"),
            .client_key = nginx_file(&nginx, "certs/selfsigned.key")});
    rig_expect_status(result, ERRAND_TLS_CREDENTIALS);
    assert_true(
        bytes_contain(errand_payload_error_text(result->end.payload), "alert"));
    /* "certificate required" in 1.3; 1.2 has no word for it. */
    rig_expect_status(get(rig, url, (errand_options_init){0}),
                      i == 1 ? ERRAND_TLS_CREDENTIALS : ERRAND_TLS_FAILED);
    child_server_stop(server);
  }
}

/* Gives this process a session and a terminal of its own. */
static int take_terminal(void) {
  int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  const char *name =
      master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0
          ? ptsname(master)
          : NULL;
  int terminal = name && setsid() > 0 ? open(name, O_RDWR | O_CLOEXEC) : -1;
  return terminal >= 0 ? ioctl(terminal, TIOCSCTTY, 0) : -1;
}

static int run_all(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST(the_password_of_a_key),
      RIG_TEST(a_certificate_that_is_refused),
  };
  return cmocka_run_group_tests_name("tls_credentials", tests, nginx_set_up,
                                     nginx_tear_down);
}

/* A child, since the leader of a process group cannot have a new session. */
int main(void) {
  int status = -1;
  pid_t child = fork();
  if (child == 0)
    exit(take_terminal() == 0 ? run_all() : 99);
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
    return 99;
  return WEXITSTATUS(status);
}
