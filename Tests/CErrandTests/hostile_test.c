/* Timeout: 240 s */
/* Servers that change their responses at random beside servers that do not,
   and the promises that hold all the same. ERRAND_HOSTILE_SECONDS says how long
   (60), ERRAND_TEST_SEED with what. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support/hostile.h"
#include "support/process.h"
#include "support/random.h"
#include "support/rig.h"

/* For LeakSanitizer. Where libcurl 7.88 itself ends a paused stream of HTTP/2
   and the connection has other streams, multi_done does not free what is held
   of the body, and curl_easy_pause refuses by then; and nghttp2 1.52 under
   libcurl 8.14 keeps a part of a frame that it refuses
   (nghttp2_session_mem_recv). What the core ends is held to no leak by
   hostile_http2_test. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
  return "leak:libcurl.so\nleak:libnghttp2.so\n";
}

#define GROUPS 2
#define THREADS 2 /* a group */
#define PLACES 48 /* requests of a group at once */
#define BODY_MAX 300000
#define HEALTHY_MS 120000 /* under a sanitizer, beside the others */

enum { HTTP1, HTTP1_HEALTHY, HTTP2, HTTP2_HEALTHY, SERVERS };

typedef struct place {
  uint64_t tag; /* 0: free */
  uint64_t id;  /* 0: not known yet */
  int server;
  bool streamed;
  bool digest;
  int body_kind;
  unsigned heads;
  int64_t to_write; /* of an upload by callback */
  bool finished;
} place;

typedef struct party {
  errand_group *group;
  pthread_mutex_t lock;
  place places[PLACES];
  random_source random; /* of the callbacks; under the lock */
  uint64_t next_tag;
} party;

typedef struct fuzz {
  hostile_server *servers[SERVERS];
  errand_options *http2;
  party parties[GROUPS];
  char file[64];
  uint64_t seed;
  int64_t until;
  _Atomic uint64_t submitted, completed, well, unwell[SERVERS];
  _Atomic uint64_t statuses[256];
  const char *_Atomic violation;
  char first_unwell[256]; /* of a healthy server */
  atomic_flag has_unwell;
} fuzz;

static fuzz all;
static uint8_t body_bytes[BODY_MAX];

static void violated(const char *what, const errand_record *record) {
  const char *none = NULL;
  if (atomic_compare_exchange_strong(&all.violation, &none, what))
    fprintf(stderr, "violated: %s (tag %llx, status %s, http %u)\n", what,
            (unsigned long long) record->tag,
            errand_status_name(record->status), record->http_status);
}

/* What is changed over HTTP/2 may be the number of a stream, whose owner then
   rightly gets it. */
static void check_owner(const place *of, const errand_record *record,
                        errand_bytes bytes) {
  uint64_t owner;
  if (of->server != HTTP2 && bytes.length > 0 &&
      hostile_find_token(bytes.data, bytes.length, &owner) &&
      owner != record->tag)
    violated("a response to another request", record);
}

static void take_head(place *of, const errand_record *record) {
  if (of->heads++ > 0)
    violated("two heads", record);
  check_owner(of, record, errand_payload_head(record->payload));
}

/* As much of the rest as `credit` allows. */
static void write_some(party *p, place *of, uint64_t id, uint64_t credit) {
  uint64_t n = of->to_write > 0 ? (uint64_t) of->to_write : 0;
  n = n < credit ? n : credit;
  of->to_write -= (int64_t) n;
  if (n > 0)
    errand_upload_write(p->group, id, (errand_bytes){body_bytes, n});
  if (of->to_write == 0 && !of->finished) {
    of->finished = true;
    errand_upload_finish(p->group, id);
  }
}

static bool is_healthy(const place *of) {
  return of->server == HTTP1_HEALTHY || of->server == HTTP2_HEALTHY;
}

static void tell_unwell(const place *of, const errand_record *record) {
  char line[sizeof all.first_unwell];
  errand_bytes text = {0};
  if (record->payload != NULL)
    text = errand_payload_error_text(record->payload);
  snprintf(line, sizeof line,
           "healthy server %d: %s (libcurl %d, errno %d, \"%.*s\"), http %u, "
           "body kind %d%s%s, %llu bytes sent, %llu received, %llu us%s%s",
           of->server, errand_status_name(record->status), record->curl_code,
           record->os_error, (int) text.length, (const char *) text.data,
           record->http_status, of->body_kind, of->digest ? ", digest" : "",
           of->streamed ? ", streamed" : "",
           (unsigned long long) record->bytes_sent,
           (unsigned long long) record->bytes_received,
           (unsigned long long) record->timings.total,
           record->flags & ERRAND_RECORD_REUSED ? ", reused" : "",
           record->flags & ERRAND_RECORD_REPLAYED ? ", replayed" : "");
  fprintf(stderr, "%s\n", line);
  if (!atomic_flag_test_and_set(&all.has_unwell))
    memcpy(all.first_unwell, line, sizeof line);
}

static void take_end(place *of, const errand_record *record) {
  bool healthy = is_healthy(of);
  errand_bytes body = {0};
  if (record->payload != NULL) {
    body = errand_payload_body(record->payload);
    if (!of->streamed)
      check_owner(of, record, errand_payload_head(record->payload));
    check_owner(of, record, body);
  }
  if (of->streamed && body.length > 0)
    violated("a body in the end of a streamed response", record);
  if (of->streamed && record->status == ERRAND_OK && of->heads == 0)
    violated("a streamed response without a head", record);
  atomic_fetch_add(&all.completed, 1);
  atomic_fetch_add(&all.statuses[(unsigned) record->status % 256], 1);
  if (record->status == ERRAND_OK)
    atomic_fetch_add(&all.well, 1);
  else if (healthy)
    atomic_fetch_add(&all.unwell[of->server], 1);
  if (healthy && record->status != ERRAND_OK)
    tell_unwell(of, record);
  of->tag = 0;
}

static void take(party *p, const errand_record *record) {
  place *of = &p->places[record->tag % PLACES];
  if (of->tag == 0 || of->tag != record->tag) {
    violated("a record of a request that has ended", record);
    return;
  }
  of->id = record->id;
  switch ((errand_record_kind) record->kind) {
  case ERRAND_RECORD_HEAD:
    take_head(of, record);
    break;
  case ERRAND_RECORD_CHUNK:
    if (!of->streamed || of->heads != 1)
      violated("a chunk without a head", record);
    check_owner(of, record, errand_payload_body(record->payload));
    /* Some are left without, until their deadline. */
    if (is_healthy(of) || random_below(&p->random, 8) != 0)
      errand_grant(p->group, record->id, record->bytes_received);
    break;
  case ERRAND_RECORD_UPLOAD_CREDIT:
    write_some(p, of, record->id, record->bytes_sent);
    break;
  case ERRAND_RECORD_COMPLETION:
    take_end(of, record);
    break;
  case ERRAND_RECORD_STARTED:
  case ERRAND_RECORD_SENT:
  case ERRAND_RECORD_PROGRESS:
  case ERRAND_RECORD_CONNECTED:
    break;
  }
}

static void on_records(void *context, errand_record *records, size_t count) {
  party *p = context;
  pthread_mutex_lock(&p->lock);
  for (size_t i = 0; i < count; i++)
    take(p, &records[i]);
  pthread_mutex_unlock(&p->lock);
  for (size_t i = 0; i < count; i++)
    errand_payload_free(records[i].payload);
}

static void choose_body(errand_request *r, place *of, random_source *random) {
  static const uint64_t lengths[] = {0, 10, 5000, 70000, BODY_MAX};
  uint64_t length = lengths[random_below(random, 5)];
  r->method = bytes_of(random_below(random, 2) ? "POST" : "PUT");
  r->body_length = (int64_t) length;
  switch (random_below(random, 3)) {
  case 0:
    r->body_kind = ERRAND_BODY_MEMORY;
    r->body = (errand_bytes){body_bytes, length};
    r->body_length = 0;
    break;
  case 1:
    r->body_kind = ERRAND_BODY_FILE;
    r->body_path = all.file;
    break;
  default:
    r->body_kind = ERRAND_BODY_STREAM;
    /* A body given by a few bytes at a time is slow, which is no fault. */
    r->upload_credit = is_healthy(of) ? 1000 : 1;
    r->upload_credit += random_below(random, 100000);
    of->to_write = (int64_t) length;
    if (random_below(random, 2))
      r->body_length = ERRAND_LENGTH_UNKNOWN;
  }
}

static void choose_times(errand_request *r, random_source *random) {
  r->timeout_total = 100 + (int64_t) random_below(random, 1500);
  if (random_below(random, 4) == 0)
    r->timeout_idle = 50 + (int64_t) random_below(random, 300);
  if (random_below(random, 4) == 0)
    r->timeout_first_byte = 50 + (int64_t) random_below(random, 300);
}

/* Under the party's lock, which keeps its records from being looked at before
   the place is filled in. */
static void submit(party *p, place *of, random_source *random) {
  char url[96];
  uint64_t tag = ++p->next_tag * PLACES + (uint64_t) (of - p->places);
  int server = (int) random_below(random, SERVERS);
  bool healthy = server == HTTP1_HEALTHY || server == HTTP2_HEALTHY;
  bool digest = random_below(random, 5) == 0;
  *of = (place){.tag = tag, .server = server, .digest = digest};
  snprintf(url, sizeof url, "%s://127.0.0.1:%u/%c/%llx",
           server >= HTTP2 ? "https" : "http",
           hostile_server_port(all.servers[server]), digest ? 'd' : 'r',
           (unsigned long long) tag);
  errand_request r = {.url = {(const uint8_t *) url, strlen(url)}, .tag = tag};
  r.options = server >= HTTP2 ? all.http2 : NULL;
  if (healthy)
    r.timeout_total = HEALTHY_MS;
  else
    choose_times(&r, random);
  if (random_below(random, 2)) {
    r.flags |= ERRAND_REQUEST_STREAM_RESPONSE;
    r.response_credit = 1 + random_below(random, 60000);
    of->streamed = true;
  } else if (random_below(random, 2)) {
    r.flags |= ERRAND_REQUEST_REPORT_EVENTS;
  }
  /* A stream cannot be sent again, as a round of Digest would. */
  if (random_below(random, 3) == 0)
    choose_body(&r, of, random);
  else if (random_below(random, 5) == 0)
    r.method = bytes_of("HEAD");
  if (digest && r.body_kind != ERRAND_BODY_STREAM) {
    r.authentication = ERRAND_AUTHENTICATION_DIGEST;
    r.username = bytes_of("ada");
    r.password = bytes_of("pw");
  }
  of->body_kind = r.body_kind;
  if (errand_submit(p->group, &r, 1) != 1) {
    violated("a request was refused",
             &(errand_record){.tag = tag, .status = r.status});
    of->tag = 0;
    return;
  }
  of->id = r.id;
  atomic_fetch_add(&all.submitted, 1);
  if (r.body_kind == ERRAND_BODY_STREAM)
    write_some(p, of, r.id, r.upload_credit);
}

static void disturb(party *p, place *of, random_source *random) {
  if (is_healthy(of))
    return;
  switch (random_below(random, 5)) {
  case 0:
    errand_cancel(p->group, of->id);
    break;
  case 1:
    errand_pause(p->group, of->id);
    break;
  default:
    errand_resume(p->group, of->id);
  }
}

static void *run_thread(void *context) {
  party *p = context;
  pthread_mutex_lock(&p->lock);
  random_source random = {random_next(&p->random)};
  pthread_mutex_unlock(&p->lock);
  while (process_milliseconds() < all.until && all.violation == NULL) {
    bool idle = true;
    for (int i = 0; i < 4; i++) {
      pthread_mutex_lock(&p->lock);
      place *of = &p->places[random_below(&random, PLACES)];
      if (of->tag == 0) {
        submit(p, of, &random);
        idle = false;
      } else {
        disturb(p, of, &random);
      }
      pthread_mutex_unlock(&p->lock);
    }
    nanosleep(&(struct timespec){.tv_nsec = idle ? 3000000 : 200000}, NULL);
  }
  return NULL;
}

static void wait_for_ends(void) {
  int64_t until = process_milliseconds() + HEALTHY_MS + 10000;
  while (atomic_load(&all.completed) < atomic_load(&all.submitted)) {
    if (process_milliseconds() > until)
      fail_msg("%llu requests did not end",
               (unsigned long long) (all.submitted - all.completed));
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  }
}

/* With every request ended the loops have nothing to do but to tick. This
   thread may sleep for longer than a second. */
static void expect_rest(void) {
  errand_stats before[GROUPS], after[GROUPS];
  int64_t start = process_milliseconds();
  for (int i = 0; i < GROUPS; i++)
    errand_group_stats(all.parties[i].group, &before[i]);
  nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
  for (int i = 0; i < GROUPS; i++) {
    errand_group_stats(all.parties[i].group, &after[i]);
    uint64_t took_ms = (uint64_t) (process_milliseconds() - start);
    assert_in_range(after[i].turns - before[i].turns, 0,
                    100 + 100 * took_ms / 1000);
  }
}

static void make_file(void) {
  snprintf(all.file, sizeof all.file, "/tmp/errand-hostile-XXXXXX");
  int fd = mkstemp(all.file);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, body_bytes, BODY_MAX), BODY_MAX);
  close(fd);
}

static void start_all(void) {
  errand_options_init options = {.http_policy = ERRAND_HTTP_2_TLS,
                                 .insecure_accept_any_certificate = 1,
                                 .insecure_accept_any_host_name = 1};
  memset(body_bytes, 'b', sizeof body_bytes);
  make_file();
  assert_int_equal(errand_options_create(&options, &all.http2), ERRAND_OK);
  for (int i = 0; i < SERVERS; i++) {
    bool healthy = i == HTTP1_HEALTHY || i == HTTP2_HEALTHY;
    hostile_init init = {.seed = all.seed + (uint64_t) i,
                         .spite = healthy ? 0 : 60,
                         .tls = i >= HTTP2};
    all.servers[i] = hostile_server_start(&init);
    assert_non_null(all.servers[i]);
  }
  for (int i = 0; i < GROUPS; i++) {
    party *p = &all.parties[i];
    errand_group_init init = {.loops = 2,
                              .allow_denied_library = 1,
                              .on_records = on_records,
                              .context = p};
    p->random.state = all.seed + 17 * (uint64_t) i;
    pthread_mutex_init(&p->lock, NULL);
    assert_int_equal(errand_group_create(&init, &p->group), ERRAND_OK);
  }
}

static void stop_all(void) {
  for (int i = 0; i < GROUPS; i++)
    assert_int_equal(errand_group_destroy(all.parties[i].group), ERRAND_OK);
  for (int i = 0; i < SERVERS; i++)
    hostile_server_stop(all.servers[i]);
  errand_options_release(all.http2);
  unlink(all.file);
}

static void tell(void) {
  printf("%llu requests, %llu ended well; of healthy servers %llu (HTTP/1.1) "
         "and %llu (HTTP/2) did not\n",
         (unsigned long long) all.completed, (unsigned long long) all.well,
         (unsigned long long) all.unwell[HTTP1_HEALTHY],
         (unsigned long long) all.unwell[HTTP2_HEALTHY]);
  for (int i = 0; i < 256; i++)
    if (all.statuses[i] > 0)
      printf("  %-24s %llu\n", errand_status_name(i),
             (unsigned long long) all.statuses[i]);
}

static void the_promises_hold(void **state) {
  (void) state;
  const char *seconds = getenv("ERRAND_HOSTILE_SECONDS");
  pthread_t threads[GROUPS * THREADS];
  errand_memory_stats memory_before, memory_after;
  process_usage before = process_usage_now();
  errand_memory_read(&memory_before);
  all.seed = random_seed(16);
  start_all();
  all.until = process_milliseconds() +
              1000 * (seconds ? strtol(seconds, NULL, 10) : 60);
  for (int i = 0; i < GROUPS * THREADS; i++)
    assert_int_equal(
        pthread_create(&threads[i], NULL, run_thread, &all.parties[i % GROUPS]),
        0);
  for (int i = 0; i < GROUPS * THREADS; i++)
    pthread_join(threads[i], NULL);
  wait_for_ends();
  expect_rest();
  stop_all();
  tell();
  if (all.violation != NULL)
    fail_msg("%s", all.violation);
  if (all.unwell[HTTP1_HEALTHY] + all.unwell[HTTP2_HEALTHY] > 0)
    fail_msg("%s", all.first_unwell);
  errand_memory_read(&memory_after);
  assert_int_equal(memory_after.allocations - memory_after.frees,
                   memory_before.allocations - memory_before.frees);
  assert_true(process_usage_settles(before, 120000));
}

/* What the libraries make once and keep is no leak. */
static int warm_up(void **state) {
  (void) state;
  void *rig = NULL;
  errand_group_init init = {.loops = 1, .allow_denied_library = 1};
  return rig_set_up_with(&rig, init) == 0 && rig_tear_down(&rig) == 0 ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(the_promises_hold, warm_up),
  };
  return cmocka_run_group_tests_name("hostile", tests, NULL, NULL);
}
