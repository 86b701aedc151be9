/* An HTTP/2 server that allows no stream while requests end that wait for one.
   libcurl keeps their handles in nghttp2; a run under AddressSanitizer of
   libcurl too says where it looks at them after their end. */
#include "libcurl/curl_traits.h"
#include "libcurl/process.h"
#include "support/hostile.h"
#include "support/rig.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static hostile_server *server;
static errand_options *http2;

static int set_up(void **state) {
  hostile_init init = {.seed = 1, .tls = true};
  errand_options_init options = {.http_policy = ERRAND_HTTP_2_TLS,
                                 .insecure_accept_any_certificate = 1,
                                 .insecure_accept_any_host_name = 1};
  server = hostile_server_start(&init);
  if (server == NULL || rig_set_up_one_loop(state) != 0)
    return -1;
  return errand_options_create(&options, &http2) == ERRAND_OK ? 0 : -1;
}

static int tear_down(void **state) {
  errand_options_release(http2);
  int result = rig_tear_down(state);
  hostile_server_stop(server);
  return result;
}

static errand_request request_of(const char *target) {
  errand_request request =
      rig_request("GET", text("https://127.0.0.1:%u%s",
                              hostile_server_port(server), target));
  request.options = http2;
  return request;
}

static const test_result *get(test_rig *rig, const char *target) {
  errand_request request = request_of(target);
  const test_result *result = rig_run(rig, &request);
  rig_expect_response(result, 200, NULL);
  assert_int_equal(result->end.http_major, 2);
  return result;
}

/* Its HEADERS wait in nghttp2 as it ends. */
static void end_waiting(test_rig *rig, bool cancelled) {
  errand_request request = request_of("/r/5");
  request.flags = ERRAND_REQUEST_REPORT_EVENTS;
  if (!cancelled) {
    /* A late loop ends the request before libcurl has given it to nghttp2. */
    for (request.timeout_total = 300;; request.timeout_total *= 4) {
      const test_result *result = rig_run(rig, &request);
      rig_expect_status(result, ERRAND_TIMEOUT_TOTAL);
      if (result->sent > 0)
        return;
    }
  }
  uint64_t id = rig_submit(rig, &request);
  for (int i = 0; collector_peek(&rig->collector, id).sent == 0; i++) {
    assert_true(i < 60000); /* 60 s for the connection to be ready */
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  errand_cancel(rig->group, id);
  rig_expect_status(collector_wait(&rig->collector, id), ERRAND_CANCELLED);
}

static void streams_that_wait_as_they_end(void **state) {
  test_rig *rig = *state;
  /* There nothing is put onto a connection that allows no streams. */
  if (errand__curl_does(ERRAND__CURL_DROPS_SHUT_CONNECTIONS)) {
    get(rig, "/shut");
    get(rig, "/r/7");
    assert_int_equal(rig_stats(rig).connections_opened, 2);
    return;
  }
  for (int i = 0; i < 2; i++) {
    get(rig, "/shut");
    uint64_t opened = rig_stats(rig).connections_opened;
    end_waiting(rig, i == 0);
    if (i == 0)
      hostile_server_release(server);
    /* Its connection would be looked at again, for this one. */
    get(rig, "/r/7");
    get(rig, "/r/8");
    if (!errand__curl_does(ERRAND__CURL_KEEPS_ENDED_STREAMS))
      continue;
    assert_int_equal(rig_stats(rig).connections_opened, opened + 1);
    /* The multi handle with that connection goes, though it is not idle for
       long: 60 s for the loop's next tick. */
    for (int wait = 0; rig_stats(rig).multis > 1; wait++) {
      assert_true(wait < 60000);
      nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
  }
}

/* One that ends in the middle of its response takes no others along. */
static void streams_that_began_leave_their_connection(void **state) {
  test_rig *rig = *state;
  get(rig, "/r/1");
  for (int i = 0; i < 5; i++) {
    errand_request request = request_of("/r/8");
    request.flags = ERRAND_REQUEST_STREAM_RESPONSE;
    request.response_credit = 1;
    uint64_t id = rig_submit(rig, &request);
    collector_wait_head(&rig->collector, id);
    errand_cancel(rig->group, id);
    collector_wait(&rig->collector, id);
  }
  get(rig, "/r/2");
  assert_int_equal(rig_stats(rig).connections_opened, 1);
}

/* libcurl 7.88.1 does not free what it holds of a paused stream that ends while
   the connection has others; the sanitizer tells of it as the program ends. */
static void what_is_held_of_a_paused_stream_is_freed(void **state) {
  test_rig *rig = *state;
  get(rig, "/r/1");
  errand_request other = request_of("/hold");
  uint64_t other_id = rig_submit(rig, &other);
  for (uint64_t large = 1, i = 0; i < 5; large++) {
    if (hostile_body_length(large) < 60000)
      continue;
    i++;
    errand_request request = request_of(text("/r/%llx", (long long) large));
    request.flags = ERRAND_REQUEST_STREAM_RESPONSE;
    request.response_credit = 1;
    uint64_t id = rig_submit(rig, &request);
    collector_wait_chunks(&rig->collector, id, 1);
    errand_cancel(rig->group, id);
    rig_expect_status(collector_wait(&rig->collector, id), ERRAND_CANCELLED);
  }
  hostile_server_release(server);
  rig_expect_response(collector_wait(&rig->collector, other_id), 200, NULL);
}

/* Before 8.7 libcurl notes Digest's round without a body in the connection: an
   upload that began then had its HEADERS sent, and neither body nor end. */
static void uploads_beside_digest_end(void **state) {
  enum { ROUNDS = 20, TOGETHER = 8 };
  static const char body[5000];
  test_rig *rig = *state;
  char path[] = "/tmp/errand-upload-XXXXXX";
  int fd = mkstemp(path);
  assert_int_equal(write(fd, body, sizeof body), sizeof body);
  close(fd);
  for (int round = 0; round < ROUNDS; round++) {
    errand_request requests[TOGETHER];
    for (int i = 0; i < TOGETHER; i++) {
      requests[i] = request_of(text("/%c/%x", i % 2 ? 'd' : 'r', i + 1));
      requests[i].method = bytes_of("PUT");
      requests[i].body_kind = ERRAND_BODY_FILE;
      requests[i].body_path = path;
      requests[i].body_length = sizeof body;
      requests[i].timeout_total = 90000;
      if (i % 2) {
        requests[i].authentication = ERRAND_AUTHENTICATION_DIGEST;
        requests[i].username = bytes_of("ada");
        requests[i].password = bytes_of("pw");
      }
    }
    rig->accepted += errand_submit(rig->group, requests, TOGETHER);
    for (int i = 0; i < TOGETHER; i++)
      /* The server challenges or not, as it likes. */
      rig_expect_status(collector_wait(&rig->collector, requests[i].id),
                        ERRAND_OK);
  }
  unlink(path);
}

/* Before 8.1 libcurl forgets what of a read did not fit into the stream's
   buffer, and waits for more of a response that has come. */
static void bodies_that_fill_a_buffer_end(void **state) {
  enum { ROUNDS = 60, TOGETHER = 16 };
  test_rig *rig = *state;
  uint64_t next = 1;
  for (int round = 0; round < ROUNDS; round++) {
    uint64_t ids[TOGETHER];
    for (int i = 0; i < TOGETHER; i++, next++) {
      while (hostile_body_length(next) < 20000)
        next++;
      errand_request request = request_of(text("/r/%llx", (long long) next));
      request.timeout_total = 90000;
      ids[i] = rig_submit(rig, &request);
    }
    for (int i = 0; i < TOGETHER; i++)
      rig_expect_status(collector_wait(&rig->collector, ids[i]), ERRAND_OK);
  }
}

/* From 8.15 on OpenSSL reads ahead for libcurl. Two streams: the first to be
   looked at reads until its 16 KB are full of the second's body; the second
   reads its end, and no further. The first one's response is in OpenSSL by
   then, and the socket, which is empty, says nothing of it. */
static void what_is_read_ahead_ends(void **state) {
  enum { ROUNDS = 20 };
  test_rig *rig = *state;
  uint64_t large = 1;
  while (hostile_body_length(large) < 20000)
    large++;
  get(rig, "/r/1");
  for (int i = 0; i < ROUNDS; i++) {
    errand_request first = request_of("/hold");
    first.flags = ERRAND_REQUEST_STREAM_RESPONSE | ERRAND_REQUEST_REPORT_EVENTS;
    first.response_credit = 100000; /* below that of the 128 KB buffer */
    first.timeout_total = 90000;
    uint64_t first_id = rig_submit(rig, &first);
    for (int wait = 0; collector_peek(&rig->collector, first_id).sent == 0;
         wait++) {
      assert_true(wait < 60000); /* 60 s for the request to be sent */
      nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    errand_request second = request_of(text("/w/%llx", (long long) large));
    uint64_t second_id = rig_submit(rig, &second);
    rig_expect_status(collector_wait(&rig->collector, second_id), ERRAND_OK);
    rig_expect_status(collector_wait(&rig->collector, first_id), ERRAND_OK);
  }
  assert_int_equal(rig_stats(rig).connections_opened, 1);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(streams_that_wait_as_they_end),
      TEST(what_is_held_of_a_paused_stream_is_freed),
      TEST(streams_that_began_leave_their_connection),
      TEST(uploads_beside_digest_end),
      TEST(bodies_that_fill_a_buffer_end),
      TEST(what_is_read_ahead_ends),
  };
  return cmocka_run_group_tests_name("hostile_http2", tests, NULL, NULL);
}
