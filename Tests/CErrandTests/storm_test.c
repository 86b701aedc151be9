/* Timeout: 240 s */
/* Everything at once, from several threads and from the loops themselves:
   whatever happens, an accepted request ends exactly once. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "support/loan.h"
#include "support/random.h"
#include "support/rig.h"

#define THREADS 4
#define STEPS 400
#define KNOWN 256 /* ids that operations pick from */

typedef struct storm {
  test_rig *rig;
  char urls[8][64];
  uint64_t seed;
  _Atomic uint64_t known[KNOWN];
  _Atomic uint64_t known_count;
  _Atomic uint64_t accepted;
  _Atomic uint64_t refused;
  _Atomic uint64_t released; /* bodies and parts given back */
  _Atomic uint64_t borrowed; /* bodies of accepted requests, and parts */
  _Atomic int callbacks;     /* operations left to them */
  _Atomic int busy;          /* callbacks that operate now */
  _Atomic int stopped;
} storm;

enum { SMALL, ECHO_BODY, STALL, DRIP, BIG, RESET, HALF, NOBODY };

static const char borrowed_body[] = "a body that stays the caller's";

static void on_release(void *context) {
  atomic_fetch_add(&((storm *) context)->released, 1);
}

/* Memory for the bodies of responses. */
static _Atomic int blocks;

typedef struct block {
  uint8_t *bytes;
} block;

static void *create_block(void *context, size_t *capacity, void **owner) {
  (void) context;
  block *made = malloc(sizeof *made);
  if (!made)
    return NULL;
  made->bytes = malloc(*capacity);
  if (!made->bytes) {
    free(made);
    return NULL;
  }
  atomic_fetch_add(&blocks, 1);
  *owner = made;
  return made->bytes;
}

static void *grow_block(void *context, void *owner, size_t used,
                        size_t *capacity) {
  block *grown = owner;
  (void) context;
  (void) used;
  void *bytes = realloc(grown->bytes, *capacity * 2);
  if (!bytes)
    return NULL;
  *capacity *= 2;
  return grown->bytes = bytes;
}

static void release_block(void *owner) {
  block *released = owner;
  free(released->bytes);
  free(released);
  atomic_fetch_sub(&blocks, 1);
}

static const errand_body_memory block_memory = {NULL, create_block, grow_block,
                                                release_block};

static void remember(storm *s, uint64_t id) {
  uint64_t at = atomic_fetch_add(&s->known_count, 1);
  atomic_store(&s->known[at % KNOWN], id);
}

static uint64_t any_id(storm *s, random_source *random) {
  uint64_t count = atomic_load(&s->known_count);
  if (count == 0 || random_below(random, 64) == 0)
    return random_next(random); /* nobody's, most likely */
  uint64_t range = count < KNOWN ? count : KNOWN;
  return atomic_load(&s->known[random_below(random, range)]);
}

static errand_request make(storm *s, random_source *random) {
  uint64_t kind = random_below(random, 8);
  errand_request r = {.url = bytes_of(s->urls[kind])};
  r.timeout_total = 200 + (int64_t) random_below(random, 800);
  r.priority = (errand_priority) random_below(random, 3);
  if (random_below(random, 4) == 0)
    r.timeout_queue = 1 + (int64_t) random_below(random, 50);
  if (random_below(random, 4) == 0)
    r.timeout_idle = 20 + (int64_t) random_below(random, 100);
  if (random_below(random, 4) == 0)
    r.timeout_first_byte = 20 + (int64_t) random_below(random, 100);
  if (random_below(random, 8) == 0)
    r.flags |= ERRAND_REQUEST_FRESH_CONNECTION;
  if (kind == BIG || random_below(random, 3) == 0) {
    r.flags |= ERRAND_REQUEST_STREAM_RESPONSE;
    r.response_credit = 1 + random_below(random, 100000);
  }
  if (random_below(random, 2) == 0)
    r.response_memory = &block_memory;
  if (kind == ECHO_BODY) {
    static const uint8_t bytes[4096];
    r.method = bytes_of("POST");
    switch (random_below(random, 3)) {
    case 0:
      r.body_kind = ERRAND_BODY_STREAM;
      r.body_length = ERRAND_LENGTH_UNKNOWN;
      r.upload_credit = 1 + random_below(random, 65536);
      break;
    case 1:
      r.body_kind = ERRAND_BODY_MEMORY;
      r.body = (errand_bytes){bytes, random_below(random, sizeof bytes)};
      break;
    default:
      r.body_kind = ERRAND_BODY_MEMORY;
      r.body = bytes_of(borrowed_body);
      r.body_release = on_release;
      r.body_release_context = s;
    }
  }
  if (random_below(random, 32) == 0)
    r.limit_body_bytes = -1; /* refused */
  return r;
}

static void submit_some(storm *s, random_source *random) {
  errand_request items[8];
  size_t count = 1 + random_below(random, COUNT_OF(items));
  for (size_t i = 0; i < count; i++)
    items[i] = make(s, random);
  size_t accepted = errand_submit(s->rig->group, items, count);
  size_t seen = 0;
  for (size_t i = 0; i < count; i++) {
    if (items[i].status != ERRAND_OK) {
      atomic_fetch_add(&s->refused, 1);
      continue;
    }
    seen++;
    remember(s, items[i].id);
    if (items[i].body_release != NULL)
      atomic_fetch_add(&s->borrowed, 1);
  }
  if (seen != accepted)
    abort(); /* cmocka's asserts belong to the main thread */
  atomic_fetch_add(&s->accepted, accepted);
}

static void operate(storm *s, random_source *random) {
  static const uint8_t bytes[2048];
  errand_group *group = s->rig->group;
  uint64_t id = any_id(s, random);
  errand_bytes some = {bytes, 1 + random_below(random, sizeof bytes)};
  switch (random_below(random, 10)) {
  case 0:
  case 1:
    submit_some(s, random);
    break;
  case 2:
    errand_cancel(group, id);
    break;
  case 3:
    errand_pause(group, id);
    break;
  case 4:
  case 5:
    errand_resume(group, id);
    break;
  case 6:
    errand_grant(group, id, random_below(random, 200000));
    break;
  case 7:
    if (random_below(random, 2) == 0) {
      errand_upload_write(group, id, some);
    } else {
      atomic_fetch_add(&s->borrowed, 1);
      test_lend(group, id, some, &s->released);
    }
    break;
  case 8:
    errand_upload_finish(group, id);
    break;
  default:
    if (random_below(random, 8) == 0)
      errand_upload_fail(group, id);
  }
}

/* The loops take part: from their callback they do what any thread may. */
static void on_records(void *context, errand_record *records, size_t count) {
  storm *s = context;
  random_source random = {records[0].id ^ s->seed};
  collector_on_records(&s->rig->collector, records, count);
  atomic_fetch_add(&s->busy, 1);
  if (atomic_fetch_sub(&s->callbacks, 1) > 0)
    operate(s, &random);
  atomic_fetch_sub(&s->busy, 1);
}

typedef struct worker {
  storm *storm;
  pthread_t thread;
  uint64_t seed;
} worker;

static void *run_worker(void *context) {
  worker *w = context;
  random_source random = {w->seed};
  for (int i = 0; i < STEPS; i++) {
    operate(w->storm, &random);
    if (random_below(&random, 16) == 0) {
      struct timespec pause = {0, (long) random_below(&random, 1000000)};
      nanosleep(&pause, NULL);
    }
  }
  return NULL;
}

static void script(test_rig *rig) {
  RIG_ON(rig, "/small",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
                                "ok"));
  RIG_ON(rig, "/echo", ERRAND_FAULT_STEP(ECHO));
  RIG_ON(rig, "/stall", ERRAND_FAULT_STEP(STALL));
  RIG_ON(rig, "/drip",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\nContent-Length: 40\r\n"
                                "\r\n"),
         ERRAND_FAULT_STEP_DRIP(5, 40, "x"));
  RIG_ON(rig, "/big",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"
                                "Content-Length: 1024000\r\n\r\n"),
         ERRAND_FAULT_STEP_REPEAT(102400, "0123456789"));
  RIG_ON(rig, "/reset", ERRAND_FAULT_STEP(RESET));
  RIG_ON(rig, "/half",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
                                "half"),
         ERRAND_FAULT_STEP(FINISH));
}

typedef enum ending { ENDS_BY_ITSELF, ENDS_BY_DRAIN, ENDS_BY_CANCEL } ending;

static void on_stopped(void *context) {
  atomic_store(&((storm *) context)->stopped, 1);
}

/* Like rig_set_up, with the storm's own callback. */
static void set_up(storm *s, random_source *random) {
  static const char *const paths[] = {"/small", "/echo",  "/stall", "/drip",
                                      "/big",   "/reset", "/half",  "/small"};
  test_rig *rig = calloc(1, sizeof *rig);
  errand_group_init init = {.loops = 1 + (uint32_t) random_below(random, 3),
                            .queue_capacity = 256,
                            .in_flight_limit = 24,
                            .origin_in_flight_limit = 16,
                            .shard_in_flight_limit = 8,
                            .allow_denied_library = 1,
                            .on_records = on_records,
                            .on_stopped = on_stopped,
                            .context = s};
  s->rig = rig;
  rig->before = process_usage_now();
  errand_memory_read(&rig->memory);
  collector_init(&rig->collector);
  assert_int_equal(errand_fault_server_create(NULL, &rig->server), 0);
  assert_int_equal(errand_group_create(&init, &rig->group), ERRAND_OK);
  script(rig);
  for (size_t i = 0; i < COUNT_OF(paths); i++)
    snprintf(s->urls[i], sizeof s->urls[i], "%s", rig_url(rig, paths[i]));
}

static void nap(uint64_t milliseconds) {
  struct timespec pause = {(time_t) (milliseconds / 1000),
                           (long) (milliseconds % 1000) * 1000000};
  nanosleep(&pause, NULL);
}

static void finish(storm *s, ending end) {
  test_rig *rig = s->rig;
  if (end == ENDS_BY_ITSELF) {
    /* Every request has a total timeout, so it ends even where it is paused,
       without credit, or waiting for a body that nobody writes. */
    atomic_store(&s->callbacks, 0);
    while (atomic_load(&s->busy) > 0)
      nap(1);
    collector_wait_completions(&rig->collector, atomic_load(&s->accepted));
    errand_stats stats = rig_stats(rig);
    assert_int_equal(stats.queued, 0);
    for (int i = 0; i < ERRAND_PRIORITIES; i++) {
      assert_int_equal(stats.queued_by_priority[i], 0);
      assert_int_equal(stats.in_flight_by_priority[i], 0);
    }
    assert_int_equal(stats.in_flight, 0);
    assert_int_equal(stats.submitted, atomic_load(&s->accepted));
    assert_int_equal(stats.completed, stats.submitted);
  }
  assert_int_equal(errand_group_stop(rig->group, ERRAND_STOP_CANCEL, 0),
                   ERRAND_OK);
  /* Until then a callback may still get a request in. */
  while (!atomic_load(&s->stopped))
    nap(1);
  assert_true(atomic_load(&s->accepted) > 0);
  assert_int_equal(atomic_load(&s->released), atomic_load(&s->borrowed));
  rig->accepted = atomic_load(&s->accepted);
  void *state = rig;
  assert_int_equal(rig_tear_down(&state), 0);
  assert_int_equal(atomic_load(&blocks), 0);
}

static void run_storm(uint64_t seed, ending end) {
  storm s = {.seed = seed};
  random_source random = {seed};
  atomic_store(&s.callbacks, 500);
  set_up(&s, &random);
  worker workers[THREADS];
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (worker){.storm = &s, .seed = random_next(&random)};
    pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]);
  }
  if (end != ENDS_BY_ITSELF) {
    /* The threads may start late. */
    while (atomic_load(&s.accepted) == 0)
      nap(1);
    nap(random_below(&random, 300));
    errand_group_stop(s.rig->group,
                      end == ENDS_BY_DRAIN ? ERRAND_STOP_DRAIN
                                           : ERRAND_STOP_CANCEL,
                      (int64_t) random_below(&random, 500));
  }
  for (int i = 0; i < THREADS; i++)
    pthread_join(workers[i].thread, NULL);
  finish(&s, end);
}

static void storms_that_end_by_themselves(void **state) {
  (void) state;
  uint64_t seed = random_seed(1);
  for (uint64_t i = 0; i < 3; i++)
    run_storm(seed + i, ENDS_BY_ITSELF);
}

static void storms_that_drain(void **state) {
  (void) state;
  uint64_t seed = random_seed(100);
  for (uint64_t i = 0; i < 4; i++)
    run_storm(seed + i, ENDS_BY_DRAIN);
}

static void storms_cut_short(void **state) {
  (void) state;
  uint64_t seed = random_seed(200);
  for (uint64_t i = 0; i < 6; i++)
    run_storm(seed + i, ENDS_BY_CANCEL);
}

/* What the libraries make once and keep is made before the first count. */
static int warm_up(void **state) {
  return rig_set_up(state) != 0 || rig_tear_down(state) != 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(storms_that_end_by_themselves),
      cmocka_unit_test(storms_that_drain),
      cmocka_unit_test(storms_cut_short),
  };
  return cmocka_run_group_tests(tests, warm_up, NULL);
}
