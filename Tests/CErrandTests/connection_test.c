/* CONNECTED: which connection carries a request, told to those who ask. */
#include "support/nginx_fixture.h"
#include "support/rig.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

static const test_result *get(test_rig *rig, const char *url, uint32_t flags,
                              errand_options *options) {
  errand_request request = rig_request("GET", url);
  request.flags = ERRAND_REQUEST_REPORT_CONNECTION | flags;
  request.options = options;
  return rig_run(rig, &request);
}

/* The same with options that trust the CA of the tests unless they say more. */
static const test_result *get_with(test_rig *rig, const char *url,
                                   errand_options_init init) {
  errand_options *options = NULL;
  if (init.ca_file == NULL)
    init.ca_file = nginx_file(&nginx, "certs/ca.pem");
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  const test_result *result = get(rig, url, 0, options);
  errand_options_release(options);
  return result;
}

static const char *lines_of(const test_result *result) {
  assert_non_null(result->connected.payload);
  return bytes_text(errand_payload_head(result->connected.payload));
}

/* The value of the first line with that name; "" where there is none. */
static const char *value_of(const test_result *result, const char *name) {
  const char *lines = text("\n%s", lines_of(result));
  const char *line = strstr(lines, text("\n%s: ", name));
  if (line == NULL)
    return "";
  line += strlen(name) + 3;
  return text("%.*s", (int) strcspn(line, "\r"), line);
}

static void nobody_asked_nothing_told(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  const test_result *result = rig_get(rig, rig_url(rig, "/"));
  rig_expect_response(result, 200, "ok");
  assert_string_equal(result->kinds, "e");
}

static void in_clear_text(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  const test_result *first = get(rig, rig_url(rig, "/"), 0, NULL);
  rig_expect_response(first, 200, "ok");
  assert_string_equal(first->kinds, "Ce");
  assert_int_equal(first->connected.flags & ERRAND_RECORD_REUSED, 0);
  assert_true(first->connected.timings.connected > 0);
  assert_int_equal(first->connected.timings.secured, 0);
  assert_string_equal(lines_of(first), "");
  assert_string_equal(
      bytes_text(errand_payload_remote_address(first->connected.payload)),
      text("127.0.0.1:%u", errand_fault_server_port(rig->server)));
  const char *local = text(
      "%s", bytes_text(errand_payload_local_address(first->connected.payload)));
  const test_result *second = get(rig, rig_url(rig, "/"), 0, NULL);
  assert_int_equal(second->connected.flags, ERRAND_RECORD_REUSED);
  assert_int_equal(second->connected.timings.connected, 0);
  assert_string_equal(
      bytes_text(errand_payload_local_address(second->connected.payload)),
      local);
}

static void before_the_events_of_sending(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  const test_result *result =
      get(rig, rig_url(rig, "/"), ERRAND_REQUEST_REPORT_EVENTS, NULL);
  rig_expect_response(result, 200, "ok");
  assert_string_equal(result->kinds, "SCshe");
}

static void each_connection_of_a_replay(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(CLOSE));
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  rig_expect_response(rig_get(rig, rig_url(rig, "/")), 200, "ok");
  const test_result *result = get(rig, rig_url(rig, "/"), 0, NULL);
  rig_expect_response(result, 200, "ok");
  assert_true(result->end.flags & ERRAND_RECORD_REPLAYED);
  assert_int_equal(result->connections, 2);
  assert_int_equal(result->connected.flags & ERRAND_RECORD_REUSED, 0);
}

static void a_session_and_its_certificate(void **state) {
  test_rig *rig = *state;
  const test_result *result =
      get_with(rig, nginx_url(&nginx, NGINX_TLS, "/12b"),
               (errand_options_init){.http_policy = ERRAND_HTTP_1_1});
  rig_expect_response(result, 200, "hello world\n");
  assert_true(result->connected.timings.secured > 0);
  assert_string_equal(value_of(result, "tls-version"), "TLSv1.3");
  assert_int_equal(strncmp(value_of(result, "tls-cipher"), "TLS_", 4), 0);
  assert_string_equal(value_of(result, "tls-protocol"), "http/1.1");
  assert_string_equal(value_of(result, "tls-error"), "");
  assert_string_equal(value_of(result, "proxy"), "");
  assert_string_equal(value_of(result, "subject"), "CN=errand test valid");
  assert_string_equal(value_of(result, "issuer"), "CN=errand test CA");
  long long now = (long long) time(NULL);
  assert_true(strtoll(value_of(result, "not-before"), NULL, 10) <= now);
  assert_true(strtoll(value_of(result, "not-after"), NULL, 10) > now);
  assert_int_equal(strlen(value_of(result, "sha256")), 64);
  assert_non_null(strstr(lines_of(result),
                         "name: DNS:localhost\r\nname: DNS:errand.test\r\n"
                         "name: IP:127.0.0.1\r\n"));
  result = get_with(rig, nginx_url(&nginx, NGINX_TLS12, "/12b"),
                    (errand_options_init){0});
  assert_string_equal(value_of(result, "tls-version"), "TLSv1.2");
}

static void a_kept_session(void **state) {
  test_rig *rig = *state;
  errand_options *options = NULL;
  errand_options_init init = {.ca_file = nginx_file(&nginx, "certs/ca.pem")};
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  const char *url = nginx_url(&nginx, NGINX_TLS, "/12b");
  const char *lines = text("%s", lines_of(get(rig, url, 0, options)));
  const test_result *second = get(rig, url, 0, options);
  assert_int_equal(second->connected.flags, ERRAND_RECORD_REUSED);
  assert_string_equal(lines_of(second), lines);
  unsigned resumed = 0;
  for (int i = 0; i < 4; i++) {
    const test_result *fresh =
        get(rig, url, ERRAND_REQUEST_FRESH_CONNECTION, options);
    resumed += strcmp(value_of(fresh, "tls-resumed"), "1") == 0;
    assert_string_equal(value_of(fresh, "subject"), "CN=errand test valid");
  }
  assert_true(resumed > 0);
  errand_options_release(options);
}

static void a_certificate_that_is_not_trusted(void **state) {
  test_rig *rig = *state;
  const char *url = nginx_url(&nginx, NGINX_SELFSIGNED, "/12b");
  const test_result *result = get_with(rig, url, (errand_options_init){0});
  rig_expect_status(result, ERRAND_TLS_UNTRUSTED);
  assert_int_equal(result->connections, 0);
  result = get_with(
      rig, url, (errand_options_init){.insecure_accept_any_certificate = 1});
  rig_expect_response(result, 200, NULL);
  assert_non_null(strstr(value_of(result, "tls-error"), "self"));
  assert_string_equal(value_of(result, "subject"), "CN=localhost");
}

static void a_proxy_without_its_password(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, NULL, ERRAND_FAULT_STEP(PROXY));
  uint16_t port = errand_fault_server_port(rig->server);
  errand_options_init init = {.proxy_policy = ERRAND_PROXY_URL,
                              .proxy_url =
                                  text("http://ada:pw@127.0.0.1:%u", port)};
  const char *shown = text("http://127.0.0.1:%u", port);
  const test_result *result = get_with(
      rig, text("http://nowhere.invalid:%u/12b", nginx.ports[NGINX_HTTP]),
      init);
  rig_expect_response(result, 200, "hello world\n");
  assert_string_equal(value_of(result, "proxy"), shown);
  assert_string_equal(value_of(result, "tls-version"), "");
  result = get_with(
      rig, text("https://errand.test:%u/12b", nginx.ports[NGINX_TLS]), init);
  rig_expect_response(result, 200, "hello world\n");
  assert_string_equal(value_of(result, "proxy"), shown);
  assert_string_equal(value_of(result, "subject"), "CN=errand test valid");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST(nobody_asked_nothing_told),
      RIG_TEST_ONE_LOOP(in_clear_text),
      RIG_TEST(before_the_events_of_sending),
      RIG_TEST_ONE_LOOP(each_connection_of_a_replay),
      RIG_TEST(a_session_and_its_certificate),
      RIG_TEST_ONE_LOOP(a_kept_session),
      RIG_TEST(a_certificate_that_is_not_trusted),
      RIG_TEST(a_proxy_without_its_password),
  };
  return cmocka_run_group_tests_name("connection", tests, nginx_set_up,
                                     nginx_tear_down);
}
