/* What a request does where no descriptor is left. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/rig.h"

#define SOFT_LIMIT 512
#define ORIGINS 16

static struct rlimit before;
static int fillers[SOFT_LIMIT];
static size_t filler_count;

/* Takes every descriptor that the process may have. */
static void take_all(void) {
  struct rlimit low = before;
  low.rlim_cur = SOFT_LIMIT;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
  int fd;
  filler_count = 0;
  while ((fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
    fillers[filler_count++] = fd;
  assert_int_equal(errno, EMFILE);
}

static void give_back(size_t count) {
  while (count-- > 0 && filler_count > 0)
    close(fillers[--filler_count]);
}

static int set_up_loops(void **state, uint32_t loops) {
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  if (rig_set_up_with(state, (errand_group_init){.loops = loops}) != 0)
    return -1;
  test_rig *rig = *state;
  RIG_ON(rig, "/small",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
                                "ok"));
  return 0;
}

static int set_up(void **state) {
  return set_up_loops(state, 4);
}

static int set_up_one_loop(void **state) {
  return set_up_loops(state, 1);
}

static int tear_down(void **state) {
  give_back(filler_count);
  setrlimit(RLIMIT_NOFILE, &before);
  return rig_tear_down(state);
}

/* The error is one of its own, and its text has the limit. */
static void a_connect_says_what_is_wanting(void **state) {
  test_rig *rig = *state;
  take_all();
  const test_result *result = rig_get(rig, rig_url(rig, "/small"));
  rig_expect_status(result, ERRAND_OUT_OF_DESCRIPTORS);
  assert_int_equal(result->end.os_error, EMFILE);
  assert_non_null(result->end.payload);
  const char *text = bytes_text(errand_payload_error_text(result->end.payload));
  assert_non_null(strstr(text, "RLIMIT_NOFILE"));
  assert_non_null(strstr(text, "512"));
  give_back(filler_count);
  rig_expect_response(rig_get(rig, rig_url(rig, "/small")), 200, "ok");
}

/* A descriptor that is there a moment later is enough. */
static void a_connect_is_tried_again(void **state) {
  test_rig *rig = *state;
  for (int i = 0;; i++) {
    take_all();
    errand_request r = rig_request("GET", rig_url(rig, "/small"));
    int64_t start = process_milliseconds();
    rig_submit(rig, &r);
    usleep(5000);
    give_back(16);
    /* It is tried for 260 ms, and this thread may be later than that. */
    bool late = process_milliseconds() - start > 200;
    const test_result *result = collector_wait(&rig->collector, r.id);
    if (!late || i == 20 || result->end.status == ERRAND_OK) {
      rig_expect_response(result, 200, "ok");
      return;
    }
    rig_expect_status(result, ERRAND_OUT_OF_DESCRIPTORS);
    give_back(filler_count);
  }
}

/* One server under many identities, whose connections are idle on all loops:
   all of them are given back for one request of another. */
static void idle_connections_of_all_loops_are_closed(void **state) {
  test_rig *rig = *state;
  errand_options *options[ORIGINS];
  for (int i = 0; i < ORIGINS; i++) {
    errand_options_init init = {.local_interface = "127.0.0.1"};
    assert_int_equal(errand_options_create(&init, &options[i]), ERRAND_OK);
  }
  for (int i = 1; i < ORIGINS; i++) {
    errand_request r = rig_request("GET", rig_url(rig, "/small"));
    r.options = options[i];
    rig_expect_response(rig_run(rig, &r), 200, "ok");
  }
  /* A loop publishes its numbers after it has told of an end. */
  for (int i = 0; i < 30000; i++) {
    if (rig_stats(rig).connections_idle == ORIGINS - 1)
      break;
    usleep(1000);
  }
  assert_int_equal(rig_stats(rig).connections_idle, ORIGINS - 1);
  take_all();
  errand_request r = rig_request("GET", rig_url(rig, "/small"));
  r.options = options[0];
  rig_expect_response(rig_run(rig, &r), 200, "ok");
  assert_true(rig_stats(rig).connections_open <= 1);
  for (int i = 0; i < ORIGINS; i++)
    errand_options_release(options[i]);
}

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define EVIL "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"

/* Before 8.0 the core ends an idle connection on which bytes come by a socket
   pair in its place. Where there is no descriptor for that, nothing else is
   sent on the connection. */
static void a_connection_that_cannot_be_ended_is_left(void **state) {
  test_rig *rig = *state;
  errand_fault_server *other = NULL;
  assert_int_equal(errand_fault_server_create(NULL, &other), 0);
  const errand_fault_step late[] = {ERRAND_FAULT_STEP(STALL),
                                    ERRAND_FAULT_STEP_SEND(OK)};
  assert_int_equal(errand_fault_server_on_path(other, "/late", late, 2), 0);
  RIG_ON(rig, "/first", ERRAND_FAULT_STEP_SEND(OK), ERRAND_FAULT_STEP(STALL),
         ERRAND_FAULT_STEP_SEND(EVIL));
  RIG_ON(rig, "/next", ERRAND_FAULT_STEP_SEND(OK));
  rig_expect_response(rig_get(rig, rig_url(rig, "/first")), 200, "ok");
  errand_request r = rig_request(
      "GET", text("http://127.0.0.1:%u/late", errand_fault_server_port(other)));
  uint64_t id = rig_submit(rig, &r);
  assert_int_equal(errand_fault_server_wait(
                       other, &(errand_fault_counts){.requests = 1}, 150000),
                   1);
  take_all();
  uint64_t sent = rig_counts(rig).bytes_sent + sizeof EVIL - 1;
  errand_fault_server_release(rig->server);
  rig_await(rig, (errand_fault_counts){.bytes_sent = sent});
  /* The loop sees these bytes behind the others. */
  errand_fault_server_release(other);
  rig_expect_response(collector_wait(&rig->collector, id), 200, "ok");
  give_back(filler_count);
  rig_expect_response(rig_get(rig, rig_url(rig, "/next")), 200, "ok");
  errand_fault_server_destroy(other);
}

static void a_file_says_so_too(void **state) {
  test_rig *rig = *state;
  errand_request r = rig_request("PUT", rig_url(rig, "/small"));
  errand_options *options = NULL;
  errand_options_init init = {.ca_file = "/dev/null"};
  r.body_kind = ERRAND_BODY_FILE;
  r.body_path = "/proc/self/exe";
  r.body_length = ERRAND_LENGTH_UNKNOWN;
  take_all();
  assert_int_equal(errand_submit(rig->group, &r, 1), 0);
  assert_int_equal(r.status, ERRAND_OUT_OF_DESCRIPTORS);
  assert_int_equal(errand_options_create(&init, &options),
                   ERRAND_OUT_OF_DESCRIPTORS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_connect_says_what_is_wanting),
      TEST(a_connect_is_tried_again),
      TEST(idle_connections_of_all_loops_are_closed),
      cmocka_unit_test_setup_teardown(a_connection_that_cannot_be_ended_is_left,
                                      set_up_one_loop, tear_down),
      TEST(a_file_says_so_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
