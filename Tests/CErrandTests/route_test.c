/* Ways to the server: proxies, unix sockets, given addresses. */
#include "support/dns_interposer.h"
#include "support/nginx_fixture.h"
#include "support/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

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

static errand_options_init by_proxy(test_rig *rig) {
  return (errand_options_init){
      .proxy_policy = ERRAND_PROXY_URL,
      .proxy_url =
          text("http://127.0.0.1:%u", errand_fault_server_port(rig->server))};
}

static void a_proxy_forwards_http(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, NULL, ERRAND_FAULT_STEP(PROXY));
  const char *url =
      text("http://nowhere.invalid:%u/echo", nginx.ports[NGINX_HTTP]);
  const test_result *result = get(rig, url, by_proxy(rig));
  rig_expect_response(result, 200, NULL);
  assert_true(
      bytes_contain(errand_payload_body(result->end.payload),
                    text("host: nowhere.invalid:%u", nginx.ports[NGINX_HTTP])));
  errand_fault_request seen;
  assert_true(errand_fault_server_request(rig->server, 0, &seen));
  assert_string_equal(seen.target, url);
}

static void a_proxy_tunnels_https(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, NULL, ERRAND_FAULT_STEP(PROXY));
  const char *url = text("https://errand.test:%u/echo", nginx.ports[NGINX_TLS]);
  const test_result *result = get(rig, url, by_proxy(rig));
  rig_expect_response(result, 200, NULL);
  assert_true(bytes_contain(errand_payload_body(result->end.payload),
                            "sni: errand.test"));
  assert_false(
      bytes_contain(errand_payload_head(result->end.payload), "established"));
  errand_fault_request seen;
  assert_true(errand_fault_server_request(rig->server, 0, &seen));
  assert_string_equal(seen.method, "CONNECT");
  assert_string_equal(seen.target,
                      text("errand.test:%u", nginx.ports[NGINX_TLS]));
}

static void proxies_that_refuse_or_fail(void **state) {
  test_rig *rig = *state;
  const char *url = text("https://errand.test:%u/", nginx.ports[NGINX_TLS]);
  RIG_ON(rig, NULL,
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 407 Who\r\nContent-Length: 0\r\n"
                                "Proxy-Authenticate: Basic realm=x\r\n\r\n"));
  RIG_ON(
      rig, NULL,
      ERRAND_FAULT_STEP_SEND("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"));
  RIG_ON(rig, NULL, ERRAND_FAULT_STEP_SEND("garbage\r\n\r\n"),
         ERRAND_FAULT_STEP(FINISH));
  RIG_ON(rig, NULL, ERRAND_FAULT_STEP(RESET));
  for (int i = 0; i < 4; i++)
    rig_expect_status(get(rig, url, by_proxy(rig)), ERRAND_PROXY_FAILED);
  errand_fault_port *port = NULL;
  assert_int_equal(errand_fault_port_create(ERRAND_FAULT_PORT_REFUSED, &port),
                   0);
  const test_result *result = get(
      rig, url,
      (errand_options_init){.proxy_policy = ERRAND_PROXY_URL,
                            .proxy_url = text("http://127.0.0.1:%u",
                                              errand_fault_port_number(port))});
  if (result->end.status != ERRAND_PROXY_FAILED)
    rig_expect_status(result, ERRAND_CONNECT_FAILED);
  errand_fault_port_destroy(port);
}

static void the_environment_is_asked_only_on_request(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, NULL, ERRAND_FAULT_STEP_SEND(OK));
  setenv("http_proxy",
         text("http://127.0.0.1:%u", errand_fault_server_port(rig->server)), 1);
  setenv("no_proxy", "direct.invalid", 1);
  const char *url = nginx_url(&nginx, NGINX_HTTP, "/12b");
  rig_expect_response(get(rig, url, (errand_options_init){0}), 200,
                      "hello world\n");
  rig_expect_response(
      get(rig, url,
          (errand_options_init){.proxy_policy = ERRAND_PROXY_ENVIRONMENT}),
      200, "ok");
  unsetenv("http_proxy");
  unsetenv("no_proxy");
  assert_int_equal(rig_counts(rig).requests, 1);
}

static void some_hosts_go_without_the_proxy(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, NULL, ERRAND_FAULT_STEP_SEND(OK));
  errand_options_init init = by_proxy(rig);
  init.no_proxy = "other.test,127.0.0.1";
  rig_expect_response(get(rig, nginx_url(&nginx, NGINX_HTTP, "/12b"), init),
                      200, "hello world\n");
  assert_int_equal(rig_counts(rig).requests, 0);
}

static void a_unix_socket(void **state) {
  test_rig *rig = *state;
  const test_result *result =
      get(rig, "http://in-a-file.test/echo",
          (errand_options_init){.unix_socket_path =
                                    nginx_file(&nginx, "nginx.sock")});
  rig_expect_response(result, 200, NULL);
  assert_true(bytes_contain(errand_payload_body(result->end.payload),
                            "host: in-a-file.test\n"));
  rig_expect_status(
      get(rig, "http://in-a-file.test/",
          (errand_options_init){.unix_socket_path = "/tmp/no-such.sock"}),
      ERRAND_CONNECT_FAILED);
}

/* Requests that differ in the socket alone must not share a connection. */
static void two_unix_sockets_are_two_origins(void **state) {
  test_rig *rig = *state;
  char path[64];
  snprintf(path, sizeof path, "/tmp/errand-route-%d.sock", (int) getpid());
  errand_fault_server *local = NULL;
  assert_int_equal(errand_fault_server_create(path, &local), 0);
  const errand_fault_step steps[] = {ERRAND_FAULT_STEP_SEND(OK)};
  errand_fault_server_on_path(local, NULL, steps, 1);
  for (int i = 0; i < 3; i++) {
    rig_expect_response(
        get(rig, "http://same.test/12b",
            (errand_options_init){.unix_socket_path =
                                      nginx_file(&nginx, "nginx.sock")}),
        200, "hello world\n");
    rig_expect_response(get(rig, "http://same.test/12b",
                            (errand_options_init){.unix_socket_path = path}),
                        200, "ok");
  }
  assert_int_equal(errand_group_destroy(rig->group), ERRAND_OK);
  rig->group = NULL;
  errand_fault_server_destroy(local);
}

static void given_addresses_keep_host_and_sni(void **state) {
  test_rig *rig = *state;
  const char *entry = text("errand.test:%u:127.0.0.1", nginx.ports[NGINX_TLS]);
  const test_result *result =
      get(rig, text("https://errand.test:%u/echo", nginx.ports[NGINX_TLS]),
          (errand_options_init){.resolve = &entry, .resolve_count = 1});
  rig_expect_response(result, 200, NULL);
  errand_bytes body = errand_payload_body(result->end.payload);
  assert_true(bytes_contain(
      body, text("host: errand.test:%u\n", nginx.ports[NGINX_TLS])));
  assert_true(bytes_contain(body, "sni: errand.test\n"));
  const char *http = text("a.invalid:%u:127.0.0.1", nginx.ports[NGINX_HTTP]);
  rig_expect_response(
      get(rig, text("http://a.invalid:%u/12b", nginx.ports[NGINX_HTTP]),
          (errand_options_init){.resolve = &http, .resolve_count = 1}),
      200, "hello world\n");
}

static void another_place_keeps_host_sni_and_certificate(void **state) {
  test_rig *rig = *state;
  const char *url = "https://errand.test:1/echo";
  const test_result *result =
      get(rig, url,
          (errand_options_init){
              .connect_to = text("127.0.0.1:%u", nginx.ports[NGINX_TLS])});
  rig_expect_response(result, 200, NULL);
  errand_bytes body = errand_payload_body(result->end.payload);
  assert_true(bytes_contain(body, "host: errand.test:1\n"));
  assert_true(bytes_contain(body, "sni: errand.test\n"));
  rig_expect_status(get(rig, url,
                        (errand_options_init){
                            .connect_to = text("127.0.0.1:%u",
                                               nginx.ports[NGINX_WRONGHOST])}),
                    ERRAND_TLS_UNTRUSTED);
}

static void where_a_connection_begins(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  static const char *const good[] = {"127.0.0.1", "127.0.0.2", "lo"};
  for (size_t i = 0; i < COUNT_OF(good); i++)
    rig_expect_response(get(rig, rig_url(rig, "/"),
                            (errand_options_init){.local_interface = good[i]}),
                        200, "ok");
  rig_expect_status(get(rig, rig_url(rig, "/"),
                        (errand_options_init){.local_interface = "192.0.2.1"}),
                    ERRAND_CONNECT_FAILED);
  errand_options *options = NULL;
  errand_options_init init = {.local_interface = "::1"};
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  errand_options_release(options);
}

/* libcurl would take it for a host name, and ask for it on the loop. */
static void what_is_no_interface_is_refused(void **state) {
  (void) state;
  static const char *const bad[] = {"hang.test", "localhost", "eth99",
                                    "if!lo",     "host!x",    "[::1]",
                                    "127.0.0.1 "};
  int asked_before = dns_calls();
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    errand_options *options = NULL;
    errand_options_init init = {.local_interface = bad[i]};
    assert_int_equal(errand_options_create(&init, &options),
                     ERRAND_INVALID_OPTION);
    assert_null(options);
  }
  assert_int_equal(dns_calls(), asked_before);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST(a_proxy_forwards_http),
      RIG_TEST(a_proxy_tunnels_https),
      RIG_TEST(proxies_that_refuse_or_fail),
      RIG_TEST(the_environment_is_asked_only_on_request),
      RIG_TEST(some_hosts_go_without_the_proxy),
      RIG_TEST(a_unix_socket),
      RIG_TEST_ONE_LOOP(two_unix_sockets_are_two_origins),
      RIG_TEST(given_addresses_keep_host_and_sni),
      RIG_TEST(another_place_keeps_host_sni_and_certificate),
      RIG_TEST(where_a_connection_begins),
      RIG_TEST(what_is_no_interface_is_refused),
  };
  return cmocka_run_group_tests_name("route", tests, nginx_set_up,
                                     nginx_tear_down);
}
