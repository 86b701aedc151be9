/* How much libcurl asks the socket for at once. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "libcurl/curl_traits.h"
#include "support/rig.h"

enum { SMALL = 16 << 10, LARGE = 128 << 10, BODY = 1 << 20 };

static atomic_size_t most;
static ssize_t (*libc_recv)(int, void *, size_t, int);
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_libc_recv(void) {
  *(void **) &libc_recv = dlsym(RTLD_NEXT, "recv");
}

/* Found before libc's by libcurl because the executable exports it. */
ssize_t recv(int fd, void *buffer, size_t length, int flags) {
  pthread_once(&once, find_libc_recv);
  size_t seen = atomic_load(&most);
  while (length > seen && !atomic_compare_exchange_weak(&most, &seen, length))
    ;
  return libc_recv(fd, buffer, length, flags);
}

static void answer(test_rig *rig) {
  RIG_ON(rig, "/megabyte",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"
                                "Content-Length: 1048576\r\n\r\n"),
         ERRAND_FAULT_STEP_REPEAT(BODY / 16, "0123456789abcdef"));
}

static void expect_most(size_t expected) {
  assert_int_equal(atomic_exchange(&most, 0), expected);
}

/* Small before 8.7, where each transfer has a buffer of its own. */
static size_t without_cause(void) {
  return errand__curl_does(ERRAND__CURL_BORROWS_BUFFERS) ? LARGE : SMALL;
}

static void get(test_rig *rig, const char *path, size_t length) {
  atomic_store(&most, 0);
  const test_result *result = rig_get(rig, rig_url(rig, path));
  rig_expect_status(result, ERRAND_OK);
  assert_int_equal(errand_payload_body(result->end.payload).length, length);
}

static void large_buffers_cost_nothing_per_request(void **state) {
  test_rig *rig = *state;
  answer(rig);
  get(rig, "/megabyte", BODY);
  expect_most(without_cause());
}

/* A large body gives the origin's next 64 requests large buffers. */
static void large_bodies_have_large_reads(void **state) {
  test_rig *rig = *state;
  answer(rig);
  RIG_ON(rig, "/small",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"
                                "Content-Length: 5\r\n\r\nsmall"));
  get(rig, "/small", 5);
  expect_most(without_cause());
  get(rig, "/megabyte", BODY);
  for (int i = 0; i < 64; i++) {
    get(rig, i == 0 ? "/megabyte" : "/small", i == 0 ? BODY : 5);
    expect_most(LARGE);
  }
  get(rig, "/small", 5);
  expect_most(LARGE);
  get(rig, "/small", 5);
  expect_most(without_cause());
}

/* What a paused response has not taken of a read stays in memory. */
static void little_credit_has_small_reads(void **state) {
  test_rig *rig = *state;
  answer(rig);
  for (int i = 0; i < 2; i++) {
    bool small = i == 0;
    errand_request r = rig_request("GET", rig_url(rig, "/megabyte"));
    r.flags = ERRAND_REQUEST_STREAM_RESPONSE;
    r.response_credit = small ? LARGE - 1 : LARGE;
    atomic_store(&most, 0);
    uint64_t id = rig_submit(rig, &r);
    (void) collector_wait_chunks(&rig->collector, id, 1);
    errand_grant(rig->group, id, BODY);
    const test_result *result = collector_wait(&rig->collector, id);
    rig_expect_status(result, ERRAND_OK);
    assert_int_equal(result->chunk_bytes, BODY);
    expect_most(small ? SMALL : LARGE);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST_ONE_LOOP(large_buffers_cost_nothing_per_request),
      RIG_TEST_ONE_LOOP(large_bodies_have_large_reads),
      RIG_TEST_ONE_LOOP(little_credit_has_small_reads),
  };
  return cmocka_run_group_tests_name("receive_buffer", tests, NULL, NULL);
}
