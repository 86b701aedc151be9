/* What reaches the server: method, target, fields and every kind of body. */
#include "support/rig.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static errand_fault_request seen(test_rig *rig, size_t index) {
  errand_fault_request request;
  rig_await(rig, (errand_fault_counts){.bodies = index + 1});
  assert_true(errand_fault_server_request(rig->server, index, &request));
  return request;
}

/* Times a field occurs in the head. */
static int occurrences(const char *head, const char *name) {
  int count = 0;
  while ((head = strcasestr(head, name)) != NULL) {
    count += 1;
    head += strlen(name);
  }
  return count;
}

static void sends_any_method(void **state) {
  test_rig *rig = *state;
  static const char *const methods[] = {
      "GET",    "POST",    "PUT",
      "DELETE", "OPTIONS", "PATCH",
      "TRACE",  "PURGE",   "X!#$%&'*+-.^_`|~1",
      "get"};
  RIG_ON(rig, "/m", ERRAND_FAULT_STEP(ECHO));
  for (size_t i = 0; i < COUNT_OF(methods); i++) {
    errand_request request = rig_request(methods[i], rig_url(rig, "/m"));
    rig_expect_response(rig_run(rig, &request), 200, NULL);
    assert_string_equal(seen(rig, i).method, methods[i]);
    assert_int_equal(seen(rig, i).body_length, 0);
  }
  errand_request unnamed = rig_request("", rig_url(rig, "/m"));
  rig_expect_response(rig_run(rig, &unnamed), 200, NULL);
  assert_string_equal(seen(rig, COUNT_OF(methods)).method, "GET");
}

static void sends_the_target_as_it_is_given(void **state) {
  test_rig *rig = *state;
  static const char *const targets[][2] = {
      {"", "/"},
      {"/", "/"},
      {"/a/b?c=d&e", "/a/b?c=d&e"},
      {"/a%20b%2Fc?x=%41", "/a%20b%2Fc?x=%41"},
      {"/a//b;c=1", "/a//b;c=1"},
      {"/../up/./x", "/../up/./x"},
      {"/a#fragment", "/a"},
      {"?only=query", "/?only=query"},
  };
  RIG_ON(rig, NULL, ERRAND_FAULT_STEP(ECHO));
  for (size_t i = 0; i < COUNT_OF(targets); i++) {
    rig_expect_response(rig_get(rig, rig_url(rig, targets[i][0])), 200, NULL);
    assert_string_equal(seen(rig, i).target, targets[i][1]);
  }
}

/* The same handle has its URL by CURLOPT_URL, and by its origin's root and a
   request target, in turns, and of two origins. */
static void a_handle_takes_every_kind_of_url(void **state) {
  test_rig *rig = *state;
  unsigned port = errand_fault_server_port(rig->server);
  static const struct {
    const char *before, *after, *target, *host;
    bool user;
  } urls[] = {
      {"http://127.0.0.1", "/a?b", "/a?b", "127.0.0.1", false},
      {"http://localhost", "/c", "/c", "localhost", false},
      {"http://127.0.0.1", "?only", "/?only", "127.0.0.1", false},
      {"http://me:secret@127.0.0.1", "/d", "/d", "127.0.0.1", true},
      {"http://127.0.0.1", "", "/", "127.0.0.1", false},
      {"http://LOCALHOST", "/e", "/e", "LOCALHOST", false},
      {"HTTP://localhost", "/f#g", "/f", "localhost", false},
      {"http://loc%61lhost", "/h", "/h", "localhost", false},
      {"http://127.1", "/i", "/i", "127.0.0.1", false},
      {"http://127.0.0.1", "?", "/?", "127.0.0.1", false},
      /* What is looked up is what is said, whatever the spelling. */
      {"http://0x7f000001", "/j#k", "/j", "127.0.0.1", false},
      {"http://127.0.0.1.", "/l", "/l", "127.0.0.1", false},
      {"http://me:secret@127.0.0.%31", "/m?n#o", "/m?n", "127.0.0.1", true},
      {"http://%EF%BC%91%EF%BC%92%EF%BC%97%E3%80%82\xef\xbc\x91", "?p", "/?p",
       "127.0.0.1", false},
      {"http://\xef\xbd\x8cocalhost", "", "/", "localhost", false},
  };
  RIG_ON(rig, NULL, ERRAND_FAULT_STEP(ECHO));
  for (size_t i = 0; i < 3 * COUNT_OF(urls); i++) {
    size_t n = i * 7 % COUNT_OF(urls); /* every order of two */
    const char *url = text("%s:%u%s", urls[n].before, port, urls[n].after);
    rig_expect_response(rig_get(rig, url), 200, NULL);
    errand_fault_request request = seen(rig, i);
    assert_string_equal(request.target, urls[n].target);
    assert_non_null(
        strstr(request.head, text("\r\nHost: %s:%u\r\n", urls[n].host, port)));
    assert_int_equal(occurrences(request.head, "\nAuthorization: Basic"),
                     urls[n].user);
  }
}

static void sends_fields_once_and_in_order(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(ECHO));
  errand_request request = rig_request("POST", rig_url(rig, "/"));
  request.headers = bytes_of("X-One: 1\r\nX-Empty:\r\nX-One: 2\r\n"
                             "Content-Type: text/x\r\nUser-Agent: me\r\n"
                             "Accept: */x\r\nX-Last: \xc3\xa9 \t;");
  request.body_kind = ERRAND_BODY_MEMORY;
  request.body = bytes_of("abc");
  rig_expect_response(rig_run(rig, &request), 200, NULL);
  const char *head = seen(rig, 0).head;
  const char *one = strstr(head, "\r\nX-One: 1\r\n");
  assert_non_null(one);
  assert_non_null(strstr(one, "\r\nX-One: 2\r\n"));
  assert_non_null(strstr(head, "\r\nX-Empty:\r\n"));
  assert_non_null(strstr(head, "\r\nX-Last: \xc3\xa9 \t;\r\n"));
  assert_non_null(strstr(head, "\r\nUser-Agent: me\r\n"));
  assert_int_equal(occurrences(head, "\nContent-Type:"), 1);
  assert_int_equal(occurrences(head, "\nAccept:"), 1);
  assert_int_equal(occurrences(head, "\nUser-Agent:"), 1);
  assert_int_equal(occurrences(head, "\nHost:"), 1);
  assert_int_equal(occurrences(head, "\nContent-Length: 3\r\n"), 1);
  assert_int_equal(occurrences(head, "\nExpect:"), 0);
}

static void adds_no_fields_of_its_own(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(ECHO));
  rig_expect_response(rig_get(rig, rig_url(rig, "/")), 200, NULL);
  const char *head = seen(rig, 0).head;
  assert_int_equal(occurrences(head, "\nUser-Agent:"), 0);
  assert_int_equal(occurrences(head, "\nAccept-Encoding:"), 0);
  assert_int_equal(occurrences(head, "\nTransfer-Encoding:"), 0);
  assert_int_equal(occurrences(head, "\nContent-Length:"), 0);
}

static void a_field_of_the_caller_replaces_host(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(ECHO));
  errand_request request = rig_request("GET", rig_url(rig, "/"));
  request.headers = bytes_of("Host: other.test\r\n");
  rig_expect_response(rig_run(rig, &request), 200, NULL);
  const char *head = seen(rig, 0).head;
  assert_non_null(strstr(head, "\r\nHost: other.test\r\n"));
  assert_int_equal(occurrences(head, "\nHost:"), 1);
}

static void expect_body(test_rig *rig, size_t index, const void *body,
                        size_t length) {
  errand_fault_request request = seen(rig, index);
  assert_true(request.body_complete);
  assert_int_equal(request.body_length, length);
  assert_int_equal(request.body_hash, errand_fault_hash(0, body, length));
}

static void sends_memory_of_every_size(void **state) {
  test_rig *rig = *state;
  static const size_t sizes[] = {0, 1, 1023, 65535, 65536, 65537, 3 << 20};
  static uint8_t body[3 << 20];
  for (size_t i = 0; i < 3 << 20; i++)
    body[i] = (uint8_t) (i * 31 + (i >> 8));
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(READ_BODY),
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 204 No Content\r\n\r\n"));
  for (size_t i = 0; i < COUNT_OF(sizes); i++) {
    errand_request request =
        rig_request(i % 2 ? "POST" : "PUT", rig_url(rig, "/"));
    request.body_kind = ERRAND_BODY_MEMORY;
    request.body = (errand_bytes){body, sizes[i]};
    const test_result *result = rig_run(rig, &request);
    rig_expect_response(result, 204, "");
    assert_int_equal(result->end.bytes_sent, sizes[i]);
    expect_body(rig, i, body, sizes[i]);
    assert_int_equal(occurrences(seen(rig, i).head,
                                 text("\nContent-Length: %zu\r\n", sizes[i])),
                     1);
    assert_int_equal(occurrences(seen(rig, i).head, "\nExpect:"), 0);
  }
}

static void release(void *context) {
  __atomic_fetch_add((int *) context, 1, __ATOMIC_SEQ_CST);
}

static void borrows_memory_and_gives_it_back_once(void **state) {
  test_rig *rig = *state;
  int released = 0;
  char *body = strdup("borrowed");
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(ECHO));
  errand_request request = rig_request("POST", rig_url(rig, "/"));
  request.body_kind = ERRAND_BODY_MEMORY;
  request.body = bytes_of(body);
  request.body_release = release;
  request.body_release_context = &released;
  rig_expect_response(rig_run(rig, &request), 200, NULL);
  expect_body(rig, 0, "borrowed", 8);

  /* One that is refused is not given back: it was never taken. */
  errand_request refused = request;
  refused.url = bytes_of("ftp://h/");
  assert_int_equal(errand_submit(rig->group, &refused, 1), 0);
  /* One that ends before it starts is. */
  errand_request dropped = request;
  dropped.url = bytes_of(rig_url(rig, "/"));
  uint64_t id = rig_submit(rig, &dropped);
  errand_cancel(rig->group, id);
  collector_wait(&rig->collector, id);
  assert_int_equal(errand_group_stop(rig->group, ERRAND_STOP_DRAIN, 10000),
                   ERRAND_OK);
  assert_int_equal(errand_group_destroy(rig->group), ERRAND_OK);
  rig->group = NULL;
  assert_int_equal(released, 2);
  free(body);
}

static int file_of(char *path, const char *content) {
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, content, strlen(content)), strlen(content));
  return fd;
}

static void sends_files_and_descriptors(void **state) {
  test_rig *rig = *state;
  char path[] = "/tmp/errand-body-XXXXXX";
  int fd = file_of(path, "0123456789");
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(ECHO));
  static const struct {
    uint64_t offset;
    int64_t length;
    const char *expected;
  } ranges[] = {
      {0, ERRAND_LENGTH_UNKNOWN, "0123456789"},
      {3, ERRAND_LENGTH_UNKNOWN, "3456789"},
      {3, 4, "3456"},
      {10, ERRAND_LENGTH_UNKNOWN, ""},
      {0, 10, "0123456789"},
  };
  for (size_t i = 0; i < COUNT_OF(ranges) * 2; i++) {
    size_t at = i / 2;
    errand_request request = rig_request("PUT", rig_url(rig, "/"));
    request.body_kind = i % 2 ? ERRAND_BODY_FILE : ERRAND_BODY_DESCRIPTOR;
    request.body_path = i % 2 ? path : NULL;
    request.body_fd = fd;
    request.body_offset = ranges[at].offset;
    request.body_length = ranges[at].length;
    rig_expect_response(rig_run(rig, &request), 200, NULL);
    expect_body(rig, i, ranges[at].expected, strlen(ranges[at].expected));
  }
  assert_int_equal(lseek(fd, 0, SEEK_CUR), 10);
  close(fd);
  unlink(path);
}

static void sends_a_file_that_was_unlinked_and_closed(void **state) {
  test_rig *rig = *state;
  char path[] = "/tmp/errand-body-XXXXXX";
  int fd = file_of(path, "gone");
  const errand_fault_step steps[] = {ERRAND_FAULT_STEP(STALL)};
  errand_fault_server_on_connection(rig->server, 1, steps, 1);
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(ECHO));
  errand_request request = rig_request("PUT", rig_url(rig, "/"));
  request.body_kind = ERRAND_BODY_DESCRIPTOR;
  request.body_fd = fd;
  request.body_length = ERRAND_LENGTH_UNKNOWN;
  uint64_t id = rig_submit(rig, &request);
  close(fd);
  unlink(path);
  errand_fault_server_release(rig->server);
  rig_expect_response(collector_wait(&rig->collector, id), 200, NULL);
  expect_body(rig, 0, "gone", 4);
}

static void a_length_beyond_the_file_is_an_error(void **state) {
  test_rig *rig = *state;
  char path[] = "/tmp/errand-body-XXXXXX";
  int fd = file_of(path, "0123");
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(ECHO));
  errand_request request = rig_request("PUT", rig_url(rig, "/"));
  request.body_kind = ERRAND_BODY_FILE;
  request.body_path = path;
  request.body_length = 10;
  /* Told at once, or when the source runs dry: the file may shrink later. */
  if (errand_submit(rig->group, &request, 1) == 0) {
    assert_int_equal(request.status, ERRAND_INVALID_BODY);
  } else {
    rig->accepted += 1;
    rig_expect_status(collector_wait(&rig->collector, request.id),
                      ERRAND_UPLOAD_FAILED);
  }
  close(fd);
  unlink(path);
}

static void a_file_that_shrinks_ends_the_request(void **state) {
  test_rig *rig = *state;
  char path[] = "/tmp/errand-body-XXXXXX";
  int fd = file_of(path, "");
  int64_t length = 32 << 20; /* more than loopback's buffers hold */
  assert_int_equal(ftruncate(fd, length), 0);
  RIG_ON(rig, "/", ERRAND_FAULT_STEP(STALL), ERRAND_FAULT_STEP(ECHO));
  errand_request request = rig_request("PUT", rig_url(rig, "/"));
  request.body_kind = ERRAND_BODY_FILE;
  request.body_path = path;
  request.body_length = ERRAND_LENGTH_UNKNOWN;
  uint64_t id = rig_submit(rig, &request);
  rig_await(rig, (errand_fault_counts){.requests = 1});
  assert_int_equal(ftruncate(fd, 100), 0);
  errand_fault_server_release(rig->server);
  rig_expect_status(collector_wait(&rig->collector, id), ERRAND_UPLOAD_FAILED);
  assert_int_equal(rig_counts(rig).bodies, 0);
  close(fd);
  unlink(path);
}

static void answers_an_early_refusal_without_the_rest(void **state) {
  test_rig *rig = *state;
  size_t length = 8 << 20;
  uint8_t *body = calloc(1, length);
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 413 Too Large\r\nContent-Length: 3"
                                "\r\nConnection: close\r\n\r\nbig"),
         ERRAND_FAULT_STEP(FINISH));
  errand_request request = rig_request("POST", rig_url(rig, "/"));
  request.body_kind = ERRAND_BODY_MEMORY;
  request.body = (errand_bytes){body, length};
  rig_expect_response(rig_run(rig, &request), 413, "big");
  free(body);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST(sends_any_method),
      RIG_TEST(sends_the_target_as_it_is_given),
      RIG_TEST(a_handle_takes_every_kind_of_url),
      RIG_TEST(sends_fields_once_and_in_order),
      RIG_TEST(adds_no_fields_of_its_own),
      RIG_TEST(a_field_of_the_caller_replaces_host),
      RIG_TEST(sends_memory_of_every_size),
      RIG_TEST(borrows_memory_and_gives_it_back_once),
      RIG_TEST(sends_files_and_descriptors),
      RIG_TEST(sends_a_file_that_was_unlinked_and_closed),
      RIG_TEST(a_length_beyond_the_file_is_an_error),
      RIG_TEST(a_file_that_shrinks_ends_the_request),
      RIG_TEST(answers_an_early_refusal_without_the_rest),
  };
  return cmocka_run_group_tests_name("request", tests, NULL, NULL);
}
