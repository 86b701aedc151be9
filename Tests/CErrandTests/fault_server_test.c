/* The scripted server itself, seen over a plain socket. */
#include "support/test.h"
#include "support/process.h"
#include "support/wire.h"

#include <errno.h>
#include <errand_fault_server.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define GET(path) "GET " path " HTTP/1.1\r\nHost: h\r\n\r\n"
#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define ON(path, ...)                                                          \
  assert_int_equal(errand_fault_server_on_path(                                \
                       server, path, (const errand_fault_step[]){__VA_ARGS__}, \
                       COUNT_OF(((const errand_fault_step[]){__VA_ARGS__}))),  \
                   0)

static process_usage before;
static errand_fault_server *server;
static char answer[1 << 20];

static int set_up(void **state) {
  (void) state;
  before = process_usage_now();
  return errand_fault_server_create(NULL, &server);
}

static int tear_down(void **state) {
  (void) state;
  errand_fault_server_destroy(server);
  return process_usage_settles(before, 60000) ? 0 : -1;
}

static int dial(void) {
  int fd = wire_connect(errand_fault_server_port(server));
  assert_true(fd >= 0);
  return fd;
}

/* Sends a request on a connection of its own and reads to the end. */
static long ask(const char *request) {
  int fd = dial();
  assert_int_equal(wire_send(fd, request), 0);
  long length = wire_read(fd, answer, sizeof answer, NULL);
  int error = errno;
  close(fd);
  errno = error;
  return length;
}

static void await(errand_fault_counts least) {
  assert_true(errand_fault_server_wait(server, &least, 150000));
}

static void echoes_and_records(void **state) {
  (void) state;
  ON("/echo", ERRAND_FAULT_STEP(ECHO));
  int fd = dial();
  wire_send(fd, "POST /echo?q HTTP/1.1\r\nHost: h\r\nX-A: 1\r\n"
                "Content-Length: 5\r\n\r\nhello");
  wire_read(fd, answer, sizeof answer, "\r\n\r\nhello");
  assert_non_null(strstr(answer, "POST /echo?q HTTP/1.1\r\nHost: h\r\nX-A: 1"));
  wire_send(fd, "PUT /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
                "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: 1\r\n\r\n" GET("/none"));
  wire_read(fd, answer, sizeof answer, "404 Not Found");
  assert_non_null(strstr(answer, "\r\n\r\nabcdeHTTP/1.1 404"));
  close(fd);

  errand_fault_request seen;
  assert_true(errand_fault_server_request(server, 1, &seen));
  assert_string_equal(seen.method, "PUT");
  assert_string_equal(seen.target, "/echo");
  assert_int_equal(seen.body_length, 5);
  assert_int_equal(seen.body_hash, errand_fault_hash(0, "abcde", 5));
  assert_true(seen.body_complete);
  assert_int_equal(seen.connection, 1);
  assert_false(errand_fault_server_request(server, 3, &seen));
  await((errand_fault_counts){.connections = 1, .closed = 1, .requests = 3});
}

static void scripts_of_a_path_follow_each_other(void **state) {
  (void) state;
  ON("/p", ERRAND_FAULT_STEP_SEND("first"), ERRAND_FAULT_STEP(FINISH));
  ON("/p", ERRAND_FAULT_STEP_SEND("then"), ERRAND_FAULT_STEP(FINISH));
  ON(NULL, ERRAND_FAULT_STEP_SEND("other"), ERRAND_FAULT_STEP(CLOSE));
  const char *expected[] = {"first", "then", "then"};
  for (size_t i = 0; i < COUNT_OF(expected); i++) {
    ask(GET("/p"));
    assert_string_equal(answer, expected[i]);
  }
  ask(GET("/q"));
  assert_string_equal(answer, "other");
}

static void connections_have_scripts_too(void **state) {
  (void) state;
  const errand_fault_step steps[] = {ERRAND_FAULT_STEP(READ_HEAD),
                                     ERRAND_FAULT_STEP(RESET)};
  errand_fault_server_on_connection(server, 2, steps, COUNT_OF(steps));
  ON("/", ERRAND_FAULT_STEP_SEND(OK), ERRAND_FAULT_STEP(FINISH));
  assert_true(ask(GET("/")) > 0);
  assert_int_equal(ask(GET("/")), -1);
  assert_int_equal(errno, ECONNRESET);
  assert_true(ask(GET("/")) > 0);
}

static void repeats_and_drips(void **state) {
  (void) state;
  ON("/repeat", ERRAND_FAULT_STEP_REPEAT(100000, "abcd"),
     ERRAND_FAULT_STEP(FINISH));
  ON("/drip", ERRAND_FAULT_STEP_DRIP(5, 2, "abcdefgh"),
     ERRAND_FAULT_STEP(FINISH));
  ON("/endless", ERRAND_FAULT_STEP_REPEAT(-1, "x"));
  assert_int_equal(ask(GET("/repeat")), 400000);
  assert_memory_equal(answer + 399996, "abcd", 4);
  int64_t start = process_milliseconds();
  assert_int_equal(ask(GET("/drip")), 16);
  assert_true(process_milliseconds() - start >= 80);
  assert_int_equal(ask(GET("/endless")), (long) sizeof answer - 1);
  await((errand_fault_counts){.closed = 3});
}

static void stalls_until_released(void **state) {
  (void) state;
  ON("/", ERRAND_FAULT_STEP(STALL), ERRAND_FAULT_STEP_SEND("late"),
     ERRAND_FAULT_STEP(FINISH));
  int fd = dial();
  wire_send(fd, GET("/"));
  await((errand_fault_counts){.requests = 1});
  struct pollfd silent = {.fd = fd, .events = POLLIN};
  assert_int_equal(poll(&silent, 1, 50), 0);
  errand_fault_server_release(server);
  wire_read(fd, answer, sizeof answer, NULL);
  assert_string_equal(answer, "late");
  close(fd);
  /* One that is held is ended by the client's close and by destroy. */
  errand_fault_server_hold(server);
  fd = dial();
  wire_send(fd, GET("/"));
  close(fd);
  await((errand_fault_counts){.closed = 2});
  fd = dial();
  wire_send(fd, GET("/"));
  await((errand_fault_counts){.requests = 3});
  errand_fault_server_destroy(server);
  server = NULL;
  assert_int_equal(wire_read(fd, answer, sizeof answer, NULL), 0);
  close(fd);
}

static void gunzip(const uint8_t *bytes, size_t length, uint64_t decoded) {
  char path[] = "/tmp/errand-gzip-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, bytes, length), length);
  close(fd);
  char command[128];
  snprintf(command, sizeof command, "gzip -dc <%s | tr -d '\\0' | wc -c", path);
  FILE *left = popen(command, "r");
  long long not_zero = -1;
  assert_int_equal(fscanf(left, "%lld", &not_zero), 1);
  pclose(left);
  assert_int_equal(not_zero, 0);
  snprintf(command, sizeof command, "gzip -t <%s && gzip -dc <%s | wc -c", path,
           path);
  FILE *all = popen(command, "r");
  unsigned long long count = 0;
  assert_int_equal(fscanf(all, "%llu", &count), 1);
  assert_int_equal(pclose(all), 0);
  assert_int_equal(count, decoded);
  unlink(path);
}

static void gzip_zeros_decode(void **state) {
  (void) state;
  const uint64_t sizes[] = {0, 1, 258, 259, 260, 5000, 10 << 20};
  for (size_t i = 0; i < COUNT_OF(sizes); i++) {
    uint8_t *bytes = NULL;
    size_t length = 0;
    assert_int_equal(errand_fault_gzip_zeros(sizes[i], &bytes, &length), 0);
    gunzip(bytes, length, sizes[i]);
    assert_true(length < sizes[i] / 1000 + 256);
    free(bytes);
  }
}

static void ports_refuse_or_keep_silent(void **state) {
  (void) state;
  errand_fault_port *refused = NULL, *silent = NULL;
  assert_int_equal(
      errand_fault_port_create(ERRAND_FAULT_PORT_REFUSED, &refused), 0);
  assert_int_equal(errand_fault_port_create(ERRAND_FAULT_PORT_SILENT, &silent),
                   0);
  assert_int_equal(wire_connect(errand_fault_port_number(refused)), -1);
  assert_int_equal(errno, ECONNREFUSED);
  int fd = wire_start_connect(errand_fault_port_number(silent));
  struct pollfd connecting = {.fd = fd, .events = POLLOUT};
  assert_int_equal(poll(&connecting, 1, 300), 0);
  close(fd);
  errand_fault_port_destroy(silent);
  errand_fault_port_destroy(refused);
}

static void listens_on_a_unix_socket(void **state) {
  (void) state;
  char path[64];
  snprintf(path, sizeof path, "/tmp/errand-fault-%d.sock", (int) getpid());
  errand_fault_server *local = NULL;
  assert_int_equal(errand_fault_server_create(path, &local), 0);
  assert_int_equal(errand_fault_server_port(local), 0);
  int fd = wire_connect_unix(path);
  assert_true(fd >= 0);
  wire_send(fd, GET("/"));
  assert_true(wire_read(fd, answer, sizeof answer, "404 Not Found") > 0);
  close(fd);
  errand_fault_server *second = NULL;
  assert_int_equal(errand_fault_server_create(path, &second), EADDRINUSE);
  assert_null(second);
  errand_fault_server_destroy(local);
  assert_int_equal(access(path, F_OK), -1);
}

static void is_a_proxy(void **state) {
  (void) state;
  errand_fault_server *proxy = NULL;
  assert_int_equal(errand_fault_server_create(NULL, &proxy), 0);
  const errand_fault_step steps[] = {ERRAND_FAULT_STEP(PROXY)};
  errand_fault_server_on_path(proxy, NULL, steps, 1);
  ON("/a", ERRAND_FAULT_STEP(ECHO));
  char request[256];
  int fd = wire_connect(errand_fault_server_port(proxy));
  snprintf(request, sizeof request, "CONNECT nowhere.test:%u HTTP/1.1\r\n\r\n",
           errand_fault_server_port(server));
  wire_send(fd, request);
  wire_read(fd, answer, sizeof answer, "established\r\n\r\n");
  wire_send(fd, GET("/a"));
  assert_true(wire_read(fd, answer, sizeof answer, "Host: h") > 0);
  assert_non_null(strstr(answer, "X-Connection: 1"));
  close(fd);

  fd = wire_connect(errand_fault_server_port(proxy));
  snprintf(request, sizeof request,
           "POST http://nowhere.test:%u/a HTTP/1.1\r\nProxy-X: 1\r\n"
           "Content-Length: 2\r\n\r\nhi",
           errand_fault_server_port(server));
  wire_send(fd, request);
  assert_true(wire_read(fd, answer, sizeof answer, "\r\n\r\nhi") > 0);
  assert_non_null(strstr(answer, "POST /a HTTP/1.1\r\nConnection: close"));
  assert_null(strstr(answer, "Proxy-X"));
  close(fd);
  errand_fault_server_destroy(proxy);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(echoes_and_records),
      TEST(scripts_of_a_path_follow_each_other),
      TEST(connections_have_scripts_too),
      TEST(repeats_and_drips),
      TEST(stalls_until_released),
      TEST(gzip_zeros_decode),
      TEST(ports_refuse_or_keep_silent),
      TEST(listens_on_a_unix_socket),
      TEST(is_a_proxy),
  };
  return cmocka_run_group_tests_name("fault_server", tests, NULL, NULL);
}
