/* Certificates: whom to trust, whom to show, which to pin. */
#include "support/nginx_fixture.h"
#include "support/rig.h"

#include <stdio.h>
#include <string.h>

/* Runs a GET with these options, which trust the CA unless they say more. */
static const test_result *get(test_rig *rig, const char *url,
                              errand_options_init init) {
  errand_options *options = NULL;
  if (init.ca_file == NULL)
    init.ca_file = nginx_file(&nginx, "certs/ca.pem");
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  errand_request request = rig_request("GET", url);
  request.options = options;
  const test_result *result = rig_run(rig, &request);
  errand_options_release(options);
  return result;
}

static const char *port(nginx_port which) {
  return nginx_url(&nginx, which, "/12b");
}

static void a_valid_certificate(void **state) {
  test_rig *rig = *state;
  const test_result *result =
      get(rig, port(NGINX_TLS), (errand_options_init){0});
  rig_expect_response(result, 200, "hello world\n");
  assert_true(result->end.timings.secured > 0);
  rig_expect_response(
      get(rig, text("https://localhost:%u/12b", nginx.ports[NGINX_TLS]),
          (errand_options_init){.tls_minimum = ERRAND_TLS_1_3}),
      200, "hello world\n");
}

static void a_server_of_an_old_version(void **state) {
  test_rig *rig = *state;
  rig_expect_response(get(rig, port(NGINX_TLS12), (errand_options_init){0}),
                      200, "hello world\n");
  rig_expect_status(get(rig, port(NGINX_TLS12),
                        (errand_options_init){.tls_minimum = ERRAND_TLS_1_3}),
                    ERRAND_TLS_FAILED);
}

static void certificates_not_to_be_trusted(void **state) {
  test_rig *rig = *state;
  static const nginx_port ports[] = {NGINX_EXPIRED, NGINX_SELFSIGNED,
                                     NGINX_WRONGHOST};
  for (size_t i = 0; i < COUNT_OF(ports); i++) {
    const test_result *result =
        get(rig, port(ports[i]), (errand_options_init){0});
    rig_expect_status(result, ERRAND_TLS_UNTRUSTED);
    assert_int_equal(result->end.http_status, 0);
    assert_true(errand_payload_error_text(result->end.payload).length > 0);
  }
  /* The system's bundle does not know our CA. */
  rig_expect_status(rig_get(rig, port(NGINX_TLS)), ERRAND_TLS_UNTRUSTED);
}

static void what_is_insecure_has_to_be_said(void **state) {
  test_rig *rig = *state;
  rig_expect_response(
      get(rig, port(NGINX_SELFSIGNED),
          (errand_options_init){.insecure_accept_any_certificate = 1}),
      200, NULL);
  rig_expect_response(
      get(rig, port(NGINX_WRONGHOST),
          (errand_options_init){.insecure_accept_any_host_name = 1}),
      200, NULL);
  /* Each lifts one check alone. */
  rig_expect_status(
      get(rig, port(NGINX_SELFSIGNED),
          (errand_options_init){.insecure_accept_any_host_name = 1}),
      ERRAND_TLS_UNTRUSTED);
  /* And neither leaks to requests with other options on that origin. */
  rig_expect_status(get(rig, port(NGINX_SELFSIGNED), (errand_options_init){0}),
                    ERRAND_TLS_UNTRUSTED);
}

static void plain_text_where_tls_was_expected(void **state) {
  test_rig *rig = *state;
  const errand_fault_step steps[] = {
      ERRAND_FAULT_STEP_SEND("HTTP/1.1 400 Bad Request\r\n\r\n"),
      ERRAND_FAULT_STEP(FINISH)};
  errand_fault_server_on_connection(rig->server, 0, steps, 2);
  rig_expect_status(rig_get(rig, text("https://127.0.0.1:%u/",
                                      errand_fault_server_port(rig->server))),
                    ERRAND_TLS_FAILED);
}

static void a_handshake_that_breaks_off(void **state) {
  test_rig *rig = *state;
  const errand_fault_step fin[] = {ERRAND_FAULT_STEP(FINISH)};
  const errand_fault_step reset[] = {ERRAND_FAULT_STEP_READ_BYTES(10),
                                     ERRAND_FAULT_STEP(RESET)};
  errand_fault_server_on_connection(rig->server, 1, fin, 1);
  errand_fault_server_on_connection(rig->server, 2, reset, 2);
  const char *url =
      text("https://127.0.0.1:%u/", errand_fault_server_port(rig->server));
  rig_expect_status(rig_get(rig, url), ERRAND_TLS_FAILED);
  rig_expect_status(rig_get(rig, url), ERRAND_TLS_FAILED);
}

static void pins(void **state) {
  test_rig *rig = *state;
  char pin[128] = "";
  FILE *file = fopen(nginx_file(&nginx, "certs/valid.pin"), "r");
  assert_non_null(file);
  assert_non_null(fgets(pin, sizeof pin, file));
  fclose(file);
  static const char other[] =
      "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
  rig_expect_response(
      get(rig, port(NGINX_TLS), (errand_options_init){.pinned_keys = pin}), 200,
      NULL);
  rig_expect_response(
      get(rig, port(NGINX_TLS),
          (errand_options_init){.pinned_keys = text("%s;%s", other, pin)}),
      200, NULL);
  rig_expect_status(
      get(rig, port(NGINX_TLS), (errand_options_init){.pinned_keys = other}),
      ERRAND_TLS_PIN_MISMATCH);
}

static void client_certificates(void **state) {
  test_rig *rig = *state;
  const char *url = nginx_url(&nginx, NGINX_CLIENTCERT, "/echo");
  const test_result *result =
      get(rig, url,
          (errand_options_init){
              .client_certificate = nginx_file(&nginx, "certs/client.pem"),
              .client_key = nginx_file(&nginx, "certs/client.key")});
  rig_expect_response(result, 200, NULL);
  assert_true(bytes_contain(errand_payload_body(result->end.payload),
                            "client: CN=errand test client"));
  /* Without one: its own connection, not the one that showed one. */
  result = get(rig, url, (errand_options_init){0});
  rig_expect_response(result, 400, NULL);
  /* A key that does not belong to the certificate. */
  result = get(rig, url,
               (errand_options_init){
                   .client_certificate = nginx_file(&nginx, "certs/client.pem"),
                   .client_key = nginx_file(&nginx, "certs/valid.key")});
  rig_expect_status(result, ERRAND_TLS_CREDENTIALS);
  /* A CA file that is none. */
  result = get(rig, url,
               (errand_options_init){.ca_file = nginx_file(&nginx, "www/64k")});
  rig_expect_status(result, ERRAND_TLS_CREDENTIALS);
}

/* Core facts 2: with libcurl's default CA path a handshake costs 20 ms. */
static void handshakes_are_cheap(void **state) {
  test_rig *rig = *state;
  errand_options_init init = {.ca_file = nginx_file(&nginx, "certs/ca.pem")};
  errand_options *options = NULL;
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  errand_request request = rig_request("GET", port(NGINX_TLS));
  request.options = options;
  request.flags = ERRAND_REQUEST_FRESH_CONNECTION;
  rig_expect_response(rig_run(rig, &request), 200, NULL);
  for (int i = 0; i < 20; i++)
    rig_expect_response(rig_run(rig, &request), 200, NULL);
  errand_options_release(options);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST(a_valid_certificate),
      RIG_TEST(a_server_of_an_old_version),
      RIG_TEST(certificates_not_to_be_trusted),
      RIG_TEST_ONE_LOOP(what_is_insecure_has_to_be_said),
      RIG_TEST(plain_text_where_tls_was_expected),
      RIG_TEST(a_handshake_that_breaks_off),
      RIG_TEST(pins),
      RIG_TEST_ONE_LOOP(client_certificates),
      RIG_TEST(handshakes_are_cheap),
  };
  return cmocka_run_group_tests_name("tls", tests, nginx_set_up,
                                     nginx_tear_down);
}
