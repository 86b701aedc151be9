/* A group belongs to the process that made it: in a forked child every call
   says so, and the parent goes on undisturbed. */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libcurl/curl_traits.h"
#include "support/rig.h"

static void answer(test_rig *rig) {
  RIG_ON(rig, "/small",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
                                "ok"));
  RIG_ON(rig, "/stall", ERRAND_FAULT_STEP(STALL),
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 204 No Content\r\n\r\n"));
}

/* In the child, where cmocka's asserts would jump into the parent's image.
   Returns: 0, or the line that was not so. */
#define EXPECT(condition)                                                      \
  if (!(condition))                                                            \
  return __LINE__

static void on_release(void *context) {
  ++*(int *) context;
}

static int every_call(errand_group *group, uint64_t id, const char *url) {
  errand_request r = {.url = bytes_of(url)};
  errand_options_init plain = {0};
  errand_options *options = NULL;
  errand_group_init init = {.on_records = collector_on_records};
  errand_group *second = NULL;
  EXPECT(errand_submit(group, &r, 1) == 0);
  EXPECT(r.status == ERRAND_FORKED);
  EXPECT(r.id == 0);
  EXPECT(errand_cancel(group, id) == ERRAND_FORKED);
  EXPECT(errand_pause(group, id) == ERRAND_FORKED);
  EXPECT(errand_resume(group, id) == ERRAND_FORKED);
  EXPECT(errand_grant(group, id, 1) == ERRAND_FORKED);
  EXPECT(errand_upload_write(group, id, bytes_of("x")) == ERRAND_FORKED);
  EXPECT(errand_upload_write(group, id, bytes_of("")) == ERRAND_FORKED);
  int released = 0;
  EXPECT(errand_upload_lend(group, id, bytes_of("x"), on_release, &released) ==
         ERRAND_FORKED);
  EXPECT(released == 1);
  EXPECT(errand_upload_finish(group, id) == ERRAND_FORKED);
  EXPECT(errand_upload_fail(group, id) == ERRAND_FORKED);
  EXPECT(errand_group_stop(group, ERRAND_STOP_CANCEL, 0) == ERRAND_FORKED);
  EXPECT(errand_group_create(&init, &second) == ERRAND_FORKED);
  EXPECT(second == NULL);
  EXPECT(errand_options_create(&plain, &options) == ERRAND_FORKED);
  EXPECT(errand_group_destroy(group) == ERRAND_OK);
  return 0;
}

/* Returns: the child's exit status; -1 where a signal ended it. */
static int wait_for(pid_t child) {
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_child_is_told(void **state) {
  test_rig *rig = *state;
  answer(rig);
  rig_expect_response(rig_get(rig, rig_url(rig, "/small")), 200, "ok");
  errand_request stalled = rig_request("GET", rig_url(rig, "/stall"));
  uint64_t id = rig_submit(rig, &stalled);
  rig_await(rig, (errand_fault_counts){.requests = 2});
  const char *url = rig_url(rig, "/small");
  rig_expect_response(rig_get(rig, url), 200, "ok");
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0)
    _exit(every_call(rig->group, id, url) % 256);
  assert_int_equal(wait_for(child), 0);
  /* The stalled one was neither cancelled nor lost, the kept connection is
     the parent's still. */
  assert_int_equal(collector_peek(&rig->collector, id).order, 0);
  const test_result *again = rig_get(rig, url);
  rig_expect_response(again, 200, "ok");
  assert_true((again->end.flags & ERRAND_RECORD_REUSED) != 0);
  errand_fault_server_release(rig->server);
  rig_expect_response(collector_wait(&rig->collector, id), 204, NULL);
}

/* libcurl before 8.2 closes a connecting socket without the callback, so its
   registration is not removed; a child's copy then keeps it alive, and its
   events come without end (uv #1468). */
static void a_childs_copy_does_not_make_the_loop_spin(void **state) {
  test_rig *rig = *state;
  errand_fault_port *silent;
  answer(rig);
  assert_int_equal(errand_fault_port_create(ERRAND_FAULT_PORT_SILENT, &silent),
                   0);
  errand_request r = rig_request(
      "GET", text("http://127.0.0.1:%u/", errand_fault_port_number(silent)));
  r.timeout_connect = 200;
  uint64_t id = rig_submit(rig, &r);
  int64_t start = process_milliseconds();
  while (rig_stats(rig).connections_opened == 0) {
    assert_true(process_milliseconds() - start < 150000);
    usleep(1000);
  }
  int line[2];
  assert_int_equal(pipe(line), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    char end;
    close(line[1]);
    _exit(read(line[0], &end, 1) != 0);
  }
  close(line[0]);
  rig_expect_status(collector_wait(&rig->collector, id),
                    ERRAND_TIMEOUT_CONNECT);
  /* The copy becomes ready: its connection is refused. */
  errand_fault_port_destroy(silent);
  rig_expect_response(rig_get(rig, rig_url(rig, "/small")), 200, "ok");
  rig_expect_rest(rig, 1500, 66);
  close(line[1]);
  assert_int_equal(wait_for(child), 0);
}

/* Not by fstat: ThreadSanitizer would see it race with the server's close. */
static bool is_pipe(int fd) {
  return fcntl(fd, F_GETPIPE_SZ) >= 0;
}

/* What a spawned program must not inherit. */
static void descriptors_are_closed_on_exec(void **state) {
  test_rig *rig = *state;
  answer(rig);
  int before[1024] = {0};
  /* Those of the test's own server are not at issue. */
  for (int fd = 0; fd < 1024; fd++)
    before[fd] = fcntl(fd, F_GETFD) >= 0;
  errand_group_init init = {.loops = 2,
                            .allow_denied_library = 1,
                            .on_records = collector_on_records,
                            .context = &rig->collector};
  errand_group *group = NULL;
  assert_int_equal(errand_group_create(&init, &group), ERRAND_OK);
  errand_request r = rig_request("GET", rig_url(rig, "/stall"));
  assert_int_equal(errand_submit(group, &r, 1), 1);
  rig->accepted++;
  rig_await(rig, (errand_fault_counts){.requests = 1});
  int seen = 0;
  int connections = 0;
  int inherited = -1;
  for (int fd = 0; fd < 1024; fd++) {
    int flags = fcntl(fd, F_GETFD);
    if (flags < 0 || before[fd])
      continue;
    struct sockaddr_storage own = {0};
    socklen_t length = sizeof own;
    bool is_socket = getsockname(fd, (struct sockaddr *) &own, &length) == 0;
    /* libcurl's wake-up pair (before 8.19) is out of reach; nothing of a
       request passes through it. */
    if (is_socket && own.ss_family == AF_UNIX)
      continue;
    if (is_pipe(fd) && errand__curl_does(ERRAND__CURL_LEAVES_PIPES))
      continue;
    seen++;
    connections += is_socket;
    if ((flags & FD_CLOEXEC) == 0)
      inherited = fd;
  }
  errand_status ended = errand_group_destroy(group);
  assert_int_equal(ended, ERRAND_OK);
  if (inherited >= 0)
    fail_msg("descriptor %d would be inherited", inherited);
  /* Two loops' sets and events, both ends of the connection. */
  assert_true(seen >= 6);
  assert_true(connections >= 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST(a_child_is_told),
      RIG_TEST_ONE_LOOP(a_childs_copy_does_not_make_the_loop_spin),
      RIG_TEST(descriptors_are_closed_on_exec),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
