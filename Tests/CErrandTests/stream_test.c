/* Bodies in parts, both ways, by credit; pause, resume and cancel. */
#include "support/loan.h"
#include "support/nginx_fixture.h"
#include "support/rig.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define MIB ((size_t) 1 << 20)

static void rest(long milliseconds) {
  nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

static errand_request streamed(const char *url) {
  errand_request request = rig_request("GET", url);
  request.flags = ERRAND_REQUEST_STREAM_RESPONSE;
  return request;
}

static uint64_t hash_of_1m(void) {
  uint64_t hash = errand_fault_hash(0, "", 0);
  for (int i = 0; i < 65536; i++) {
    const char *line = text("line %010d\n", i);
    hash = errand_fault_hash(hash, line, 16);
  }
  return hash;
}

static void a_head_then_chunks_then_the_end(void **state) {
  test_rig *rig = *state;
  collector_grant_to(&rig->collector, rig->group);
  errand_request request = streamed(nginx_url(&nginx, NGINX_HTTP, "/1m"));
  const test_result *result = rig_run(rig, &request);
  rig_expect_response(result, 200, "");
  assert_int_equal(result->heads, 1);
  assert_int_equal(result->head.http_status, 200);
  assert_true(result->head.timings.first_byte > 0);
  assert_true(result->head.timings.total <= result->end.timings.total);
  assert_true(bytes_contain(errand_payload_head(result->head.payload),
                            "Content-Length: 1048576\r\n"));
  assert_int_equal(result->chunk_bytes, MIB);
  assert_true(result->chunks > 1);
  assert_int_equal(result->chunk_hash, hash_of_1m());
  assert_int_equal(result->end.bytes_received, MIB);
}

static void no_more_than_the_credit_comes(void **state) {
  test_rig *rig = *state;
  enum { CREDIT = 100000, READ = 64 << 10 };
  errand_request request = streamed(nginx_url(&nginx, NGINX_HTTP, "/1m"));
  request.response_credit = CREDIT;
  uint64_t id = rig_submit(rig, &request);
  uint64_t granted = CREDIT;
  /* The last read may go over the credit, by one buffer of libcurl, and so may
     be the end. */
  while (granted + READ < MIB) {
    collector_wait_chunks(&rig->collector, id, granted);
    rest(5);
    test_result now = collector_peek(&rig->collector, id);
    assert_true(now.chunk_bytes < granted + READ);
    assert_int_equal(now.order, 0);
    uint64_t more = now.chunk_bytes + 50000 - granted;
    errand_grant(rig->group, id, more);
    granted += more;
  }
  errand_grant(rig->group, id, MIB);
  const test_result *result = collector_wait(&rig->collector, id);
  rig_expect_response(result, 200, NULL);
  assert_int_equal(result->chunk_bytes, MIB);
  assert_int_equal(result->chunk_hash, hash_of_1m());
}

static void what_is_withheld_backs_up_to_the_server(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n\r\n"),
         ERRAND_FAULT_STEP_REPEAT(-1, "0123456789abcdef"));
  errand_request request = streamed(rig_url(rig, "/"));
  request.response_credit = 1000;
  uint64_t id = rig_submit(rig, &request);
  collector_wait_chunks(&rig->collector, id, 1000);
  uint64_t before = 1, now = 0;
  for (int i = 0; i < 100 && before != now; i++) {
    before = now;
    rest(100);
    now = rig_counts(rig).bytes_sent;
  }
  assert_int_equal(before, now); /* the kernel's buffers are full */
  assert_true(collector_peek(&rig->collector, id).chunk_bytes < 100000);
  errand_cancel(rig->group, id);
  rig_expect_status(collector_wait(&rig->collector, id), ERRAND_CANCELLED);
  rig_await(rig, (errand_fault_counts){.closed = 1});
}

/* One read decodes to a thousand times its size: no byte of it comes without
   credit. */
static void decoded_chunks_keep_to_the_credit_as_well(void **state) {
  test_rig *rig = *state;
  enum { DECODED = 400 };
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_GZIP_ZEROS(DECODED * (int64_t) MIB));
  errand_options_init init = {.encodings = ERRAND_ENCODING_GZIP};
  errand_options *options = NULL;
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  errand_request request = streamed(rig_url(rig, "/"));
  request.options = options;
  request.response_credit = MIB;
  request.limit_decoded_bytes = 2 * DECODED * (int64_t) MIB;
  uint64_t id = rig_submit(rig, &request);
  errand_options_release(options);
  collector_wait_chunks(&rig->collector, id, MIB);
  rest(300);
  test_result now = collector_peek(&rig->collector, id);
  if (now.chunk_bytes != MIB)
    fail_msg("%llu MiB in %u chunks came for a credit of 1",
             (unsigned long long) (now.chunk_bytes / MIB), now.chunks);
  assert_int_equal(now.order, 0);
  collector_grant_to(&rig->collector, rig->group);
  errand_grant(rig->group, id, DECODED * MIB);
  const test_result *result = collector_wait(&rig->collector, id);
  rig_expect_response(result, 200, NULL);
  assert_int_equal(result->chunk_bytes, DECODED * MIB);
}

static void a_stream_cut_short_says_so_at_its_end(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"
                                "Content-Length: 10\r\n\r\nabc"),
         ERRAND_FAULT_STEP(FINISH));
  errand_request request = streamed(rig_url(rig, "/"));
  const test_result *result = rig_run(rig, &request);
  rig_expect_status(result, ERRAND_PARTIAL_BODY);
  assert_int_equal(result->heads, 1);
  assert_int_equal(result->chunk_bytes, 3);
}

static void pause_and_resume(void **state) {
  test_rig *rig = *state;
  collector_grant_to(&rig->collector, rig->group);
  errand_request request = streamed(nginx_url(&nginx, NGINX_HTTP, "/slow/1m"));
  uint64_t id = rig_submit(rig, &request);
  collector_wait_chunks(&rig->collector, id, 1);
  assert_int_equal(errand_pause(rig->group, id), ERRAND_OK);
  assert_int_equal(errand_pause(rig->group, id), ERRAND_OK);
  /* The order passes through the loop's queue; another round trip follows it
     there when there is one loop. */
  rig_get(rig, nginx_url(&nginx, NGINX_HTTP, "/12b"));
  uint64_t before = collector_peek(&rig->collector, id).chunk_bytes;
  rest(300);
  assert_int_equal(collector_peek(&rig->collector, id).chunk_bytes, before);
  assert_int_equal(errand_resume(rig->group, id), ERRAND_OK);
  const test_result *result = collector_wait(&rig->collector, id);
  rig_expect_response(result, 200, NULL);
  assert_int_equal(result->chunk_hash, hash_of_1m());
}

static void a_pause_before_the_start_holds_it_back(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/hold", ERRAND_FAULT_STEP(STALL), ERRAND_FAULT_STEP_SEND(OK));
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  errand_request request = rig_request("GET", rig_url(rig, "/"));
  uint64_t id = rig_submit(rig, &request);
  errand_pause(rig->group, id);
  /* It may have been too late to hold it back; then it ends by itself. */
  rest(50);
  test_result now = collector_peek(&rig->collector, id);
  errand_resume(rig->group, id);
  rig_expect_response(collector_wait(&rig->collector, id), 200, "ok");
  assert_true(now.order == 0 || now.end.status == ERRAND_OK);
}

static void cancel_in_every_phase(void **state) {
  test_rig *rig = *state;
  errand_fault_port *silent = NULL;
  assert_int_equal(errand_fault_port_create(ERRAND_FAULT_PORT_SILENT, &silent),
                   0);
  RIG_ON(rig, "/first", ERRAND_FAULT_STEP(STALL));
  RIG_ON(rig, "/head", ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\nX"),
         ERRAND_FAULT_STEP(STALL));
  RIG_ON(rig, "/body",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
                                "abc"),
         ERRAND_FAULT_STEP(STALL));
  const char *const urls[] = {
      text("http://127.0.0.1:%u/", errand_fault_port_number(silent)),
      rig_url(rig, "/first"), rig_url(rig, "/head"), rig_url(rig, "/body")};
  for (size_t i = 0; i < COUNT_OF(urls) * 3; i++) {
    errand_request request = rig_request("GET", urls[i / 3]);
    uint64_t id = rig_submit(rig, &request);
    rest((long) (i % 3) * 20);
    assert_int_equal(errand_cancel(rig->group, id), ERRAND_OK);
    const test_result *result = collector_wait(&rig->collector, id);
    rig_expect_status(result, ERRAND_CANCELLED);
    assert_int_equal(errand_cancel(rig->group, id), ERRAND_OK);
  }
  errand_fault_port_destroy(silent);
  errand_stats stats = rig_stats(rig);
  assert_int_equal(stats.in_flight, 0);
  assert_int_equal(stats.queued, 0);
}

/* Sends `length` bytes as credit comes. Returns: the hash of them. */
static uint64_t pour(test_rig *rig, uint64_t id, uint64_t credit,
                     uint64_t length) {
  static uint8_t block[32768];
  uint64_t sent = 0, hash = errand_fault_hash(0, "", 0);
  while (sent < length) {
    collector_wait_credit(&rig->collector, id,
                          sent + 1 > credit ? sent + 1 - credit : 0);
    uint64_t room = credit + collector_peek(&rig->collector, id).credit - sent;
    uint64_t part = room < sizeof block ? room : sizeof block;
    if (part > length - sent)
      part = length - sent;
    for (uint64_t i = 0; i < part; i++)
      block[i] = (uint8_t) ((sent + i) * 7 >> 3);
    assert_int_equal(
        errand_upload_write(rig->group, id, (errand_bytes){block, part}),
        ERRAND_OK);
    hash = errand_fault_hash(hash, block, part);
    sent += part;
  }
  return hash;
}

static void uploads_with_and_without_a_length(void **state) {
  test_rig *rig = *state;
  enum { LENGTH = 3000001 };
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(READ_BODY), ERRAND_FAULT_STEP_SEND(OK));
  for (size_t i = 0; i < 4; i++) {
    errand_request request =
        rig_request(i < 2 ? "PUT" : "POST", rig_url(rig, "/"));
    request.body_kind = ERRAND_BODY_STREAM;
    request.body_length = i % 2 ? ERRAND_LENGTH_UNKNOWN : LENGTH;
    request.upload_credit = 65536;
    uint64_t id = rig_submit(rig, &request);
    uint64_t hash = pour(rig, id, 65536, LENGTH);
    assert_int_equal(errand_upload_finish(rig->group, id), ERRAND_OK);
    const test_result *result = collector_wait(&rig->collector, id);
    rig_expect_response(result, 200, "ok");
    if (i % 2) /* with the framing of the chunks */
      assert_in_range(result->end.bytes_sent, LENGTH, LENGTH + LENGTH / 100);
    else
      assert_int_equal(result->end.bytes_sent, LENGTH);
    errand_fault_request seen;
    assert_true(errand_fault_server_request(rig->server, i, &seen));
    assert_int_equal(seen.body_length, LENGTH);
    assert_int_equal(seen.body_hash, hash);
    assert_true(strcasestr(seen.head, i % 2 ? "Transfer-Encoding: chunked"
                                            : "Content-Length: 3000001"));
    assert_null(strcasestr(seen.head, "Expect:"));
  }
}

static void lend(test_rig *rig, uint64_t id, const char *part,
                 _Atomic uint64_t *released) {
  assert_int_equal(test_lend(rig->group, id, bytes_of(part), released),
                   ERRAND_OK);
}

static void count_release(void *context) {
  atomic_fetch_add((_Atomic uint64_t *) context, 1);
}

static errand_request open_upload(test_rig *rig, const char *path) {
  errand_request request = rig_request("PUT", rig_url(rig, path));
  request.body_kind = ERRAND_BODY_STREAM;
  request.body_length = ERRAND_LENGTH_UNKNOWN;
  return request;
}

/* Lent parts are sent in order with copied ones. The bytes are lent until
   libcurl has taken them, and not for longer. */
static void lent_parts_are_given_back_once(void **state) {
  test_rig *rig = *state;
  _Atomic uint64_t released = 0;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(READ_BODY), ERRAND_FAULT_STEP_SEND(OK));
  errand_request request = open_upload(rig, "/");
  request.upload_credit = 6;
  uint64_t id = rig_submit(rig, &request);
  lend(rig, id, "ab", &released);
  errand_upload_write(rig->group, id, bytes_of("cd"));
  lend(rig, id, "ef", &released);
  /* All of them are taken. */
  collector_wait_credit(&rig->collector, id, 6);
  assert_int_equal(atomic_load(&released), 2);
  lend(rig, id, "", &released);
  assert_int_equal(atomic_load(&released), 3);
  lend(rig, id, "gh", &released);
  errand_upload_finish(rig->group, id);
  rig_expect_response(collector_wait(&rig->collector, id), 200, "ok");
  assert_int_equal(atomic_load(&released), 4);
  errand_fault_request seen;
  assert_true(errand_fault_server_request(rig->server, 0, &seen));
  assert_int_equal(seen.body_length, 8);
  assert_int_equal(seen.body_hash, errand_fault_hash(0, "abcdefgh", 8));
}

/* Beyond the credit, behind the end of the request, for no request, for one
   without a stream, at NULL, and to a group that has stopped. */
static void lent_parts_that_nobody_takes_are_given_back(void **state) {
  test_rig *rig = *state;
  _Atomic uint64_t released = 0;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(STALL));
  errand_request request = open_upload(rig, "/");
  request.upload_credit = 2;
  uint64_t id = rig_submit(rig, &request);
  lend(rig, id, "abc", &released);
  rig_expect_status(collector_wait(&rig->collector, id), ERRAND_UPLOAD_OVERRUN);
  lend(rig, id, "late", &released);
  lend(rig, 0, "nobody", &released);
  assert_int_equal(errand_upload_lend(rig->group, id, (errand_bytes){NULL, 1},
                                      count_release, &released),
                   ERRAND_INVALID_ARGUMENT);
  errand_request plain = rig_request("GET", rig_url(rig, "/"));
  id = rig_submit(rig, &plain);
  lend(rig, id, "no stream", &released);
  rig_expect_status(collector_wait(&rig->collector, id), ERRAND_INVALID_BODY);
  /* Parts that a request has not taken when it is cancelled. */
  request = open_upload(rig, "/");
  id = rig_submit(rig, &request);
  errand_pause(rig->group, id);
  lend(rig, id, "cancelled", &released);
  errand_cancel(rig->group, id);
  rig_expect_status(collector_wait(&rig->collector, id), ERRAND_CANCELLED);
  /* And when the group stops. */
  id = rig_submit(rig, &request);
  errand_pause(rig->group, id);
  lend(rig, id, "stopped", &released);
  assert_int_equal(errand_group_stop(rig->group, ERRAND_STOP_CANCEL, 0),
                   ERRAND_OK);
  rig_expect_status(collector_wait(&rig->collector, id), ERRAND_CANCELLED);
  (void) test_lend(rig->group, id, bytes_of("after"), &released);
  assert_int_equal(errand_group_destroy(rig->group), ERRAND_OK);
  rig->group = NULL;
  assert_int_equal(atomic_load(&released), 8);
}

/* No sum of lengths wraps: a lent part may have any length. */
static void lengths_beyond_all_credit(void **state) {
  test_rig *rig = *state;
  _Atomic uint64_t released = 0;
  static const uint8_t block[200];
  static const struct {
    int64_t length;
    errand_status status;
  } cases[] = {{ERRAND_LENGTH_UNKNOWN, ERRAND_UPLOAD_OVERRUN},
               {4096, ERRAND_INVALID_BODY}};
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(STALL));
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    errand_request request = open_upload(rig, "/");
    request.body_length = cases[i].length;
    uint64_t id = rig_submit(rig, &request);
    errand_upload_write(rig->group, id, (errand_bytes){block, sizeof block});
    errand_bytes absurd = {block, SIZE_MAX - 100};
    assert_int_equal(
        errand_upload_lend(rig->group, id, absurd, count_release, &released),
        ERRAND_OK);
    rig_expect_status(collector_wait(&rig->collector, id), cases[i].status);
    assert_int_equal(atomic_load(&released), i + 1);
  }
}

static void an_empty_upload(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(READ_BODY), ERRAND_FAULT_STEP_SEND(OK));
  for (size_t i = 0; i < 2; i++) {
    errand_request request = rig_request("PUT", rig_url(rig, "/"));
    request.body_kind = ERRAND_BODY_STREAM;
    request.body_length = i == 0 ? 0 : ERRAND_LENGTH_UNKNOWN;
    uint64_t id = rig_submit(rig, &request);
    errand_upload_finish(rig->group, id);
    rig_expect_response(collector_wait(&rig->collector, id), 200, "ok");
    errand_fault_request seen;
    assert_true(errand_fault_server_request(rig->server, i, &seen));
    assert_true(seen.body_complete);
    assert_int_equal(seen.body_length, 0);
  }
}

static void uploads_that_break_their_word(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(READ_BODY), ERRAND_FAULT_STEP_SEND(OK));
  static const struct {
    int64_t length;
    uint64_t credit;
    size_t written;
    bool fails;
    errand_status status;
  } cases[] = {
      {10, 0, 5, false, ERRAND_INVALID_BODY},
      {10, 0, 15, false, ERRAND_INVALID_BODY},
      {ERRAND_LENGTH_UNKNOWN, 10, 11, false, ERRAND_UPLOAD_OVERRUN},
      {ERRAND_LENGTH_UNKNOWN, 0, 5, true, ERRAND_UPLOAD_FAILED},
      {10, 0, 0, true, ERRAND_UPLOAD_FAILED},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    errand_request request = rig_request("PUT", rig_url(rig, "/"));
    request.body_kind = ERRAND_BODY_STREAM;
    request.body_length = cases[i].length;
    request.upload_credit = cases[i].credit;
    uint64_t id = rig_submit(rig, &request);
    static const uint8_t block[16];
    if (cases[i].written > 0)
      errand_upload_write(rig->group, id,
                          (errand_bytes){block, cases[i].written});
    if (cases[i].fails)
      errand_upload_fail(rig->group, id);
    else
      errand_upload_finish(rig->group, id);
    rig_expect_status(collector_wait(&rig->collector, id), cases[i].status);
  }
  assert_int_equal(rig_counts(rig).bodies, 0);
}

static void a_slow_source_is_not_idle(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(READ_BODY), ERRAND_FAULT_STEP_SEND(OK));
  /* Of seconds, as a thread may be late with a part; of more if it was. */
  for (int64_t idle = 5000;; idle *= 4) {
    errand_request request = rig_request("PUT", rig_url(rig, "/"));
    request.body_kind = ERRAND_BODY_STREAM;
    request.body_length = ERRAND_LENGTH_UNKNOWN;
    request.timeout_idle = idle;
    uint64_t id = rig_submit(rig, &request);
    for (int64_t took = 0; took <= idle + 500; took += 400) {
      rest(400);
      errand_upload_write(rig->group, id, bytes_of("part"));
    }
    rest(30);
    errand_upload_finish(rig->group, id);
    const test_result *result = collector_wait(&rig->collector, id);
    if (result->end.status == ERRAND_TIMEOUT_IDLE && idle < 20000)
      continue;
    rig_expect_response(result, 200, "ok");
    break;
  }
}

/* A refusal before the upload's end is the end (RFC 9110 10.1.1, 15.5.14),
   also while the source has nothing to send. */
static void an_early_refusal_ends_the_upload(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/close",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 403 No\r\nConnection: close\r\n"
                                "Content-Length: 2\r\n\r\nno"),
         ERRAND_FAULT_STEP(FINISH));
  RIG_ON(rig, "/keep",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 403 No\r\n"
                                "Content-Length: 2\r\n\r\nno"));
  static const char *const paths[] = {"/keep", "/close"};
  for (size_t i = 0; i < COUNT_OF(paths); i++) {
    errand_request request = rig_request("PUT", rig_url(rig, paths[i]));
    request.body_kind = ERRAND_BODY_STREAM;
    request.body_length = ERRAND_LENGTH_UNKNOWN;
    request.timeout_total = 60000;
    uint64_t id = rig_submit(rig, &request);
    errand_upload_write(rig->group, id, bytes_of("part"));
    rig_expect_response(collector_wait(&rig->collector, id), 403, "no");
    assert_int_equal(errand_upload_write(rig->group, id, bytes_of("late")),
                     ERRAND_OK);
    assert_int_equal(errand_upload_finish(rig->group, id), ERRAND_OK);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST(a_head_then_chunks_then_the_end),
      RIG_TEST(no_more_than_the_credit_comes),
      RIG_TEST(what_is_withheld_backs_up_to_the_server),
      RIG_TEST(decoded_chunks_keep_to_the_credit_as_well),
      RIG_TEST(a_stream_cut_short_says_so_at_its_end),
      RIG_TEST_ONE_LOOP(pause_and_resume),
      RIG_TEST(a_pause_before_the_start_holds_it_back),
      RIG_TEST(cancel_in_every_phase),
      RIG_TEST(uploads_with_and_without_a_length),
      RIG_TEST(lent_parts_are_given_back_once),
      RIG_TEST(lent_parts_that_nobody_takes_are_given_back),
      RIG_TEST(lengths_beyond_all_credit),
      RIG_TEST(an_empty_upload),
      RIG_TEST(uploads_that_break_their_word),
      RIG_TEST(a_slow_source_is_not_idle),
      RIG_TEST(an_early_refusal_ends_the_upload),
  };
  return cmocka_run_group_tests_name("stream", tests, nginx_set_up,
                                     nginx_tear_down);
}
