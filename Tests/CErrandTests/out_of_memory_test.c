/* Timeout: 240 s */
/* Every allocation of the core fails once, in turn, over a list of scenarios:
   no crash, no leak, one completion for what was accepted, and OUT_OF_MEMORY
   as the only other answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "support/dns_interposer.h"
#include "support/loan.h"
#include "support/rig.h"

#define ATTEMPTS_MAX 2000

typedef struct attempt {
  errand_group *group;
  test_collector collector;
  uint64_t accepted;
  uint64_t cancelled; /* requests that may end so */
  uint64_t lent;      /* parts of uploads */
  _Atomic uint64_t released;
} attempt;

typedef void (*scenario)(attempt *a);

static errand_fault_server *server;
static char file[] = "/tmp/errand-oom-XXXXXX";

static const char *url(const char *path) {
  return text("http://127.0.0.1:%u%s", errand_fault_server_port(server), path);
}

static errand_request request(const char *method, const char *path) {
  return (errand_request){.method = bytes_of(method),
                          .url = bytes_of(url(path)),
                          .timeout_total = 120000};
}

/* Returns: the id, 0 where memory ran out. */
static uint64_t submit(attempt *a, errand_request *r) {
  if (errand_submit(a->group, r, 1) == 1) {
    a->accepted++;
    return r->id;
  }
  assert_string_equal(errand_status_name(r->status), "OUT_OF_MEMORY");
  return 0;
}

static void wait_all(attempt *a) {
  collector_wait_completions(&a->collector, a->accepted);
}

static void ends_well(const attempt *a) {
  uint64_t cancelled = 0;
  for (size_t i = 0; i < a->collector.capacity; i++) {
    const test_result *result = a->collector.table[i];
    if (result == NULL || result->order == 0)
      continue;
    if (result->end.status == ERRAND_CANCELLED)
      cancelled++;
    else if (result->end.status != ERRAND_OUT_OF_MEMORY)
      rig_expect_status(result, ERRAND_OK);
  }
  assert_true(cancelled <= a->cancelled);
}

/* Bodies in memory of the caller's: blocks of the core's, which fail in turn
   as well. */
static void *make_block(void *context, size_t *capacity, void **owner) {
  (void) context;
  void **block = errand__malloc(sizeof *block);
  if (!block)
    return NULL;
  *block = errand__malloc(*capacity);
  if (!*block) {
    errand__free(block);
    return NULL;
  }
  *owner = block;
  return *block;
}

static void *grow_block(void *context, void *owner, size_t used,
                        size_t *capacity) {
  void **block = owner;
  (void) context;
  (void) used;
  void *grown = errand__realloc(*block, *capacity);
  if (grown)
    *block = grown;
  return grown;
}

static void release_block(void *owner) {
  errand__free(*(void **) owner);
  errand__free(owner);
}

static const errand_body_memory heap_memory = {NULL, make_block, grow_block,
                                               release_block};

static void buffered(attempt *a) {
  errand_request items[4];
  for (size_t i = 0; i < COUNT_OF(items); i++) {
    items[i] = request("GET", i % 2 ? "/small" : "/chunked");
    items[i].headers = bytes_of("X-One: 1\r\nX-Empty:\r\n");
    items[i].flags = i % 2 ? ERRAND_REQUEST_REPORT_CONNECTION : 0;
    items[i].response_memory = i == 2 ? &heap_memory : NULL;
  }
  a->accepted += errand_submit(a->group, items, COUNT_OF(items));
  for (size_t i = 0; i < COUNT_OF(items); i++)
    if (items[i].status != ERRAND_OK)
      assert_string_equal(errand_status_name(items[i].status), "OUT_OF_MEMORY");
  wait_all(a);
  /* Again, on what is kept. */
  errand_request one = request("GET", "/small");
  submit(a, &one);
  wait_all(a);
}

/* A name that does not resolve, given up while memory is short. */
static void resolving(attempt *a) {
  errand_request slow = request("GET", "/small");
  slow.url = bytes_of("http://hang-oom.test/");
  dns_hold();
  uint64_t id = submit(a, &slow);
  errand_request good = request("GET", "/small");
  submit(a, &good);
  usleep(10000); /* until its thread hangs */
  a->cancelled = 1;
  while (errand_cancel(a->group, id) != ERRAND_OK)
    continue;
  wait_all(a);
  dns_release();
  errand_request again = request("GET", "/small");
  submit(a, &again);
  wait_all(a);
}

static void many_at_once(attempt *a) {
  for (int i = 0; i < 90; i++) {
    errand_request one = request("GET", "/small");
    submit(a, &one);
  }
  wait_all(a);
}

static void streamed(attempt *a) {
  errand_request r = request("GET", "/big");
  r.response_memory = &heap_memory;
  r.flags = ERRAND_REQUEST_STREAM_RESPONSE;
  r.response_credit = 1 << 20;
  uint64_t id = submit(a, &r);
  if (id == 0)
    return;
  /* A grant that memory ran out for leaves the credit as it was. */
  (void) errand_grant(a->group, id, 1 << 20);
  wait_all(a);
}

static void uploads(attempt *a) {
  static const uint8_t bytes[3000];
  errand_request memory = request("POST", "/echo");
  memory.body_kind = ERRAND_BODY_MEMORY;
  memory.body = (errand_bytes){bytes, sizeof bytes};
  submit(a, &memory);
  errand_request from_file = request("PUT", "/echo");
  from_file.body_kind = ERRAND_BODY_FILE;
  from_file.body_path = file;
  from_file.body_length = ERRAND_LENGTH_UNKNOWN;
  submit(a, &from_file);
  errand_request stream = request("POST", "/echo");
  stream.body_kind = ERRAND_BODY_STREAM;
  stream.body_length = ERRAND_LENGTH_UNKNOWN;
  uint64_t id = submit(a, &stream);
  if (id != 0) {
    bool ok = true;
    for (int i = 0; ok && i < 4; i++) {
      errand_bytes part = {bytes, sizeof bytes};
      bool is_lent = i % 2 == 1;
      a->lent += is_lent;
      ok = (is_lent ? test_lend(a->group, id, part, &a->released)
                    : errand_upload_write(a->group, id, part)) == ERRAND_OK;
    }
    ok = ok && errand_upload_finish(a->group, id) == ERRAND_OK;
    if (!ok) {
      /* What was not written cannot be sent: the caller gives up. */
      a->cancelled = 1;
      assert_int_equal(errand_cancel(a->group, id), ERRAND_OK);
    }
  }
  wait_all(a);
}

static void orders(attempt *a) {
  errand_request stalled = request("GET", "/stall");
  errand_request small = request("GET", "/small");
  uint64_t first = submit(a, &stalled);
  uint64_t second = submit(a, &small);
  (void) errand_pause(a->group, second);
  while (errand_resume(a->group, second) != ERRAND_OK)
    continue;
  a->cancelled = 1;
  while (errand_cancel(a->group, first) != ERRAND_OK)
    continue;
  wait_all(a);
}

static void stopped_early(attempt *a) {
  for (int i = 0; i < 6; i++) {
    errand_request r = request("GET", i % 2 ? "/stall" : "/small");
    submit(a, &r);
  }
  a->cancelled = 6;
  assert_int_equal(errand_group_stop(a->group, ERRAND_STOP_CANCEL, 0),
                   ERRAND_OK);
}

static void own_options(attempt *a) {
  static const char *const resolve[] = {"errand.test:80:127.0.0.1"};
  errand_options_init init = {.encodings = ERRAND_ENCODING_ALL,
                              .ca_file = file,
                              .proxy_policy = ERRAND_PROXY_URL,
                              .proxy_url = "http://127.0.0.1:1",
                              .no_proxy = "127.0.0.1",
                              .resolve = resolve,
                              .resolve_count = 1,
                              .local_interface = "127.0.0.1"};
  errand_options *options;
  errand_status status = errand_options_create(&init, &options);
  if (status != ERRAND_OK) {
    assert_string_equal(errand_status_name(status), "OUT_OF_MEMORY");
    return;
  }
  errand_request r = request("GET", "/small");
  r.options = options;
  submit(a, &r);
  errand_options_release(options);
  wait_all(a);
}

/* zlib and brotli allocate through the core, in the middle of a body. */
static void decoded(attempt *a) {
  errand_options_init init = {.encodings = ERRAND_ENCODING_ALL};
  errand_options *options;
  errand_status status = errand_options_create(&init, &options);
  if (status != ERRAND_OK) {
    assert_string_equal(errand_status_name(status), "OUT_OF_MEMORY");
    return;
  }
  static const char *const paths[] = {"/gzip", "/br", "/gzip", "/codings"};
  for (size_t i = 0; i < COUNT_OF(paths); i++) {
    errand_request r = request("GET", paths[i]);
    r.options = options;
    r.flags = i == 2 ? ERRAND_REQUEST_STREAM_RESPONSE : 0;
    r.response_credit = 1 << 20;
    submit(a, &r);
    wait_all(a);
  }
  errand_options_release(options);
}

/* Whether the n-th allocation was reached: what is left of the count makes
   one of the next n fail. */
static bool was_reached(uint64_t n) {
  bool reached = true;
  for (uint64_t i = 0; reached && i < n; i++) {
    void *block = errand__malloc(1);
    reached = block != NULL;
    errand__free(block);
  }
  errand_memory_fail_nth(0);
  return reached;
}

static bool run_attempt(scenario play, uint64_t n) {
  attempt a = {0};
  errand_memory_stats before;
  errand_memory_stats after;
  errand_memory_read(&before);
  collector_init(&a.collector);
  errand_group_init init = {.loops = 2,
                            .shard_in_flight_limit = 16,
                            .origin_in_flight_limit = 40,
                            .allow_denied_library = 1,
                            .on_records = collector_on_records,
                            .context = &a.collector};
  if (n > 0)
    errand_memory_fail_nth(n);
  errand_status status = errand_group_create(&init, &a.group);
  if (status == ERRAND_OK) {
    play(&a);
    assert_int_equal(errand_group_destroy(a.group), ERRAND_OK);
  } else {
    assert_string_equal(errand_status_name(status), "OUT_OF_MEMORY");
    assert_null(a.group);
  }
  bool reached = n > 0 && was_reached(n);
  assert_null(a.collector.violation);
  assert_int_equal(a.collector.completions, a.accepted);
  assert_int_equal(atomic_load(&a.released), a.lent);
  ends_well(&a);
  collector_destroy(&a.collector);
  errand_memory_read(&after);
  assert_int_equal(after.allocations - after.frees,
                   before.allocations - before.frees);
  return reached;
}

static void run_scenario(void **state) {
  scenario play;
  memcpy(&play, *state, sizeof play);
  process_usage before = process_usage_now();
  uint64_t n = 1;
  while (run_attempt(play, n)) {
    n++;
    assert_true(n < ATTEMPTS_MAX);
  }
  printf("%llu allocations failed in turn\n", (unsigned long long) n - 1);
  assert_true(n > 10);
  assert_true(process_usage_settles(before, 60000));
}

static int set_up(void **state) {
  uint8_t bytes[4096] = {0};
  (void) state;
  int fd = mkstemp(file);
  for (int i = 0; fd >= 0 && i < 40; i++)
    if (write(fd, bytes, sizeof bytes) != (ssize_t) sizeof bytes)
      return -1;
  close(fd);
  if (fd < 0 || errand_fault_server_create(NULL, &server) != 0)
    return -1;
  struct {
    errand_fault_server *server;
  } on = {server};
  RIG_ON(&on, "/small",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
                                "ok"));
  RIG_ON(&on, "/chunked",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"
                                "Transfer-Encoding: chunked\r\n\r\n"
                                "2\r\nok\r\n"),
         ERRAND_FAULT_STEP_SLEEP(1),
         ERRAND_FAULT_STEP_SEND("a\r\n0123456789\r\n0\r\nX-Trailer: 1\r\n"
                                "\r\n"));
  RIG_ON(&on, "/big",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"
                                "Content-Length: 200000\r\n\r\n"),
         ERRAND_FAULT_STEP_REPEAT(20000, "0123456789"));
  RIG_ON(&on, "/gzip", ERRAND_FAULT_STEP_GZIP_ZEROS(100000));
  RIG_ON(&on, "/br",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n"
                                "Content-Length: 9\r\n\r\n"
                                "\x0b\x02\x80hello\x03"));
  /* An empty gzip member in a bare deflate block that is stored. */
  RIG_ON(&on, "/codings",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"
                                "Content-Encoding: gzip, deflate\r\n"
                                "Content-Length: 25\r\n\r\n"
                                "\x01\x14\0\xeb\xff\x1f\x8b\x08\0\0\0\0\0\0"
                                "\x03\x03\0\0\0\0\0\0\0\0\0"));
  RIG_ON(&on, "/echo", ERRAND_FAULT_STEP(ECHO));
  RIG_ON(&on, "/stall", ERRAND_FAULT_STEP(STALL));
  run_attempt(uploads, 0); /* what the libraries keep, threads included */
  return 0;
}

static int tear_down(void **state) {
  (void) state;
  errand_fault_server_destroy(server);
  unlink(file);
  return 0;
}

#define SCENARIO(play)                                                         \
  {                                                                            \
    .name = #play, .test_func = run_scenario, .initial_state = &(scenario[]) { \
      play                                                                     \
    }                                                                          \
  }

int main(void) {
  const struct CMUnitTest tests[] = {
      SCENARIO(buffered),      SCENARIO(streamed),    SCENARIO(uploads),
      SCENARIO(many_at_once),  SCENARIO(resolving),   SCENARIO(orders),
      SCENARIO(stopped_early), SCENARIO(own_options), SCENARIO(decoded),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
