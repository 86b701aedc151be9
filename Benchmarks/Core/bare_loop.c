/*
 * The yardstick: a closed loop of requests on libcurl's multi-socket
 * interface and libuv with nothing in between. One thread, no queue, no
 * deadlines, no limits, no hand-over; each response's head and body are kept
 * in buffers of their own until it ends, as a client has to.
 */
#include "bare_rate.h"
#include "bare_rich.h"
#include "bare_sockets.h"
#include "support/arguments.h"
#include "support/report.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <openssl/crypto.h>

enum { KICK_ROUNDS = 8, MESSAGES_A_TURN = 256, URL_LENGTH = 2048 };

typedef struct slot {
  CURL *easy;
  struct shard *shard;
  struct slot *next; /* ended, to be started again */
  uint64_t started;
  struct curl_slist *fields; /* of a rich request */
  char *head;
  size_t head_length, head_capacity;
  char *body;
  size_t body_length, body_capacity;
  char error[CURL_ERROR_SIZE];
} slot;

/* libcurl searches a multi handle's connections and requests, and the search
   grows with them: many get a handle for each few. */
typedef struct shard {
  bare_sockets_of of;
  struct bench *bench;
  uv_timer_t timer;
  int kick; /* libcurl asked for a timeout of 0 */
} shard;

typedef struct bench {
  bench_arguments arguments;
  uv_loop_t uv;
  uv_check_t check;
  shard *shards;
  uint32_t shard_count;
  CURLSH *share;
  bare_sockets sockets;
  struct curl_slist *headers;
  slot *slots;
  slot *idle;     /* with a rate: slots that wait for their request's time */
  bare_rate rate; /* only with one */
  uint64_t started, ended, wanted;
  bench_totals totals;
  bench_moment from, to;
} bench;

static void fail(const char *what) {
  fprintf(stderr, "bare_loop: %s\n", what);
  exit(1);
}

static int reserve(char **bytes, size_t *capacity, size_t needed) {
  size_t grown = *capacity ? *capacity : 512;
  char *moved;
  if (needed <= *capacity)
    return 1;
  while (grown < needed)
    grown *= 2;
  moved = realloc(*bytes, grown);
  if (moved == NULL)
    return 0;
  *bytes = moved;
  *capacity = grown;
  return 1;
}

static size_t on_header(char *bytes, size_t size, size_t count, void *context) {
  slot *slot = context;
  size_t length = size * count;
  if (!reserve(&slot->head, &slot->head_capacity, slot->head_length + length))
    return 0;
  memcpy(slot->head + slot->head_length, bytes, length);
  slot->head_length += length;
  return length;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *context) {
  slot *slot = context;
  size_t length = size * count;
  if (slot->body_capacity == 0) {
    curl_off_t known = -1;
    curl_easy_getinfo(slot->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &known);
    if (known > 0 && known < 64 * 1024 * 1024) {
      slot->body = malloc((size_t) known);
      slot->body_capacity = slot->body ? (size_t) known : 0;
    }
  }
  if (!reserve(&slot->body, &slot->body_capacity, slot->body_length + length))
    return 0;
  memcpy(slot->body + slot->body_length, bytes, length);
  slot->body_length += length;
  return length;
}

static void start(bench *bench, slot *slot) {
  char url[URL_LENGTH];
  const char *name = bench->arguments.url;
  if (bench->arguments.fresh_urls) {
    snprintf(url, sizeof url, "%s?n=%llu", name,
             (unsigned long long) bench->started);
    name = url;
  }
  curl_easy_setopt(slot->easy, CURLOPT_URL, name);
  if (bench->arguments.rich && (slot->fields = bare_rich_set(slot->easy)) == 0)
    fail("out of memory");
  slot->started = bench->arguments.rate > 0
                      ? bench_pace_due(&bench->rate.pace, bench->started)
                      : bench_now();
  bench->started += 1;
  if (curl_multi_add_handle(slot->shard->of.multi, slot->easy) != CURLM_OK)
    fail("curl_multi_add_handle");
}

/* Sends what is due; the rest waits for its time, or for a slot. */
static void send_due(void *context) {
  bench *bench = context;
  while (bench->idle != NULL && bench->started < bench->wanted) {
    slot *slot = bench->idle;
    uint64_t departure =
        bench_pace_departure(&bench->rate.pace, bench->started);
    if (departure > bench_now()) {
      bare_rate_arm(&bench->rate, departure);
      return;
    }
    bench->idle = slot->next;
    start(bench, slot);
  }
}

static void end(bench *bench, slot *slot, CURLcode code) {
  long status = 0;
  curl_easy_getinfo(slot->easy, CURLINFO_RESPONSE_CODE, &status);
  curl_multi_remove_handle(slot->shard->of.multi, slot->easy);
  bench_totals_record(&bench->totals, code == CURLE_OK ? (unsigned) status : 0,
                      slot->body_length, bench_now() - slot->started);
  if (code != CURLE_OK && bench->totals.errors == 1)
    fprintf(stderr, "bare_loop: first error: %s: %s\n",
            curl_easy_strerror(code), slot->error);
  curl_slist_free_all(slot->fields);
  slot->fields = NULL;
  free(slot->head);
  free(slot->body);
  slot->head = slot->body = NULL;
  slot->head_length = slot->head_capacity = 0;
  slot->body_length = slot->body_capacity = 0;
  bench->ended += 1;
  if (bench->ended == bench->arguments.warmup) {
    bench_totals_clear(&bench->totals);
    bench_moment_read(&bench->from);
  }
}

/* Pops every message before the first remove_handle, which scans the list of
   messages (7.88.1). Returns: whether anything ended. */
static int drain(shard *shard) {
  bench *bench = shard->bench;
  struct {
    CURL *easy;
    CURLcode code;
  } done[MESSAGES_A_TURN];
  slot *again = NULL;
  CURLMsg *message;
  int left, count = 0;
  while (count < MESSAGES_A_TURN &&
         (message = curl_multi_info_read(shard->of.multi, &left)) != NULL) {
    done[count].easy = message->easy_handle;
    done[count].code = message->data.result;
    count++;
  }
  for (int i = 0; i < count; i++) {
    slot *slot;
    curl_easy_getinfo(done[i].easy, CURLINFO_PRIVATE, (char **) &slot);
    end(bench, slot, done[i].code);
    slot->next = again;
    again = slot;
  }
  while (again != NULL) {
    slot *slot = again;
    again = slot->next;
    if (bench->arguments.rate > 0) {
      slot->next = bench->idle;
      bench->idle = slot;
    } else if (bench->started < bench->wanted) {
      start(bench, slot);
    }
  }
  if (bench->arguments.rate > 0 && count > 0)
    send_due(bench);
  return count > 0;
}

static void stop(bench *bench) {
  bench_moment_read(&bench->to);
  uv_stop(&bench->uv);
}

static void on_timer(uv_timer_t *timer);

static void drive(shard *shard) {
  int again = 1, running;
  for (int round = 0; again && round < KICK_ROUNDS; round++) {
    again = drain(shard);
    if (shard->kick) {
      shard->kick = 0;
      curl_multi_socket_action(shard->of.multi, CURL_SOCKET_TIMEOUT, 0,
                               &running);
      again = 1;
    }
  }
  if (shard->bench->ended == shard->bench->wanted)
    stop(shard->bench);
  else if (again || shard->kick)
    uv_timer_start(&shard->timer, on_timer, 0, 0);
}

/* A paced request may begin in a shard that was driven before. */
static void drive_others_soon(bench *bench) {
  for (uint32_t i = 0; i < bench->shard_count; i++)
    if (bench->shards[i].kick)
      uv_timer_start(&bench->shards[i].timer, on_timer, 0, 0);
}

static void on_check(uv_check_t *check) {
  bench *bench = check->data;
  for (uint32_t i = 0; i < bench->shard_count && bench->ended < bench->wanted;
       i++)
    drive(&bench->shards[i]);
  if (bench->shard_count > 1)
    drive_others_soon(bench);
}

/* The poll phase comes between the timers and the check, and may sleep: so
   this drives by itself. */
static void on_timer(uv_timer_t *timer) {
  shard *shard = timer->data;
  shard->kick = 1;
  drive(shard);
  if (shard->bench->shard_count > 1)
    drive_others_soon(shard->bench);
}

static int on_timer_wish(CURLM *multi, long milliseconds, void *context) {
  shard *shard = context;
  (void) multi;
  shard->kick = milliseconds == 0;
  if (milliseconds > 0) {
    /* libcurl floors to milliseconds before 8.4 and libuv's time is cached:
       a timer that fires early would be for nothing. */
    uv_update_time(&shard->bench->uv);
    uv_timer_start(&shard->timer, on_timer, (uint64_t) milliseconds + 1, 0);
  } else if (milliseconds < 0) {
    uv_timer_stop(&shard->timer);
  }
  return 0;
}

static void prepare(bench *bench, slot *slot) {
  const bench_arguments *arguments = &bench->arguments;
  CURL *easy = slot->easy = curl_easy_init();
  if (easy == NULL)
    fail("curl_easy_init");
  curl_easy_setopt(easy, CURLOPT_PRIVATE, slot);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, slot->error);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(easy, CURLOPT_PROXY, "");
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
  if (arguments->authority != NULL)
    curl_easy_setopt(easy, CURLOPT_CAINFO, arguments->authority);
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(easy, CURLOPT_SHARE, bench->share);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, bench->headers);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, slot);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, slot);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, bare_sockets_open);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, &bench->sockets);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, bare_sockets_shut);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, &bench->sockets);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
                   arguments->http2 ? (long) CURL_HTTP_VERSION_2TLS
                                    : (long) CURL_HTTP_VERSION_1_1);
  curl_easy_setopt(easy, CURLOPT_PIPEWAIT, arguments->http2 ? 1L : 0L);
  if (arguments->buffer_size != 0)
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, arguments->buffer_size);
  if (arguments->body != NULL) {
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                     (curl_off_t) arguments->body_length);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, arguments->body);
  }
  if (arguments->method != NULL && strcmp(arguments->method, "HEAD") == 0)
    curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
  else if (arguments->method != NULL)
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, arguments->method);
}

/* As it comes, glibc gives the memory of a large body back to the kernel when
   it is freed, and the next one's pages are faulted in anew: twelve of them for
   each 64 KB. */
static void keep_freed_memory(void) {
  mallopt(M_MMAP_THRESHOLD, 32 * 1024 * 1024);
  mallopt(M_TRIM_THRESHOLD, 256 * 1024 * 1024);
}

static void open_shard(bench *bench, shard *shard) {
  CURLM *multi = curl_multi_init();
  if (multi == NULL)
    fail("out of memory");
  shard->of = (bare_sockets_of){&bench->sockets, multi};
  shard->bench = bench;
  uv_timer_init(&bench->uv, &shard->timer);
  shard->timer.data = shard;
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, bare_sockets_wish);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, &shard->of);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer_wish);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, shard);
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS,
                    (long) bench->arguments.shard * 2);
}

static void open_bench(bench *bench) {
  const bench_arguments *arguments = &bench->arguments;
  keep_freed_memory();
  OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
  if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    fail("curl_global_init");
  bench->share = curl_share_init();
  if (bench->share == NULL)
    fail("out of memory");
  curl_share_setopt(bench->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  if (uv_loop_init(&bench->uv) != 0 ||
      bare_sockets_init(&bench->sockets, &bench->uv) != 0)
    fail("the loop cannot be created");
  uv_check_init(&bench->uv, &bench->check);
  bench->check.data = bench;
  uv_check_start(&bench->check, on_check);
  for (size_t i = 0; i < arguments->header_count; i++)
    bench->headers = curl_slist_append(bench->headers, arguments->headers[i]);
  bench->slots = calloc(arguments->concurrency, sizeof *bench->slots);
  bench->shard_count =
      (arguments->concurrency + arguments->shard - 1) / arguments->shard;
  bench->shards = calloc(bench->shard_count, sizeof *bench->shards);
  if (bench->slots == NULL || bench->shards == NULL)
    fail("out of memory");
  for (uint32_t i = 0; i < bench->shard_count; i++)
    open_shard(bench, &bench->shards[i]);
  for (uint32_t i = 0; i < arguments->concurrency; i++) {
    bench->slots[i].shard = &bench->shards[i / arguments->shard];
    prepare(bench, &bench->slots[i]);
  }
  if (arguments->rate > 0 &&
      bare_rate_init(&bench->rate, &bench->uv, arguments->rate, arguments->tick,
                     send_due, bench))
    fail("the timer cannot be created");
}

static void close_bench(bench *bench) {
  for (uint32_t i = 0; i < bench->arguments.concurrency; i++)
    curl_multi_remove_handle(bench->slots[i].shard->of.multi,
                             bench->slots[i].easy);
  for (uint32_t i = 0; i < bench->shard_count; i++) {
    curl_multi_cleanup(bench->shards[i].of.multi);
    uv_close((uv_handle_t *) &bench->shards[i].timer, NULL);
  }
  for (uint32_t i = 0; i < bench->arguments.concurrency; i++)
    curl_easy_cleanup(bench->slots[i].easy);
  curl_share_cleanup(bench->share);
  curl_slist_free_all(bench->headers);
  uv_close((uv_handle_t *) &bench->check, NULL);
  if (bench->arguments.rate > 0)
    bare_rate_close(&bench->rate);
  bare_sockets_close(&bench->sockets);
  uv_run(&bench->uv, UV_RUN_DEFAULT);
  uv_loop_close(&bench->uv);
  free(bench->slots);
  free(bench->shards);
  bench_arguments_free(&bench->arguments);
}

int main(int argc, char **argv) {
  static bench bench;
  bench_arguments_parse(&bench.arguments, argc, argv);
  bench_totals_clear(&bench.totals);
  open_bench(&bench);
  bench.wanted = bench.arguments.requests + bench.arguments.warmup;
  bench_moment_read(&bench.from);
  for (uint32_t i = 0; i < bench.arguments.concurrency; i++) {
    slot *slot = &bench.slots[i];
    if (bench.arguments.rate > 0) {
      slot->next = bench.idle;
      bench.idle = slot;
    } else if (bench.started < bench.wanted) {
      start(&bench, slot);
    }
  }
  if (bench.arguments.rate > 0)
    send_due(&bench);
  on_check(&bench.check);
  uv_run(&bench.uv, UV_RUN_DEFAULT);
  bench_report_print(&bench.totals, &bench.from, &bench.to, "bare",
                     bench.arguments.concurrency, 1);
  if (bench.arguments.stats)
    fprintf(stderr, "epoll changes %llu, actions %llu\n",
            (unsigned long long) bench.sockets.changes,
            (unsigned long long) bench.sockets.actions);
  close_bench(&bench);
  return 0;
}
