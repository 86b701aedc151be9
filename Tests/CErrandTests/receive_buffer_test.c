/* How much libcurl asks the socket for at once. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "libcurl/curl_traits.h"
#include "support/rig.h"

enum {
  SMALL = 16 << 10,
  BORROWED = 128 << 10,
  SHARED = 129 << 10,
  BODY = 1 << 20,
};

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

/* The sanitizers keep the loops from the heap that shares a buffer. */
static bool is_sanitized(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#else
  return false;
#endif
}

/* What a transfer asks for that may have a large buffer. */
static size_t large(void) {
  return errand__curl_does(ERRAND__CURL_BORROWS_BUFFERS) ? BORROWED
         : is_sanitized()                                ? SMALL
                                                         : SHARED;
}

static void get(test_rig *rig, size_t expected) {
  atomic_store(&most, 0);
  const test_result *result = rig_get(rig, rig_url(rig, "/megabyte"));
  rig_expect_status(result, ERRAND_OK);
  assert_int_equal(errand_payload_body(result->end.payload).length, BODY);
  assert_int_equal(atomic_load(&most), expected);
}

static void large_buffers_cost_nothing_per_request(void **state) {
  answer(*state);
  for (int i = 0; i < 3; i++)
    get(*state, large());
}

/* What a paused response has not taken of a read stays in memory. */
static void little_credit_has_small_reads(void **state) {
  test_rig *rig = *state;
  answer(rig);
  for (int i = 0; i < 2; i++) {
    bool small = i == 0;
    errand_request r = rig_request("GET", rig_url(rig, "/megabyte"));
    r.flags = ERRAND_REQUEST_STREAM_RESPONSE;
    r.response_credit = small ? BORROWED - 1 : SHARED;
    atomic_store(&most, 0);
    uint64_t id = rig_submit(rig, &r);
    (void) collector_wait_chunks(&rig->collector, id, 1);
    errand_grant(rig->group, id, BODY);
    const test_result *result = collector_wait(&rig->collector, id);
    rig_expect_status(result, ERRAND_OK);
    assert_int_equal(result->chunk_bytes, BODY);
    assert_int_equal(atomic_load(&most), small ? SMALL : large());
  }
}

enum { TOGETHER = 80, FIRST = 1000, REST = 8 * SHARED };

/* Of a body that has one letter. */
static uint64_t hash_of(char letter) {
  static char body[FIRST + REST];
  memset(body, letter, sizeof body);
  return errand_fault_hash(0, body, sizeof body);
}

/* Bodies that arrive side by side, each out of credit again and again, stay
   apart in the buffer that they share. */
static void bodies_stay_apart(void **state) {
  static char letters[TOGETHER][2];
  test_rig *rig = *state;
  uint64_t ids[TOGETHER];
  for (int i = 0; i < TOGETHER; i++) {
    letters[i][0] = (char) ('!' + i);
    errand_fault_step first = {.kind = ERRAND_FAULT_SEND,
                               .count = FIRST,
                               .data = letters[i],
                               .length = 1};
    errand_fault_step rest = first;
    rest.count = REST;
    RIG_ON(rig, text("/%d", i),
           ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"
                                  "Content-Length: 1057768\r\n\r\n"),
           first, ERRAND_FAULT_STEP(STALL), rest);
  }
  for (int i = 0; i < TOGETHER; i++) {
    errand_request r = rig_request("GET", rig_url(rig, text("/%d", i)));
    r.flags = ERRAND_REQUEST_STREAM_RESPONSE;
    r.response_credit = SHARED;
    ids[i] = rig_submit(rig, &r);
  }
  for (int i = 0; i < TOGETHER; i++) {
    (void) collector_wait_chunks(&rig->collector, ids[i], 1);
    errand_grant(rig->group, ids[i], FIRST);
  }
  collector_grant_to(&rig->collector, rig->group);
  errand_fault_server_release(rig->server);
  for (int i = 0; i < TOGETHER; i++) {
    const test_result *result = collector_wait(&rig->collector, ids[i]);
    rig_expect_status(result, ERRAND_OK);
    assert_int_equal(result->chunk_bytes, FIRST + REST);
    assert_int_equal(result->chunk_hash, hash_of(letters[i][0]));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST_ONE_LOOP(large_buffers_cost_nothing_per_request),
      RIG_TEST_ONE_LOOP(little_credit_has_small_reads),
      RIG_TEST_ONE_LOOP(bodies_stay_apart),
  };
  return cmocka_run_group_tests_name("receive_buffer", tests, NULL, NULL);
}
