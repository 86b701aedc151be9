/* Proxies of every kind, with and without a password. */
#include "libcurl/curl_traits.h"
#include "support/nginx_fixture.h"
#include "support/rig.h"

#include <stdlib.h>
#include <string.h>

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
/* "ada:pw" */
#define BASIC "\r\nProxy-Authorization: Basic YWRhOnB3\r\n"

static const test_result *run(test_rig *rig, const char *url, const char *proxy,
                              const char *no_proxy) {
  errand_options *options = NULL;
  const char *ca = nginx_file(&nginx, "certs/ca.pem");
  errand_options_init init = {.ca_file = ca,
                              .proxy_policy = ERRAND_PROXY_URL,
                              .proxy_url = proxy,
                              .proxy_ca_file = ca,
                              .no_proxy = no_proxy};
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  errand_request request = rig_request("GET", url);
  request.options = options;
  const test_result *result = rig_run(rig, &request);
  errand_options_release(options);
  return result;
}

/* The scripted server as a proxy; `user` is "" or "user:password@". */
static const char *proxy_of(test_rig *rig, const char *scheme,
                            const char *user) {
  return text("%s://%s127.0.0.1:%u", scheme, user,
              errand_fault_server_port(rig->server));
}

static errand_fault_request last_seen(test_rig *rig) {
  errand_fault_request seen;
  uint64_t count = rig_counts(rig).requests;
  assert_true(count > 0);
  assert_true(errand_fault_server_request(rig->server, count - 1, &seen));
  return seen;
}

static const char *http_url(void) {
  return text("http://nowhere.invalid:%u/12b", nginx.ports[NGINX_HTTP]);
}

static const char *https_url(void) {
  return text("https://errand.test:%u/12b", nginx.ports[NGINX_TLS]);
}

static void a_password_for_an_http_proxy(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, NULL, ERRAND_FAULT_STEP(PROXY));
  rig_expect_response(
      run(rig, http_url(), proxy_of(rig, "http", "ada:pw@"), NULL), 200,
      "hello world\n");
  assert_non_null(strstr(last_seen(rig).head, BASIC));
  rig_expect_response(
      run(rig, https_url(), proxy_of(rig, "http", "ada:pw@"), NULL), 200,
      "hello world\n");
  assert_string_equal(last_seen(rig).method, "CONNECT");
  assert_non_null(strstr(last_seen(rig).head, BASIC));
  rig_expect_response(run(rig, http_url(), proxy_of(rig, "http", ""), NULL),
                      200, "hello world\n");
  assert_null(strstr(last_seen(rig).head, "Proxy-Authorization"));
}

/* The password is the proxy's alone: the server behind must not see it. */
static void the_password_stays_with_the_proxy(void **state) {
  test_rig *rig = *state;
  errand_fault_server *behind = NULL;
  const errand_fault_step ok[] = {ERRAND_FAULT_STEP_SEND(OK)};
  assert_int_equal(errand_fault_server_create(NULL, &behind), 0);
  errand_fault_server_on_path(behind, NULL, ok, 1);
  const errand_fault_step socks[] = {
      {.kind = ERRAND_FAULT_SOCKS5, .data = "ada:pw", .length = 6}};
  errand_fault_server_on_connection(rig->server, 0, socks, 1);
  const char *url =
      text("http://nowhere.invalid:%u/", errand_fault_server_port(behind));
  rig_expect_response(run(rig, url, proxy_of(rig, "socks5h", "ada:pw@"), NULL),
                      200, "ok");
  errand_fault_request seen;
  assert_true(errand_fault_server_request(behind, 0, &seen));
  assert_null(strstr(seen.head, "uthorization"));
  errand_fault_server_destroy(behind);
}

static void an_ipv6_literal_by_an_http_proxy(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, NULL, ERRAND_FAULT_STEP_SEND(OK));
  const test_result *result =
      run(rig, "http://[::1]:8080/", proxy_of(rig, "http", ""), NULL);
  if (errand__curl_does(ERRAND__CURL_LACKS_IPV6_BY_PROXY)) {
    rig_expect_status(result, ERRAND_UNSUPPORTED_FEATURE);
    return;
  }
  rig_expect_response(result, 200, "ok");
  assert_non_null(
      strstr(last_seen(rig).head, "GET http://[::1]:8080/ HTTP/1.1\r\n"));
}

static void a_refusal_without_a_tunnel_is_a_response(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, NULL,
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 407 Who\r\nContent-Length: 2\r\n"
                                "Proxy-Authenticate: Basic realm=x\r\n\r\nno"));
  rig_expect_response(
      run(rig, http_url(), proxy_of(rig, "http", "ada:pw@"), NULL), 407, "no");
}

/* TLS to the proxy itself: nginx answers the absolute target as a server. */
static void an_https_proxy(void **state) {
  test_rig *rig = *state;
  errand_features features;
  errand_features_read(&features);
  if (!(features.flags & ERRAND_FEATURE_HTTPS_PROXY))
    skip();
  const char *proxy = text("https://127.0.0.1:%u", nginx.ports[NGINX_TLS]);
  rig_expect_response(run(rig, http_url(), proxy, NULL), 200, "hello world\n");
  /* Its certificate is checked like a server's. */
  proxy = text("https://127.0.0.1:%u", nginx.ports[NGINX_SELFSIGNED]);
  const test_result *result = run(rig, http_url(), proxy, NULL);
  if (result->end.status != ERRAND_TLS_UNTRUSTED)
    rig_expect_status(result, ERRAND_PROXY_FAILED);
}

/* What is asked of a server is not asked of the proxy, nor is what is trusted
   for the one trusted for the other. */
static void an_https_proxy_is_judged_by_itself(void **state) {
  test_rig *rig = *state;
  errand_features features;
  errand_features_read(&features);
  if (!(features.flags & ERRAND_FEATURE_HTTPS_PROXY))
    skip();
  const char *ca = nginx_file(&nginx, "certs/ca.pem");
  errand_options_init init = {
      .tls_minimum = ERRAND_TLS_1_3,
      .proxy_policy = ERRAND_PROXY_URL,
      .proxy_url = text("https://127.0.0.1:%u", nginx.ports[NGINX_TLS12]),
      .proxy_ca_file = ca};
  for (int i = 0; i < 2; i++) {
    errand_options *options = NULL;
    assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
    errand_request request = rig_request("GET", http_url());
    request.options = options;
    const test_result *result = rig_run(rig, &request);
    errand_options_release(options);
    if (i == 0)
      rig_expect_response(result, 200, "hello world\n");
    else if (result->end.status != ERRAND_TLS_UNTRUSTED)
      rig_expect_status(result, ERRAND_PROXY_FAILED);
    init.ca_file = ca;
    init.proxy_ca_file = NULL;
  }
}

static void socks5_names_the_host_by_either_side(void **state) {
  test_rig *rig = *state;
  const errand_fault_step socks[] = {ERRAND_FAULT_STEP(SOCKS5)};
  errand_fault_server_on_connection(rig->server, 0, socks, 1);
  rig_expect_response(run(rig, http_url(), proxy_of(rig, "socks5h", ""), NULL),
                      200, "hello world\n");
  assert_string_equal(last_seen(rig).method, "DOMAIN");
  assert_string_equal(last_seen(rig).target,
                      text("nowhere.invalid:%u", nginx.ports[NGINX_HTTP]));
  rig_expect_response(
      run(rig, text("http://localhost:%u/12b", nginx.ports[NGINX_HTTP]),
          proxy_of(rig, "socks5", ""), NULL),
      200, "hello world\n");
  assert_string_not_equal(last_seen(rig).method, "DOMAIN");
  uint64_t asked = rig_counts(rig).requests;
  rig_expect_status(run(rig, http_url(), proxy_of(rig, "socks5", ""), NULL),
                    ERRAND_RESOLVE_FAILED);
  assert_int_equal(rig_counts(rig).requests, asked);
  rig_expect_response(run(rig, https_url(), proxy_of(rig, "socks5h", ""), NULL),
                      200, "hello world\n");
}

static void socks5_with_a_password(void **state) {
  test_rig *rig = *state;
  const errand_fault_step socks[] = {
      {.kind = ERRAND_FAULT_SOCKS5, .data = "ada:pw", .length = 6}};
  errand_fault_server_on_connection(rig->server, 0, socks, 1);
  rig_expect_response(
      run(rig, http_url(), proxy_of(rig, "socks5h", "ada:pw@"), NULL), 200,
      "hello world\n");
  rig_expect_status(
      run(rig, http_url(), proxy_of(rig, "socks5h", "ada:no@"), NULL),
      ERRAND_PROXY_FAILED);
  rig_expect_status(run(rig, http_url(), proxy_of(rig, "socks5h", ""), NULL),
                    ERRAND_PROXY_FAILED);
}

/* libcurl keeps the state of the handshake in the receive buffer of the request
   (before 8.5, lib/socks.c), which bodies of other requests must not touch. */
static void socks5_handshakes_beside_bodies(void **state) {
  enum { COUNT = 8 };
  test_rig *rig = *state;
  const errand_fault_step socks = {.kind = ERRAND_FAULT_SOCKS5,
                                   .milliseconds = 50};
  errand_options *options = NULL;
  errand_options_init init = {.proxy_policy = ERRAND_PROXY_URL,
                              .proxy_url = proxy_of(rig, "socks5h", "")};
  errand_request all[2 * COUNT];
  errand_fault_server_on_connection(rig->server, 0, &socks, 1);
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  for (int i = 0; i < COUNT; i++) {
    const char *host = i % 2 ? "nowhere.invalid" : "elsewhere.invalid";
    const char *url =
        text("http://%d.%s:%u/12b", i, host, nginx.ports[NGINX_HTTP]);
    all[2 * i] = rig_request("GET", url);
    all[2 * i].options = options;
    all[2 * i + 1] = rig_request("GET", nginx_url(&nginx, NGINX_HTTP, "/1m"));
  }
  rig->accepted += errand_submit(rig->group, all, 2 * COUNT);
  for (int i = 0; i < COUNT; i++) {
    rig_expect_response(collector_wait(&rig->collector, all[2 * i].id), 200,
                        "hello world\n");
    rig_expect_response(collector_wait(&rig->collector, all[2 * i + 1].id), 200,
                        NULL);
  }
  errand_options_release(options);
}

static void socks5_that_fails(void **state) {
  test_rig *rig = *state;
  errand_fault_port *port = NULL;
  assert_int_equal(errand_fault_port_create(ERRAND_FAULT_PORT_REFUSED, &port),
                   0);
  const errand_fault_step socks[] = {ERRAND_FAULT_STEP(SOCKS5)};
  const errand_fault_step garbage[] = {ERRAND_FAULT_STEP_SEND("garbage"),
                                       ERRAND_FAULT_STEP(FINISH)};
  const errand_fault_step reset[] = {ERRAND_FAULT_STEP_READ_BYTES(3),
                                     ERRAND_FAULT_STEP(RESET)};
  errand_fault_server_on_connection(rig->server, 1, socks, 1);
  errand_fault_server_on_connection(rig->server, 2, garbage, 2);
  errand_fault_server_on_connection(rig->server, 3, reset, 2);
  const char *refused =
      text("http://nowhere.invalid:%u/", errand_fault_port_number(port));
  for (int i = 0; i < 3; i++)
    rig_expect_status(run(rig, refused, proxy_of(rig, "socks5h", ""), NULL),
                      ERRAND_PROXY_FAILED);
  errand_fault_port_destroy(port);
}

static void hosts_without_the_proxy(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, NULL, ERRAND_FAULT_STEP_SEND(OK));
  const char *direct = nginx_url(&nginx, NGINX_HTTP, "/12b");
  const char *proxy = proxy_of(rig, "http", "");
  static const char *const past[] = {"127.0.0.1", "a.test,127.0.0.1", "*"};
  for (size_t i = 0; i < COUNT_OF(past); i++)
    rig_expect_response(run(rig, direct, proxy, past[i]), 200, "hello world\n");
  assert_int_equal(rig_counts(rig).requests, 0);
  rig_expect_response(run(rig, direct, proxy, "a.test,0.0.1"), 200, "ok");
  rig_expect_response(run(rig, "http://x.a.test/", proxy, "b.test"), 200, "ok");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST(a_password_for_an_http_proxy),
      RIG_TEST(the_password_stays_with_the_proxy),
      RIG_TEST(an_ipv6_literal_by_an_http_proxy),
      RIG_TEST(a_refusal_without_a_tunnel_is_a_response),
      RIG_TEST(an_https_proxy),
      RIG_TEST(an_https_proxy_is_judged_by_itself),
      RIG_TEST(socks5_names_the_host_by_either_side),
      RIG_TEST(socks5_with_a_password),
      RIG_TEST_ONE_LOOP(socks5_handshakes_beside_bodies),
      RIG_TEST(socks5_that_fails),
      RIG_TEST(hosts_without_the_proxy),
  };
  return cmocka_run_group_tests_name("proxy", tests, nginx_set_up,
                                     nginx_tear_down);
}
