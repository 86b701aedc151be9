/* HTTP/1.1 over TLS, from a server that sends what nobody asked for. */
#include <time.h>

#include "support/hostile.h"
#include "support/rig.h"

static hostile_server *server;
static errand_options *secure;

static int set_up(void **state) {
  hostile_init init = {.seed = 1, .tls = true, .http1 = true};
  errand_options_init options = {.http_policy = ERRAND_HTTP_2_TLS,
                                 .insecure_accept_any_certificate = 1,
                                 .insecure_accept_any_host_name = 1};
  server = hostile_server_start(&init);
  if (server == NULL || rig_set_up_one_loop(state) != 0)
    return -1;
  return errand_options_create(&options, &secure) == ERRAND_OK ? 0 : -1;
}

static int tear_down(void **state) {
  errand_options_release(secure);
  int result = rig_tear_down(state);
  hostile_server_stop(server);
  return result;
}

static const test_result *get(test_rig *rig, const char *target) {
  errand_request request =
      rig_request("GET", text("https://127.0.0.1:%u%s",
                              hostile_server_port(server), target));
  request.options = secure;
  return rig_run(rig, &request);
}

static void expect_own_responses(test_rig *rig, const char *behind) {
  for (int i = 1; i <= 10; i++) {
    char token[HOSTILE_TOKEN + 1];
    uint64_t owner = 0;
    rig_expect_response(get(rig, behind), 200, "first");
    const test_result *next = get(rig, text("/r/%x", i));
    rig_expect_response(next, 200, NULL);
    errand_bytes head = errand_payload_head(next->end.payload);
    hostile_token((uint64_t) i, token);
    assert_true(hostile_find_token(head.data, head.length, &owner));
    assert_int_equal(owner, i);
  }
}

/* libcurl reads no more of a record than a body of known length needs. The rest
   stays in OpenSSL, where no look at the socket sees it. */
static void what_is_in_the_record_answers_nothing(void **state) {
  expect_own_responses(*state, "/behind");
}

/* From 8.15 on OpenSSL reads the next record ahead, too. */
static void what_is_read_ahead_answers_nothing(void **state) {
  errand_options_init options = {.http_policy = ERRAND_HTTP_1_1,
                                 .insecure_accept_any_certificate = 1,
                                 .insecure_accept_any_host_name = 1};
  errand_options_release(secure);
  assert_int_equal(errand_options_create(&options, &secure), ERRAND_OK);
  expect_own_responses(*state, "/behind/apart");
  expect_own_responses(*state, "/behind");
}

/* libcurl says goodbye to a connection that it does not keep, and closes it
   once the server has, whether or not other requests have it look: the
   descriptor is given back. */
static void expect_closed_but(test_rig *rig, uint64_t kept) {
  for (int i = 0; i < 10; i++)
    rig_expect_response(get(rig, "/behind"), 200, "first");
  for (int i = 0; rig_stats(rig).connections_open > kept; i++) {
    if (i == 6000)
      fail_msg("%llu connections are open after 60 s",
               (unsigned long long) rig_stats(rig).connections_open);
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
  }
}

static void what_is_not_kept_is_closed(void **state) {
  expect_closed_but(*state, 0);
}

/* The same beside a request that waits for the server. */
static void what_is_not_kept_is_closed_beside_a_request(void **state) {
  test_rig *rig = *state;
  errand_request held = rig_request(
      "GET", text("https://127.0.0.1:%u/hold", hostile_server_port(server)));
  held.options = secure;
  rig->accepted += errand_submit(rig->group, &held, 1);
  expect_closed_but(rig, 1);
  hostile_server_release(server);
  rig_expect_response(collector_wait(&rig->collector, held.id), 200, NULL);
}

static void sound_responses_keep_the_connection(void **state) {
  test_rig *rig = *state;
  for (int i = 1; i <= 20; i++)
    rig_expect_response(get(rig, text("/r/%x", i)), 200, NULL);
  /* The server closes some of them by itself. */
  assert_in_range(rig_stats(rig).connections_opened, 1, 10);
}

/* They wait to share the connection of the first, which is of HTTP/1.1, and the
   first waits for the server. */
static void nothing_waits_for_http1(void **state) {
  enum { COUNT = 20 };
  test_rig *rig = *state;
  errand_request all[COUNT];
  for (int i = 0; i < COUNT; i++) {
    all[i] = rig_request("GET", text(i == 0 ? "https://127.0.0.1:%u/hold"
                                            : "https://127.0.0.1:%u/r/%x",
                                     hostile_server_port(server), i));
    all[i].options = secure;
  }
  rig->accepted += errand_submit(rig->group, all, COUNT);
  for (int i = 1; i < COUNT; i++)
    rig_expect_response(collector_wait(&rig->collector, all[i].id), 200, NULL);
  assert_int_equal(collector_peek(&rig->collector, all[0].id).order, 0);
  hostile_server_release(server);
  rig_expect_response(collector_wait(&rig->collector, all[0].id), 200, NULL);
}

/* HTTP/2 was offered, and the server chose HTTP/1.1: the second attempt of a
   request does not use the next kept connection, which may be dead too. */
static void another_kept_connection_may_be_dead_too(void **state) {
  enum { KEPT = 3 };
  test_rig *rig = *state;
  hostile_init init = {.seed = 1, .tls = true, .http1 = true, .once = true};
  hostile_server_stop(server);
  server = hostile_server_start(&init);
  assert_non_null(server);
  errand_request held[KEPT];
  for (int i = 0; i < KEPT; i++) {
    held[i] = rig_request(
        "GET", text("https://127.0.0.1:%u/hold", hostile_server_port(server)));
    held[i].options = secure;
  }
  rig->accepted += errand_submit(rig->group, held, KEPT);
  /* Each request has a connection of its own, and all are busy. */
  for (int i = 0; rig_stats(rig).connections_opened < KEPT ||
                  rig_stats(rig).connections_idle > 0;
       i++) {
    if (i == 6000)
      fail_msg("%llu connections are idle after 60 s",
               (unsigned long long) rig_stats(rig).connections_idle);
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
  }
  hostile_server_release(server);
  for (int i = 0; i < KEPT; i++)
    rig_expect_response(collector_wait(&rig->collector, held[i].id), 200, NULL);
  const test_result *result = get(rig, "/r/1");
  rig_expect_response(result, 200, NULL);
  assert_true(result->end.flags & ERRAND_RECORD_REPLAYED);
  assert_int_equal(result->end.resends, 1);
  assert_int_equal(rig_stats(rig).connections_opened, KEPT + 1);
}

/* OpenSSL 3.0 accepts a protocol that the client did not offer, and libcurl
   then speaks it. */
static void http2_that_was_not_offered(void **state) {
  test_rig *rig = *state;
  hostile_init init = {.seed = 1, .tls = true, .imposes = true};
  errand_options_init options = {.http_policy = ERRAND_HTTP_1_1,
                                 .insecure_accept_any_certificate = 1,
                                 .insecure_accept_any_host_name = 1};
  hostile_server_stop(server);
  server = hostile_server_start(&init);
  assert_non_null(server);
  errand_options_release(secure);
  assert_int_equal(errand_options_create(&options, &secure), ERRAND_OK);
  rig_expect_status(get(rig, "/r/1"), ERRAND_TLS_FAILED);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(what_is_in_the_record_answers_nothing),
      TEST(what_is_read_ahead_answers_nothing),
      TEST(what_is_not_kept_is_closed),
      TEST(what_is_not_kept_is_closed_beside_a_request),
      TEST(sound_responses_keep_the_connection),
      TEST(nothing_waits_for_http1),
      TEST(another_kept_connection_may_be_dead_too),
      TEST(http2_that_was_not_offered),
  };
  return cmocka_run_group_tests_name("hostile_tls", tests, NULL, NULL);
}
