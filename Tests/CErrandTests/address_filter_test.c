/* The address filter: before each connect, and before a request is sent on a
   kept connection. */
#include "support/dns_interposer.h"
#include "support/nginx_fixture.h"
#include "support/rig.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

/* Read and written between requests, which have one loop. */
static struct {
  char asked[512];  /* "127.0.0.1:80 127.0.0.1:80 ", as the filter was asked */
  char open[128];   /* "01", `is_open` of each question */
  char refuses[64]; /* this address, "*" for all, "unknown", "" for none */
  int times;        /* that often */
  const char *reason;
  uint64_t tag;
  bool was_dirty; /* a reason was not empty */
} filter;

typedef int (*peer_function)(int, __SOCKADDR_ARG, socklen_t *restrict);

static _Atomic bool peers_are_gone;

/* Found before libc's by libcurl because the executable exports it. */
int getpeername(int fd, __SOCKADDR_ARG address, socklen_t *restrict length) {
  if (peers_are_gone) {
    errno = ENOTCONN;
    return -1;
  }
  return ((peer_function) dlsym(RTLD_NEXT, "getpeername"))(fd, address, length);
}

static int judge(void *context, uint64_t tag, const errand_address *address,
                 char *reason) {
  (void) context;
  char ip[INET6_ADDRSTRLEN] = "unknown";
  if (address->family == AF_UNIX)
    snprintf(ip, sizeof ip, "unix");
  else
    inet_ntop(address->family, address->bytes, ip, sizeof ip);
  size_t length = strlen(filter.asked);
  snprintf(filter.asked + length, sizeof filter.asked - length, "%s:%u ", ip,
           (unsigned) address->port);
  length = strlen(filter.open);
  snprintf(filter.open + length, sizeof filter.open - length, "%u",
           (unsigned) address->is_open);
  filter.tag = tag;
  filter.was_dirty |= reason[0] != '\0';
  if (filter.times == 0 ||
      (strcmp(filter.refuses, "*") != 0 && strcmp(filter.refuses, ip) != 0))
    return 0;
  filter.times--;
  snprintf(reason, ERRAND_REASON_MAX, "%s", filter.reason);
  return 1;
}

static void refuse(const char *address, int times) {
  snprintf(filter.refuses, sizeof filter.refuses, "%s", address);
  filter.times = times;
  filter.reason = "not today";
  filter.asked[0] = filter.open[0] = '\0';
}

static int set_up(void **state) {
  refuse("", 0);
  peers_are_gone = false;
  return rig_set_up_with(
      state, (errand_group_init){.loops = 1, .address_filter = judge});
}

static void expect_asked(const char *expected) {
  assert_string_equal(filter.asked, expected);
  assert_false(filter.was_dirty);
  filter.asked[0] = '\0';
}

static void expect_refused(const test_result *result, const char *words) {
  rig_expect_status(result, ERRAND_ADDRESS_REFUSED);
  assert_string_equal(
      bytes_text(errand_payload_error_text(result->end.payload)), words);
}

static const test_result *get(test_rig *rig, const char *url,
                              errand_options_init init) {
  errand_options *options = NULL;
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  errand_request request = rig_request("GET", url);
  request.options = options;
  const test_result *result = rig_run(rig, &request);
  errand_options_release(options);
  return result;
}

static const char *own(test_rig *rig) {
  return text("127.0.0.1:%u ", errand_fault_server_port(rig->server));
}

static void a_new_connection(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  errand_request request = rig_request("GET", rig_url(rig, "/"));
  request.tag = 77;
  refuse("*", 1);
  expect_refused(rig_run(rig, &request),
                 text("the address filter refused 127.0.0.1:%u (not today)",
                      errand_fault_server_port(rig->server)));
  assert_int_equal(filter.tag, 77);
  expect_asked(own(rig));
  assert_int_equal(rig_counts(rig).connections, 0);
  /* Once for the connect, once for the request on the connection. */
  rig_expect_response(rig_run(rig, &request), 200, "ok");
  expect_asked(text("%s%s", own(rig), own(rig)));
  assert_int_equal(rig_counts(rig).connections, 1);
}

/* Who counts takes the two questions about a connect for one. */
static void the_second_question_about_a_connect(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  rig_expect_response(rig_get(rig, rig_url(rig, "/")), 200, "ok");
  assert_string_equal(filter.open, "01");
  rig_expect_response(rig_get(rig, rig_url(rig, "/")), 200, "ok");
  assert_string_equal(filter.open, "010");
  /* The kept connection is left for a new one. */
  refuse("*", 1);
  rig_expect_response(rig_get(rig, rig_url(rig, "/")), 200, "ok");
  assert_string_equal(filter.open, "001");
}

static void a_refusal_without_words(void **state) {
  test_rig *rig = *state;
  refuse("*", 1);
  filter.reason = "";
  expect_refused(rig_get(rig, "http://127.0.0.1:9/"),
                 "the address filter refused 127.0.0.1:9");
}

/* The longest text that a filter can write, and the longest address. */
static void a_refusal_of_many_words(void **state) {
  test_rig *rig = *state;
  char reason[ERRAND_REASON_MAX];
  memset(reason, 'x', sizeof reason - 1);
  reason[sizeof reason - 1] = '\0';
  refuse("*", 1);
  filter.reason = reason;
  const char *ip = "2001:db8:1111:2222:3333:4444:5555:6666";
  expect_refused(
      rig_get(rig, text("http://[%s]:65535/", ip)),
      text("the address filter refused [%s]:65535 (%s)", ip, reason));
}

static void a_kept_connection(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  rig_expect_response(rig_get(rig, rig_url(rig, "/")), 200, "ok");
  refuse("*", -1);
  /* The kept connection is refused, and so is a new one. */
  expect_refused(rig_get(rig, rig_url(rig, "/")),
                 text("the address filter refused 127.0.0.1:%u (not today)",
                      errand_fault_server_port(rig->server)));
  expect_asked(text("%s%s", own(rig), own(rig)));
  assert_int_equal(rig_counts(rig).requests, 1);
  assert_int_equal(rig_counts(rig).connections, 1);
}

static void a_kept_connection_is_left_for_a_new_one(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  rig_expect_response(rig_get(rig, rig_url(rig, "/")), 200, "ok");
  refuse("*", 1);
  const test_result *result = rig_get(rig, rig_url(rig, "/"));
  rig_expect_response(result, 200, "ok");
  assert_false(result->end.flags &
               (ERRAND_RECORD_REUSED | ERRAND_RECORD_REPLAYED));
  assert_int_equal(rig_counts(rig).connections, 2);
  /* Later requests use kept connections again. */
  for (int i = 0; i < 3; i++) {
    result = rig_get(rig, rig_url(rig, "/"));
    rig_expect_response(result, 200, "ok");
    assert_true(result->end.flags & ERRAND_RECORD_REUSED);
  }
  assert_int_equal(rig_counts(rig).connections, 2);
  assert_int_equal(rig_counts(rig).requests, 5);
}

/* A POST with a body that is not idempotent: nothing of it was sent. */
static void a_kept_connection_is_left_by_a_post(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(ECHO));
  errand_request request = rig_request("POST", rig_url(rig, "/"));
  request.body_kind = ERRAND_BODY_MEMORY;
  request.body = bytes_of("once");
  rig_expect_response(rig_run(rig, &request), 200, NULL);
  refuse("*", 1);
  const test_result *result = rig_run(rig, &request);
  rig_expect_response(result, 200, NULL);
  assert_true(bytes_contain(errand_payload_body(result->end.payload), "once"));
  assert_int_equal(rig_counts(rig).requests, 2);
  assert_int_equal(rig_counts(rig).connections, 2);
}

static void a_stream_of_http2(void **state) {
  test_rig *rig = *state;
  errand_options *options = NULL;
  errand_options_init init = {.http_policy = ERRAND_HTTP_2_TLS,
                              .ca_file = nginx_file(&nginx, "certs/ca.pem")};
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  errand_request request =
      rig_request("GET", nginx_url(&nginx, NGINX_TLS, "/12b"));
  request.options = options;
  const test_result *result = rig_run(rig, &request);
  rig_expect_response(result, 200, NULL);
  assert_int_equal(result->end.http_major, 2);
  refuse("*", 1);
  rig_expect_response(rig_run(rig, &request), 200, NULL);
  const char *place = text("127.0.0.1:%u ", nginx.ports[NGINX_TLS]);
  /* The stream, the new connection, the stream of that. */
  expect_asked(text("%s%s%s", place, place, place));
  refuse("*", -1);
  rig_expect_status(rig_run(rig, &request), ERRAND_ADDRESS_REFUSED);
  errand_options_release(options);
}

static void the_next_address_of_a_name(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  unsigned port = errand_fault_server_port(rig->server);
  refuse("127.0.0.2", -1);
  const test_result *result = rig_get(rig, text("http://two.test:%u/", port));
  rig_expect_response(result, 200, "ok");
  expect_asked(text("127.0.0.2:%u %s%s", port, own(rig), own(rig)));
}

/* DNS rebinding: the name is asked for again, and leads elsewhere. */
static void another_answer_the_second_time(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  unsigned port = errand_fault_server_port(rig->server);
  const char *url = text("http://turn.test:%u/", port);
  refuse("127.0.0.2", -1);
  /* Each options object has connections and addresses of its own. */
  const errand_options_init own_realm = {.local_interface = "lo"};
  int before = dns_calls();
  rig_expect_response(get(rig, url, own_realm), 200, "ok");
  expect_refused(
      get(rig, url, own_realm),
      text("the address filter refused 127.0.0.2:%u (not today)", port));
  assert_int_equal(dns_calls(), before + 2);
  assert_int_equal(rig_counts(rig).connections, 1);
}

/* The filter's no to one address is not why the other failed. */
static void an_address_that_fails_beside_one_that_is_refused(void **state) {
  test_rig *rig = *state;
  errand_fault_port *port = NULL;
  assert_int_equal(errand_fault_port_create(ERRAND_FAULT_PORT_REFUSED, &port),
                   0);
  unsigned number = errand_fault_port_number(port);
  static const char *const addresses[] = {
      "127.0.0.2,127.0.0.1", "127.0.0.1,127.0.0.2", "127.0.0.2,127.0.0.2"};
  static const errand_status statuses[] = {
      ERRAND_CONNECT_FAILED, ERRAND_CONNECT_FAILED, ERRAND_ADDRESS_REFUSED};
  refuse("127.0.0.2", -1);
  for (size_t i = 0; i < COUNT_OF(addresses); i++) {
    const char *entry = text("a.invalid:%u:%s", number, addresses[i]);
    rig_expect_status(
        get(rig, text("http://a.invalid:%u/", number),
            (errand_options_init){.resolve = &entry, .resolve_count = 1}),
        statuses[i]);
  }
  errand_fault_port_destroy(port);
}

/* The kernel does not know the peer of a connection that was reset. libcurl
   before 8.7 asks the kernel, and then has no address for the filter. */
static void a_peer_that_is_gone(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  refuse("unknown", -1);
  peers_are_gone = true;
  rig_expect_response(rig_get(rig, rig_url(rig, "/")), 200, "ok");
  /* Where the filter refuses the address, it is asked before the connect. */
  refuse("*", -1);
  rig_expect_status(get(rig, rig_url(rig, "/"),
                        (errand_options_init){.local_interface = "lo"}),
                    ERRAND_ADDRESS_REFUSED);
  assert_int_equal(rig_counts(rig).connections, 1);
}

/* No refusal, whatever sees the reset: the connect, the send or the read. */
static void a_reset_at_once(void **state) {
  test_rig *rig = *state;
  const errand_fault_step steps[] = {ERRAND_FAULT_STEP(RESET)};
  errand_fault_server_on_connection(rig->server, 0, steps, 1);
  refuse("unknown", -1);
  peers_are_gone = true;
  for (int i = 0; i < 20; i++) {
    const test_result *result = rig_get(rig, rig_url(rig, "/"));
    if (result->end.status != ERRAND_CONNECT_FAILED &&
        result->end.status != ERRAND_SEND_FAILED)
      rig_expect_status(result, ERRAND_CONNECTION_LOST);
  }
}

/* The filter sees the number, however it is spelt. */
static void spellings_of_addresses(void **state) {
  test_rig *rig = *state;
  static const struct {
    const char *host, *seen;
  } spellings[] = {
      {"127.0.0.1", "127.0.0.1"},
      {"127.1", "127.0.0.1"},
      {"0x7f.0.0.1", "127.0.0.1"},
      {"0177.0.0.01", "127.0.0.1"},
      {"2130706433", "127.0.0.1"},
      {"0x7f000001", "127.0.0.1"},
      {"%31%32%37.0.0.1", "127.0.0.1"},
      {"0", "0.0.0.0"},
      {"[::1]", "::1"},
      {"[::ffff:127.0.0.1]", "::ffff:127.0.0.1"},
      {"[::ffff:7f00:1]", "::ffff:127.0.0.1"},
      {"[0:0:0:0:0:ffff:7f00:1]", "::ffff:127.0.0.1"},
      {"[64:ff9b::7f00:1]", "64:ff9b::7f00:1"},
      {"[2002:7f00:1::]", "2002:7f00:1::"},
      {"169.254.169.254", "169.254.169.254"},
  };
  for (size_t i = 0; i < COUNT_OF(spellings); i++) {
    refuse("*", -1);
    rig_expect_status(rig_get(rig, text("http://%s:9/", spellings[i].host)),
                      ERRAND_ADDRESS_REFUSED);
    expect_asked(text("%s:9 ", spellings[i].seen));
  }
}

static void a_proxy(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, NULL, ERRAND_FAULT_STEP(PROXY));
  const char *url =
      text("http://nowhere.invalid:%u/12b", nginx.ports[NGINX_HTTP]);
  const errand_options_init by_proxy = {
      .proxy_policy = ERRAND_PROXY_URL,
      .proxy_url =
          text("http://127.0.0.1:%u", errand_fault_server_port(rig->server))};
  rig_expect_response(get(rig, url, by_proxy), 200, "hello world\n");
  expect_asked(text("%s%s", own(rig), own(rig)));
  refuse("*", -1);
  rig_expect_status(get(rig, url, by_proxy), ERRAND_ADDRESS_REFUSED);
  expect_asked(own(rig));
  assert_int_equal(rig_counts(rig).connections, 1);
}

/* libcurl would look the name up, and the filter would not see the address. */
static void a_name_behind_a_socks_proxy(void **state) {
  test_rig *rig = *state;
  const errand_fault_step socks[] = {ERRAND_FAULT_STEP(SOCKS5)};
  static const char *const schemes[] = {"socks5", "SOCKS5", "socks5h"};
  errand_fault_server_on_connection(rig->server, 0, socks, 1);
  for (size_t i = 0; i < COUNT_OF(schemes); i++) {
    const errand_options_init by_socks = {
        .proxy_policy = ERRAND_PROXY_URL,
        .proxy_url = text("%s://127.0.0.1:%u", schemes[i],
                          errand_fault_server_port(rig->server))};
    errand_fault_request seen;
    rig_expect_response(
        get(rig, text("http://localhost:%u/12b", nginx.ports[NGINX_HTTP]),
            by_socks),
        200, "hello world\n");
    assert_true(errand_fault_server_request(rig->server, i, &seen));
    assert_string_equal(seen.method, "DOMAIN");
    assert_string_equal(seen.target,
                        text("localhost:%u", nginx.ports[NGINX_HTTP]));
  }
}

static void a_unix_socket(void **state) {
  test_rig *rig = *state;
  const errand_options_init by_socket = {.unix_socket_path =
                                             nginx_file(&nginx, "nginx.sock")};
  rig_expect_response(get(rig, "http://in-a-file.test/12b", by_socket), 200,
                      "hello world\n");
  expect_asked("unix:0 unix:0 ");
  refuse("unix", -1);
  expect_refused(get(rig, "http://in-a-file.test/12b", by_socket),
                 "the address filter refused the Unix socket (not today)");
}

/* Requests that wait for the first connections of their host all end. */
static void many_requests_at_once(void **state) {
  test_rig *rig = *state;
  enum { COUNT = 50 };
  errand_request requests[COUNT];
  refuse("*", -1);
  for (int i = 0; i < COUNT; i++)
    requests[i] = rig_request("GET", rig_url(rig, "/"));
  rig->accepted += errand_submit(rig->group, requests, COUNT);
  assert_int_equal(rig->accepted, COUNT);
  for (int i = 0; i < COUNT; i++)
    rig_expect_status(collector_wait(&rig->collector, requests[i].id),
                      ERRAND_ADDRESS_REFUSED);
  assert_int_equal(rig_counts(rig).connections, 0);
}

/* The filter of options: counts its questions, and refuses from then on that
   `refuses` is set. */
typedef struct own_filter {
  _Atomic int asked, released;
  _Atomic bool refuses;
} own_filter;

static int judge_of_options(void *context, uint64_t tag,
                            const errand_address *address, char *reason) {
  own_filter *own_one = context;
  (void) tag;
  (void) address;
  own_one->asked++;
  if (!own_one->refuses)
    return 0;
  snprintf(reason, ERRAND_REASON_MAX, "by the options");
  return 1;
}

static void release_filter(void *context) {
  ((own_filter *) context)->released++;
}

static errand_options *options_judged_by(own_filter *own_one) {
  errand_options *options = NULL;
  const errand_options_init init = {.address_policy = ERRAND_ADDRESSES_OWN,
                                    .address_filter = judge_of_options,
                                    .address_filter_context = own_one,
                                    .address_filter_release = release_filter};
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  return options;
}

/* The group refuses every address, and the options do not, or nobody judges
   for them. */
static void looser_options(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  static own_filter loose; /* the loop releases it later */
  errand_options *options = options_judged_by(&loose);
  errand_request request = rig_request("GET", rig_url(rig, "/"));
  request.options = options;
  refuse("*", -1);
  rig_expect_response(rig_run(rig, &request), 200, "ok");
  rig_expect_response(
      get(rig, rig_url(rig, "/"),
          (errand_options_init){.address_policy = ERRAND_ADDRESSES_ANY}),
      200, "ok");
  assert_int_equal(loose.asked, 2);
  expect_asked("");
  /* The group sees an address that it has not connected to: the kept
     connections of the others are not among its own. */
  filter.open[0] = '\0';
  rig_expect_status(rig_get(rig, rig_url(rig, "/")), ERRAND_ADDRESS_REFUSED);
  expect_asked(own(rig));
  assert_string_equal(filter.open, "0");
  assert_int_equal(rig_counts(rig).connections, 2);
  errand_options_release(options);
}

/* The kept connection of the group is not used by options that refuse. */
static void stricter_options(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  rig_expect_response(rig_get(rig, rig_url(rig, "/")), 200, "ok");
  static own_filter strict = {.refuses = true};
  errand_options *options = options_judged_by(&strict);
  errand_request request = rig_request("GET", rig_url(rig, "/"));
  request.options = options;
  expect_refused(
      rig_run(rig, &request),
      text("the address filter refused 127.0.0.1:%u (by the options)",
           errand_fault_server_port(rig->server)));
  /* Before the connect alone. */
  assert_int_equal(strict.asked, 1);
  const test_result *result = rig_get(rig, rig_url(rig, "/"));
  rig_expect_response(result, 200, "ok");
  assert_true(result->end.flags & ERRAND_RECORD_REUSED);
  assert_int_equal(rig_counts(rig).connections, 1);
  errand_options_release(options);
}

/* The options give the context back once, after their last reference. */
static void the_context_of_a_filter(void **state) {
  (void) state;
  own_filter context = {0};
  errand_options *options = options_judged_by(&context);
  errand_options_retain(options);
  errand_options_release(options);
  assert_int_equal(context.released, 0);
  errand_options_release(options);
  assert_int_equal(context.released, 1);
  /* Options that are refused leave it to the caller. */
  const errand_options_init unfit[] = {
      {.address_policy = ERRAND_ADDRESSES_OWN},
      {.address_policy = ERRAND_ADDRESSES_ANY,
       .address_filter = judge_of_options,
       .address_filter_context = &context,
       .address_filter_release = release_filter},
      {.address_filter = judge_of_options,
       .address_filter_context = &context,
       .address_filter_release = release_filter},
      {.address_policy = (errand_address_policy) 3},
  };
  for (size_t i = 0; i < COUNT_OF(unfit); i++) {
    assert_int_equal(errand_options_create(&unfit[i], &options),
                     ERRAND_INVALID_OPTION);
    assert_null(options);
  }
  assert_int_equal(context.released, 1);
}

#define FILTER_TEST(name)                                                      \
  cmocka_unit_test_setup_teardown(name, set_up, rig_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      FILTER_TEST(a_new_connection),
      FILTER_TEST(looser_options),
      FILTER_TEST(stricter_options),
      FILTER_TEST(the_context_of_a_filter),
      FILTER_TEST(the_second_question_about_a_connect),
      FILTER_TEST(a_refusal_without_words),
      FILTER_TEST(a_refusal_of_many_words),
      FILTER_TEST(a_kept_connection),
      FILTER_TEST(a_kept_connection_is_left_for_a_new_one),
      FILTER_TEST(a_kept_connection_is_left_by_a_post),
      FILTER_TEST(a_stream_of_http2),
      FILTER_TEST(the_next_address_of_a_name),
      FILTER_TEST(another_answer_the_second_time),
      FILTER_TEST(an_address_that_fails_beside_one_that_is_refused),
      FILTER_TEST(a_peer_that_is_gone),
      FILTER_TEST(a_reset_at_once),
      FILTER_TEST(spellings_of_addresses),
      FILTER_TEST(a_proxy),
      FILTER_TEST(a_name_behind_a_socks_proxy),
      FILTER_TEST(a_unix_socket),
      FILTER_TEST(many_requests_at_once),
  };
  return cmocka_run_group_tests_name("address filter", tests, nginx_set_up,
                                     nginx_tear_down);
}
