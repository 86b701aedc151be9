/* Timeout: 240 s */
/* What libcurl 7.88.1 and libuv make easy to get wrong, and that no other
   test looks at; docs/pitfalls.md has the whole list. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libcurl/curl_traits.h"
#include "support/dns_interposer.h"
#include "support/rig.h"

static void answer(test_rig *rig) {
  RIG_ON(rig, "/small",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
                                "ok"));
  RIG_ON(rig, "/stall", ERRAND_FAULT_STEP(STALL));
  RIG_ON(rig, "/echo", ERRAND_FAULT_STEP(ECHO));
}

static const char *named(const test_rig *rig, const char *host,
                         const char *path) {
  return text("http://%s:%u%s", host, errand_fault_server_port(rig->server),
              path);
}

static bool is_slow(test_rig *rig) {
  errand_request request = rig_request("GET", rig_url(rig, "/small"));
  request.flags = ERRAND_REQUEST_FRESH_CONNECTION;
  int64_t start = process_milliseconds();
  rig_expect_response(rig_run(rig, &request), 200, "ok");
  return process_milliseconds() - start >= 150;
}

/* 1, 2, 3: a socket that never connected is closed in silence and its number
   used at once by a connection that must not be forgotten. */
static void numbers_of_dead_sockets(void **state) {
  test_rig *rig = *state;
  errand_fault_port *silent;
  answer(rig);
  assert_int_equal(errand_fault_port_create(ERRAND_FAULT_PORT_SILENT, &silent),
                   0);
  char dead[64];
  snprintf(dead, sizeof dead, "http://127.0.0.1:%u/",
           errand_fault_port_number(silent));
  /* A forgotten socket is found by libcurl's next timer, 200 ms later. On a
     busy machine a thread may be as late: then requests without a dead socket
     before them are slow, too, and the requests are made again. */
  enum { ROUNDS = 6, EACH = 20 };
  int slow = EACH;
  int slow_alone = EACH;
  for (int round = 0; round < ROUNDS && slow >= EACH / 2; round++) {
    assert_true(slow_alone >= EACH / 4);
    slow = slow_alone = 0;
    for (int i = 0; i < EACH; i++) {
      slow_alone += is_slow(rig);
      errand_request r = rig_request("GET", dead);
      r.timeout_connect = 5;
      rig_expect_status(rig_run(rig, &r), ERRAND_TIMEOUT_CONNECT);
      slow += is_slow(rig);
    }
  }
  assert_true(slow < EACH / 2);
  errand_fault_port_destroy(silent);
}

/* 4: kept connections cost no epoll_ctl. 23: and are not thrown away. */
static void steady_state(void **state) {
  test_rig *rig = *state;
  answer(rig);
  rig_expect_response(rig_get(rig, rig_url(rig, "/small")), 200, "ok");
  errand_stats before = rig_stats(rig);
  for (int i = 0; i < 500; i++)
    rig_expect_response(rig_get(rig, rig_url(rig, "/small")), 200, "ok");
  errand_stats after = rig_stats(rig);
  assert_int_equal(after.connections_opened, before.connections_opened);
  assert_true(after.poll_changes - before.poll_changes <= 500 / 20);
}

/* 23: the pool does not shrink with the load. */
static void the_pool_keeps_its_connections(void **state) {
  test_rig *rig = *state;
  answer(rig);
  for (int round = 0; round < 20; round++) {
    errand_request items[32];
    for (size_t i = 0; i < COUNT_OF(items); i++)
      items[i] = rig_request("GET", rig_url(rig, "/small"));
    assert_int_equal(errand_submit(rig->group, items, COUNT_OF(items)),
                     COUNT_OF(items));
    rig->accepted += COUNT_OF(items);
    collector_wait_completions(&rig->collector, rig->accepted);
  }
  assert_true(rig_stats(rig).connections_opened <= 32);
}

/* 16: a timer that fires early makes libcurl ask again every millisecond;
   46: idle streams have no timer each. */
static void waiting_costs_no_turns(void **state) {
  test_rig *rig = *state;
  answer(rig);
  uint64_t ids[50];
  for (size_t i = 0; i < COUNT_OF(ids); i++) {
    errand_request r = rig_request("GET", rig_url(rig, "/stall"));
    r.timeout_idle = 60000;
    r.timeout_first_byte = 60000;
    ids[i] = rig_submit(rig, &r);
  }
  rig_await(rig, (errand_fault_counts){.requests = 50});
  rig_expect_rest(rig, 1000, 20);
  for (size_t i = 0; i < COUNT_OF(ids); i++)
    assert_int_equal(errand_cancel(rig->group, ids[i]), ERRAND_OK);
  collector_wait_completions(&rig->collector, COUNT_OF(ids));
}

/* 17: libcurl's "now" is not a timer of 1 ms. */
static void now_is_now(void **state) {
  test_rig *rig = *state;
  uint64_t least = UINT64_MAX;
  answer(rig);
  for (int i = 0; i < 3000 && least >= 1000; i++) {
    const test_result *end = rig_get(rig, rig_url(rig, "/small"));
    rig_expect_response(end, 200, "ok");
    uint64_t took = end->end.timings.queue + end->end.timings.total;
    if (took < least)
      least = took;
  }
  if (least >= 1000)
    fail_msg("the fastest of 3000 took %llu us", (unsigned long long) least);
}

/* 20: libcurl resolves on a thread for each request. */
static void a_cold_host_is_resolved_a_few_times(void **state) {
  test_rig *rig = *state;
  answer(rig);
  const char *url = named(rig, "local-cold.test", "/small");
  int before = dns_calls();
  errand_request items[64];
  for (size_t i = 0; i < COUNT_OF(items); i++)
    items[i] = rig_request("GET", url);
  assert_int_equal(errand_submit(rig->group, items, COUNT_OF(items)),
                   COUNT_OF(items));
  rig->accepted += COUNT_OF(items);
  collector_wait_completions(&rig->collector, rig->accepted);
  for (size_t i = 0; i < COUNT_OF(items); i++)
    rig_expect_response(collector_wait(&rig->collector, items[i].id), 200,
                        "ok");
  int calls = dns_calls() - before;
  if (errand__curl_does(ERRAND__CURL_RESOLVES_TWICE))
    calls /= 2;
  assert_in_range(calls, 1, 4);
}

/* 21: libcurl before 8.4 waits 200 ms after a refused address. */
static void the_next_address_is_tried_at_once(void **state) {
  test_rig *rig = *state;
  answer(rig);
  int64_t least = INT64_MAX;
  for (int i = 0; i < 20 && least >= 150; i++) {
    errand_request r =
        rig_request("GET", named(rig, text("two-%d.test", i), "/small"));
    int64_t start = process_milliseconds();
    rig_expect_response(rig_run(rig, &r), 200, "ok");
    int64_t took = process_milliseconds() - start;
    least = took < least ? took : least;
  }
  if (least >= 150) /* 200 ms is the happy-eyeballs timer */
    fail_msg("the fastest of 20 took %lld ms", (long long) least);
}

/* 22: libcurl's own queue ignores timeouts before 8.8. */
static void waiting_requests_time_out_on_time(void **state) {
  errand_group_init init = {.loops = 1, .origin_in_flight_limit = 1};
  void *made = NULL;
  (void) state;
  assert_int_equal(rig_set_up_with(&made, init), 0);
  test_rig *rig = made;
  answer(rig);
  errand_request first = rig_request("GET", rig_url(rig, "/stall"));
  uint64_t stalled = rig_submit(rig, &first);
  rig_await(rig, (errand_fault_counts){.requests = 1});
  errand_request second = rig_request("GET", rig_url(rig, "/small"));
  second.timeout_queue = 100;
  int64_t start = process_milliseconds();
  rig_expect_status(rig_run(rig, &second), ERRAND_TIMEOUT_QUEUE);
  assert_in_range(process_milliseconds() - start, 90, 110000);
  errand_request third = rig_request("GET", rig_url(rig, "/small"));
  third.timeout_total = 100;
  start = process_milliseconds();
  rig_expect_status(rig_run(rig, &third), ERRAND_TIMEOUT_TOTAL);
  assert_in_range(process_milliseconds() - start, 90, 110000);
  assert_int_equal(errand_cancel(rig->group, stalled), ERRAND_OK);
  assert_int_equal(rig_tear_down(&made), 0);
}

/* 28, 35: data for a paused request is neither read nor spun on. */
static void a_paused_request_rests(void **state) {
  test_rig *rig = *state;
  answer(rig);
  RIG_ON(rig, "/endless",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"
                                "Content-Length: 1000000000000\r\n\r\n"),
         ERRAND_FAULT_STEP_REPEAT(-1, "0123456789abcdef0123456789abcdef"));
  errand_request r = rig_request("GET", rig_url(rig, "/endless"));
  r.flags = ERRAND_REQUEST_STREAM_RESPONSE;
  /* No end of it, however late the pause comes. */
  r.response_credit = UINT64_C(1) << 40;
  r.limit_body_bytes = 1000000000000;
  uint64_t id = rig_submit(rig, &r);
  (void) collector_wait_chunks(&rig->collector, id, 100000);
  assert_int_equal(errand_pause(rig->group, id), ERRAND_OK);
  /* The pause is obeyed before the one loop starts what comes after it. */
  rig_expect_response(rig_get(rig, rig_url(rig, "/small")), 200, "ok");
  uint64_t bytes = collector_peek(&rig->collector, id).chunk_bytes;
  rig_expect_rest(rig, 500, 40);
  assert_int_equal(collector_peek(&rig->collector, id).chunk_bytes, bytes);
  assert_int_equal(errand_resume(rig->group, id), ERRAND_OK);
  (void) collector_wait_chunks(&rig->collector, id, bytes + 100000);
  assert_int_equal(errand_cancel(rig->group, id), ERRAND_OK);
  rig_expect_status(collector_wait(&rig->collector, id), ERRAND_CANCELLED);
}

/* 75: a response that is out of credit stays with its server while its upload
   has more to send, and no turns are taken. */
static void a_paused_response_beside_an_upload_rests(void **state) {
  test_rig *rig = *state;
  enum { UPLOAD = 32000000 };
  RIG_ON(rig, "/endless",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"
                                "Content-Length: 1000000000000\r\n\r\n"),
         ERRAND_FAULT_STEP_REPEAT(-1, "0123456789abcdef0123456789abcdef"));
  uint8_t *body = calloc(1, UPLOAD);
  static const errand_body_kind kinds[] = {ERRAND_BODY_MEMORY,
                                           ERRAND_BODY_STREAM};
  for (size_t i = 0; i < COUNT_OF(kinds); i++) {
    errand_request r = rig_request("POST", rig_url(rig, "/endless"));
    r.flags = ERRAND_REQUEST_STREAM_RESPONSE;
    r.response_credit = 100000;
    r.upload_credit = UPLOAD;
    r.limit_body_bytes = 1000000000000;
    r.body_kind = kinds[i];
    r.body_length = UPLOAD;
    if (kinds[i] == ERRAND_BODY_MEMORY)
      r.body = (errand_bytes){body, UPLOAD};
    uint64_t id = rig_submit(rig, &r);
    if (kinds[i] == ERRAND_BODY_STREAM)
      assert_int_equal(
          errand_upload_write(rig->group, id, (errand_bytes){body, UPLOAD / 2}),
          ERRAND_OK);
    (void) collector_wait_chunks(&rig->collector, id, 100000);
    uint64_t sent = rig_counts(rig).bytes_sent;
    rig_expect_rest(rig, 500, 40);
    /* No more than what the buffers of two sockets hold. */
    assert_true(rig_counts(rig).bytes_sent - sent < 20000000);
    for (uint64_t want = 300000; want <= 900000; want += 200000) {
      assert_int_equal(errand_grant(rig->group, id, 200000), ERRAND_OK);
      (void) collector_wait_chunks(&rig->collector, id, want);
    }
    rig_expect_rest(rig, 500, 40);
    assert_int_equal(errand_cancel(rig->group, id), ERRAND_OK);
    rig_expect_status(collector_wait(&rig->collector, id), ERRAND_CANCELLED);
  }
  free(body);
}

/* 75: an upload goes on while nobody reads its response. */
static void an_upload_beside_an_unread_response_ends(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/flood",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"
                                "Content-Length: 3000000\r\n\r\n"),
         ERRAND_FAULT_STEP_REPEAT(100000, "0123456789"),
         ERRAND_FAULT_STEP(READ_BODY),
         ERRAND_FAULT_STEP_REPEAT(200000, "0123456789"));
  errand_request r = rig_request("POST", rig_url(rig, "/flood"));
  r.flags = ERRAND_REQUEST_STREAM_RESPONSE;
  r.response_credit = 100000;
  r.body_kind = ERRAND_BODY_STREAM;
  r.body_length = 40000;
  uint64_t id = rig_submit(rig, &r);
  (void) collector_wait_chunks(&rig->collector, id, 100000);
  uint8_t part[10000] = {0};
  for (int i = 0; i < 4; i++)
    assert_int_equal(
        errand_upload_write(rig->group, id, (errand_bytes){part, sizeof part}),
        ERRAND_OK);
  assert_int_equal(errand_upload_finish(rig->group, id), ERRAND_OK);
  rig_await(rig, (errand_fault_counts){.bodies = 1});
  assert_int_equal(errand_grant(rig->group, id, 3000000), ERRAND_OK);
  const test_result *end = collector_wait(&rig->collector, id);
  rig_expect_status(end, ERRAND_OK);
  assert_int_equal(end->chunk_bytes, 3000000);
}

/* 75: what was held back goes on, in both directions. */
static void a_response_before_its_upload_is_whole(void **state) {
  test_rig *rig = *state;
  enum { UPLOAD = 20000000, TIMES = 2000000 };
  RIG_ON(rig, "/early",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"
                                "Content-Length: 20000000\r\n\r\n"),
         ERRAND_FAULT_STEP_REPEAT(TIMES, "0123456789"),
         ERRAND_FAULT_STEP(READ_BODY));
  uint8_t *body = calloc(1, UPLOAD);
  collector_grant_to(&rig->collector, rig->group);
  errand_request r = rig_request("POST", rig_url(rig, "/early"));
  r.flags = ERRAND_REQUEST_STREAM_RESPONSE;
  r.response_credit = 50000;
  r.body_kind = ERRAND_BODY_MEMORY;
  r.body = (errand_bytes){body, UPLOAD};
  const test_result *end = rig_run(rig, &r);
  rig_expect_status(end, ERRAND_OK);
  assert_int_equal(end->chunk_bytes, 20000000);
  collector_grant_to(&rig->collector, NULL);
  free(body);
}

/* 29: one packet of gzip is inflated to 1,000 times its size; with a small
   credit that neither fails nor loses a byte. */
static void backpressure_behind_a_decoder(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/zeros", ERRAND_FAULT_STEP_GZIP_ZEROS(20000000));
  errand_options_init how = {.encodings = ERRAND_ENCODING_GZIP};
  errand_options *options = NULL;
  assert_int_equal(errand_options_create(&how, &options), ERRAND_OK);
  collector_grant_to(&rig->collector, rig->group);
  errand_request r = rig_request("GET", rig_url(rig, "/zeros"));
  r.flags = ERRAND_REQUEST_STREAM_RESPONSE;
  r.options = options;
  r.response_credit = 1000;
  const test_result *end = rig_run(rig, &r);
  rig_expect_status(end, ERRAND_OK);
  assert_int_equal(end->chunk_bytes, 20000000);
  collector_grant_to(&rig->collector, NULL);
  errand_options_release(options);
}

/* 38: no second of waiting for "100 Continue" that nobody asked for. */
static void no_expectation_of_a_continue(void **state) {
  test_rig *rig = *state;
  answer(rig);
  size_t length = 2000000;
  uint8_t *body = calloc(1, length);
  errand_request r = rig_request("POST", rig_url(rig, "/echo"));
  r.body_kind = ERRAND_BODY_MEMORY;
  r.body = (errand_bytes){body, length};
  rig_expect_response(rig_run(rig, &r), 200, NULL);
  free(body);
  errand_fault_request seen;
  assert_int_equal(errand_fault_server_request(rig->server, 0, &seen), 1);
  assert_int_equal(seen.body_length, length);
  assert_null(strcasestr(seen.head, "expect"));
  assert_null(strcasestr(seen.head, "content-type"));
}

/* 39: the environment's proxies are asked for by an option, and only once. */
static void the_environment_is_not_asked(void **state) {
  test_rig *rig = *state;
  errand_fault_port *closed;
  answer(rig);
  assert_int_equal(errand_fault_port_create(ERRAND_FAULT_PORT_REFUSED, &closed),
                   0);
  setenv("http_proxy",
         text("http://127.0.0.1:%u", errand_fault_port_number(closed)), 1);
  errand_options_init how = {.proxy_policy = ERRAND_PROXY_ENVIRONMENT};
  errand_options *options = NULL;
  assert_int_equal(errand_options_create(&how, &options), ERRAND_OK);
  rig_expect_response(rig_get(rig, rig_url(rig, "/small")), 200, "ok");
  unsetenv("http_proxy");
  errand_request r = rig_request("GET", rig_url(rig, "/small"));
  r.options = options;
  const test_result *end = rig_run(rig, &r);
  assert_int_not_equal(end->end.status, ERRAND_OK);
  errand_options_release(options);
  errand_fault_port_destroy(closed);
}

/* A shutdown of a long queue is linear in its length. */
static void a_long_queue_ends_at_once(void **state) {
  test_rig *rig = *state;
  answer(rig);
  errand_request *items = calloc(1000, sizeof *items);
  const char *url = rig_url(rig, "/stall");
  for (int i = 0; i < 60; i++) {
    for (int j = 0; j < 1000; j++)
      items[j] = rig_request("GET", url);
    rig->accepted += errand_submit(rig->group, items, 1000);
  }
  free(items);
  assert_int_equal(rig->accepted, 60000);
  struct timespec before, after;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
  assert_int_equal(errand_group_stop(rig->group, ERRAND_STOP_CANCEL, 0),
                   ERRAND_OK);
  collector_wait_completions(&rig->collector, rig->accepted);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
  int64_t took = (after.tv_sec - before.tv_sec) * 1000 +
                 (after.tv_nsec - before.tv_nsec) / 1000000;
  printf("60,000 waiting requests ended in %lld ms of processor time\n",
         (long long) took);
  assert_true(took < 2500); /* quadratic: 10 s */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST_ONE_LOOP(numbers_of_dead_sockets),
      RIG_TEST_ONE_LOOP(steady_state),
      RIG_TEST_ONE_LOOP(the_pool_keeps_its_connections),
      RIG_TEST(waiting_costs_no_turns),
      RIG_TEST_ONE_LOOP(now_is_now),
      RIG_TEST(a_cold_host_is_resolved_a_few_times),
      RIG_TEST_ONE_LOOP(the_next_address_is_tried_at_once),
      cmocka_unit_test(waiting_requests_time_out_on_time),
      RIG_TEST_ONE_LOOP(a_paused_request_rests),
      RIG_TEST_ONE_LOOP(a_paused_response_beside_an_upload_rests),
      RIG_TEST_ONE_LOOP(an_upload_beside_an_unread_response_ends),
      RIG_TEST_ONE_LOOP(a_response_before_its_upload_is_whole),
      RIG_TEST_ONE_LOOP(backpressure_behind_a_decoder),
      RIG_TEST(no_expectation_of_a_continue),
      RIG_TEST(the_environment_is_not_asked),
      RIG_TEST_ONE_LOOP(a_long_queue_ends_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
