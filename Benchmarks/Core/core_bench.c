/*
 * The bare loop's load through CErrand's public interface. Inline: the next
 * requests are submitted from on_records, on the loop thread. External:
 * another thread submits them, which adds the queue and the wake-ups that a
 * client above the core has. With a rate it is always another thread: it has
 * the clock, and the loops give their tags back.
 */
#include "CErrand.h"
#include "core_rich.h"
#include "support/arguments.h"
#include "support/pace.h"
#include "support/report.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BURST = 256, URL_LENGTH = 2048, LOOPS_MAX = 64 };

/* What one loop thread counted; only that thread writes it. */
typedef struct tally {
  unsigned phase; /* 0: warm-up; behind the bench's: to be cleared */
  bench_totals totals;
} tally;

typedef struct bench {
  bench_arguments arguments;
  errand_group *group;
  char *headers;
  size_t header_length;
  uint64_t *started_at; /* by tag */
  uint64_t wanted;
  atomic_uint_fast64_t started, ended;
  atomic_uint phase;
  bench_pace pace;
  pthread_mutex_t lock; /* of what follows */
  pthread_cond_t changed;
  tally *tallies[LOOPS_MAX];
  size_t tally_count;
  uint32_t *waiting; /* external: tags to submit again */
  uint32_t waiting_count;
  int starved; /* what is due waits for a tag */
  int done;
  bench_moment from, to;
} bench;

static bench the_bench;
static _Thread_local tally *own_tally;

static void fail(const char *what, const char *why) {
  fprintf(stderr, "core_bench: %s: %s\n", what, why);
  exit(1);
}

static void submit(bench *bench, const uint32_t *tags, size_t count) {
  errand_request items[BURST];
  char *fields[BURST], *long_urls = NULL;
  size_t used = 0;
  if (bench->arguments.fresh_urls &&
      (long_urls = malloc(BURST * URL_LENGTH)) == NULL)
    fail("submit", "out of memory");
  for (size_t i = 0; i < count; i++) {
    errand_request *item = &items[used];
    uint64_t number = atomic_fetch_add(&bench->started, 1);
    const char *url = bench->arguments.url;
    if (number >= bench->wanted)
      break;
    if (long_urls != NULL) {
      snprintf(long_urls + used * URL_LENGTH, URL_LENGTH, "%s?n=%llu", url,
               (unsigned long long) number);
      url = long_urls + used * URL_LENGTH;
    }
    memset(item, 0, sizeof *item);
    item->url = (errand_bytes){(const uint8_t *) url, strlen(url)};
    item->headers =
        (errand_bytes){(const uint8_t *) bench->headers, bench->header_length};
    if (bench->arguments.method != NULL)
      item->method = (errand_bytes){(const uint8_t *) bench->arguments.method,
                                    strlen(bench->arguments.method)};
    if (bench->arguments.body != NULL) {
      item->body_kind = ERRAND_BODY_MEMORY;
      item->body = (errand_bytes){(const uint8_t *) bench->arguments.body,
                                  bench->arguments.body_length};
      item->body_length = (int64_t) bench->arguments.body_length;
    }
    if (bench->arguments.rich && (fields[used] = core_rich_set(item)) == NULL)
      fail("submit", "out of memory");
    item->tag = tags[i];
    bench->started_at[tags[i]] = bench->arguments.rate > 0
                                     ? bench_pace_due(&bench->pace, number)
                                     : bench_now();
    used++;
  }
  if (errand_submit(bench->group, items, used) != used) {
    for (size_t i = 0; i < used; i++) {
      if (items[i].status != ERRAND_OK)
        fail("errand_submit", errand_status_text(items[i].status));
    }
  }
  for (size_t i = 0; bench->arguments.rich && i < used; i++)
    free(fields[i]);
  free(long_urls);
}

static void submit_all(bench *bench, const uint32_t *tags, size_t count) {
  for (size_t i = 0; i < count; i += BURST)
    submit(bench, tags + i, count - i < BURST ? count - i : BURST);
}

static tally *tally_of_thread(bench *bench) {
  if (own_tally != NULL)
    return own_tally;
  own_tally = calloc(1, sizeof *own_tally);
  if (own_tally == NULL)
    fail("tally", "out of memory");
  bench_totals_clear(&own_tally->totals);
  pthread_mutex_lock(&bench->lock);
  bench->tallies[bench->tally_count++] = own_tally;
  pthread_mutex_unlock(&bench->lock);
  return own_tally;
}

/* Returns: whether this was the last request. */
static int count_ended(bench *bench, tally *tally, const errand_record *record,
                       uint64_t now) {
  unsigned phase = atomic_load_explicit(&bench->phase, memory_order_relaxed);
  uint64_t ended;
  if (tally->phase != phase) {
    bench_totals_clear(&tally->totals);
    tally->phase = phase;
  }
  bench_totals_record(
      &tally->totals, record->status == ERRAND_OK ? record->http_status : 0,
      record->bytes_received, now - bench->started_at[record->tag]);
  if (record->status != ERRAND_OK && tally->totals.errors == 1) {
    errand_bytes text = {0};
    if (record->payload != NULL)
      text = errand_payload_error_text(record->payload);
    fprintf(stderr, "core_bench: first error: %s: %.*s\n",
            errand_status_text(record->status), (int) text.length,
            (const char *) text.data);
  }
  ended = atomic_fetch_add(&bench->ended, 1) + 1;
  if (ended == bench->arguments.warmup) {
    bench_moment_read(&bench->from);
    atomic_store(&bench->phase, 1);
  }
  return ended == bench->wanted;
}

static int is_external(const bench *bench) {
  return bench->arguments.external || bench->arguments.rate > 0;
}

static void on_records(void *context, errand_record *records, size_t count) {
  bench *bench = context;
  tally *tally = tally_of_thread(bench);
  uint32_t tags[BURST];
  size_t used = 0;
  int last = 0;
  uint64_t now = bench_now();
  for (size_t i = 0; i < count; i++) {
    if (records[i].kind == ERRAND_RECORD_COMPLETION) {
      last |= count_ended(bench, tally, &records[i], now);
      tags[used++] = (uint32_t) records[i].tag;
    }
    errand_payload_free(records[i].payload);
    if (used != BURST && i + 1 != count)
      continue;
    if (is_external(bench)) {
      pthread_mutex_lock(&bench->lock);
      memcpy(bench->waiting + bench->waiting_count, tags, used * sizeof *tags);
      bench->waiting_count += (uint32_t) used;
      if (bench->arguments.rate == 0 || bench->starved)
        pthread_cond_signal(&bench->changed);
      pthread_mutex_unlock(&bench->lock);
    } else {
      submit(bench, tags, used);
    }
    used = 0;
  }
  if (last) {
    pthread_mutex_lock(&bench->lock);
    bench_moment_read(&bench->to);
    bench->done = 1;
    pthread_cond_signal(&bench->changed);
    pthread_mutex_unlock(&bench->lock);
  }
}

/* Waits for something to submit; the lock is held. Returns: how many. */
static size_t wait_for_due(bench *bench) {
  uint64_t number = atomic_load(&bench->started), now = bench_now(), departure;
  size_t count = 0;
  if (bench->arguments.rate == 0) {
    count = bench->waiting_count;
  } else {
    while (count < bench->waiting_count && number + count < bench->wanted &&
           bench_pace_departure(&bench->pace, number + count) <= now)
      count++;
    bench->starved = count == bench->waiting_count;
  }
  if (count != 0)
    return count;
  if (bench->arguments.rate == 0 || bench->starved || number == bench->wanted) {
    pthread_cond_wait(&bench->changed, &bench->lock);
    return 0;
  }
  departure = bench_pace_departure(&bench->pace, number);
  struct timespec until = {(time_t) (departure / 1000000000u),
                           (long) (departure % 1000000000u)};
  pthread_cond_timedwait(&bench->changed, &bench->lock, &until);
  return 0;
}

/* Submits what is due or what the loops hand back, until the last has ended. */
static void serve(bench *bench) {
  uint32_t *tags = malloc((size_t) bench->arguments.concurrency * sizeof *tags);
  if (tags == NULL)
    fail("serve", "out of memory");
  pthread_mutex_lock(&bench->lock);
  while (!bench->done) {
    size_t count = wait_for_due(bench);
    if (count == 0)
      continue;
    bench->waiting_count -= (uint32_t) count;
    memcpy(tags, bench->waiting + bench->waiting_count, count * sizeof *tags);
    pthread_mutex_unlock(&bench->lock);
    submit_all(bench, tags, count);
    pthread_mutex_lock(&bench->lock);
  }
  pthread_mutex_unlock(&bench->lock);
  free(tags);
}

static void join_headers(bench *bench) {
  size_t length = 0;
  for (size_t i = 0; i < bench->arguments.header_count; i++)
    length += strlen(bench->arguments.headers[i]) + 2;
  bench->headers = malloc(length + 1);
  if (bench->headers == NULL)
    fail("headers", "out of memory");
  length = 0;
  for (size_t i = 0; i < bench->arguments.header_count; i++) {
    const char *header = bench->arguments.headers[i];
    size_t size = strlen(header);
    memcpy(bench->headers + length, header, size);
    memcpy(bench->headers + length + size, "\r\n", 2);
    length += size + 2;
  }
  bench->header_length = length;
}

static void open_group(bench *bench) {
  uint32_t concurrency = bench->arguments.concurrency;
  errand_options_init options = {0};
  errand_group_init init = {0};
  errand_status status;
  options.http_policy =
      bench->arguments.http2 ? ERRAND_HTTP_2_TLS : ERRAND_HTTP_1_1;
  options.ca_file = bench->arguments.authority;
  status = errand_options_create(&options, &init.options);
  if (status != ERRAND_OK)
    fail("errand_options_create", errand_status_text(status));
  init.loops = bench->arguments.loops;
  /* The load is the limit here, so the group's own must not be. */
  init.in_flight_limit = concurrency;
  init.origin_in_flight_limit = concurrency;
  init.on_records = on_records;
  init.context = bench;
  status = errand_group_create(&init, &bench->group);
  if (status != ERRAND_OK)
    fail("errand_group_create", errand_status_text(status));
  errand_options_release(init.options);
}

static void print_stats(bench *bench) {
  errand_stats stats;
  errand_group_stats(bench->group, &stats);
  fprintf(stderr,
          "submitted %llu, completed %llu, opened %llu, wakeups %llu, "
          "turns %llu, batches %llu, epoll changes %llu, multis %llu\n",
          (unsigned long long) stats.submitted,
          (unsigned long long) stats.completed,
          (unsigned long long) stats.connections_opened,
          (unsigned long long) stats.wakeups, (unsigned long long) stats.turns,
          (unsigned long long) stats.batches,
          (unsigned long long) stats.poll_changes,
          (unsigned long long) stats.multis);
}

int main(int argc, char **argv) {
  bench *bench = &the_bench;
  bench_totals *totals = malloc(sizeof *totals);
  pthread_condattr_t on_bench_now;
  uint32_t *tags;
  bench_arguments_parse(&bench->arguments, argc, argv);
  pthread_mutex_init(&bench->lock, NULL);
  pthread_condattr_init(&on_bench_now);
  pthread_condattr_setclock(&on_bench_now, CLOCK_MONOTONIC);
  pthread_cond_init(&bench->changed, &on_bench_now);
  join_headers(bench);
  tags = calloc(bench->arguments.concurrency, sizeof *tags);
  bench->waiting = calloc(bench->arguments.concurrency, sizeof *tags);
  bench->started_at =
      calloc(bench->arguments.concurrency, sizeof *bench->started_at);
  if (totals == NULL || tags == NULL || bench->waiting == NULL ||
      bench->started_at == NULL)
    fail("start", "out of memory");
  open_group(bench);
  bench->wanted = bench->arguments.requests + bench->arguments.warmup;
  for (uint32_t i = 0; i < bench->arguments.concurrency; i++)
    tags[i] = i;
  bench_moment_read(&bench->from);
  bench->pace =
      (bench_pace){bench->arguments.rate, bench->arguments.tick, bench_now()};
  if (bench->arguments.rate > 0) {
    bench->waiting_count = bench->arguments.concurrency;
    memcpy(bench->waiting, tags, bench->waiting_count * sizeof *tags);
  } else {
    submit_all(bench, tags, bench->arguments.concurrency);
  }
  serve(bench);
  if (bench->arguments.stats)
    print_stats(bench);
  errand_group_destroy(bench->group);
  bench_totals_clear(totals);
  for (size_t i = 0; i < bench->tally_count; i++) {
    if (bench->tallies[i]->phase == atomic_load(&bench->phase))
      bench_totals_add(totals, &bench->tallies[i]->totals);
    free(bench->tallies[i]);
  }
  bench_report_print(totals, &bench->from, &bench->to,
                     is_external(bench) ? "core-external" : "core",
                     bench->arguments.concurrency, bench->arguments.loops);
  free(totals);
  free(tags);
  free(bench->waiting);
  free(bench->started_at);
  free(bench->headers);
  bench_arguments_free(&bench->arguments);
  return 0;
}
