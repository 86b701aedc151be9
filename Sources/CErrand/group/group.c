#include "group/group.h"

#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "libcurl/curl_traits.h"
#include "libcurl/cookie_file.h"
#include "libcurl/process.h"
#include "transfer/clock.h"
#include "transfer/options.h"

#define DEFAULT_LOOPS_MAX 4
#define DEFAULT_QUEUE 65536u
#define DEFAULT_IN_FLIGHT_MAX 4096u
#define DEFAULT_ORIGIN_IN_FLIGHT 256u
#define DEFAULT_SHARD 64u
#define DEFAULT_SHARD_COMPARING 32u
#define DEFAULT_HEADER_BYTES 65536
#define DEFAULT_HEADER_COUNT 128
#define DEFAULT_BODY_BYTES 67108864
#define COUNT_MAX 16777216u

/* The cores that this process may use, which taskset or a container's cpuset
   may limit. The set is too small for machines with more than 1,024 cores. */
static long usable_cores(void) {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) != 0)
    return sysconf(_SC_NPROCESSORS_ONLN);
  return CPU_COUNT(&usable);
}

static uint32_t default_loops(void) {
  long cores = usable_cores();
  if (cores < 1)
    return 1;
  return cores < DEFAULT_LOOPS_MAX ? (uint32_t) cores : DEFAULT_LOOPS_MAX;
}

static uint32_t default_in_flight(void) {
  struct rlimit limit;
  /* Half of the limit: kept connections and the program itself need descriptors
     too. */
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
      limit.rlim_cur / 2 >= DEFAULT_IN_FLIGHT_MAX)
    return DEFAULT_IN_FLIGHT_MAX;
  return limit.rlim_cur < 4 ? 1 : (uint32_t) (limit.rlim_cur / 2);
}

static void fallback(uint32_t *value, uint32_t otherwise) {
  if (*value == 0)
    *value = otherwise;
}

static errand_status check(const errand_group_init *init) {
  const uint32_t counts[] = {
      init->queue_capacity, init->in_flight_limit, init->origin_in_flight_limit,
      init->shard_in_flight_limit, init->max_concurrent_streams};
  const int64_t limits[] = {init->limit_header_bytes, init->limit_header_count,
                            init->limit_body_bytes, init->limit_decoded_bytes};
  if (!init->on_records)
    return ERRAND_INVALID_ARGUMENT;
  if (init->loops > ERRAND__LOOPS_MAX)
    return ERRAND_INVALID_LIMIT;
  if ((int) init->cookies < ERRAND_COOKIES_OFF ||
      (int) init->cookies > ERRAND_COOKIES_ON ||
      (init->cookie_file &&
       (init->cookies == ERRAND_COOKIES_OFF || !init->cookie_file[0])))
    return ERRAND_INVALID_OPTION;
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
    if (counts[i] > COUNT_MAX)
      return ERRAND_INVALID_LIMIT;
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
    if (limits[i] < 0 || limits[i] > ERRAND__LIMIT_MAX)
      return ERRAND_INVALID_LIMIT;
  return ERRAND_OK;
}

static void fill(struct errand_group *group, const errand_group_init *init) {
  errand_group_init *own = &group->shared.init;
  *own = *init;
  fallback(&own->queue_capacity, DEFAULT_QUEUE);
  fallback(&own->in_flight_limit, default_in_flight());
  fallback(&own->origin_in_flight_limit, DEFAULT_ORIGIN_IN_FLIGHT);
  fallback(&own->shard_in_flight_limit,
           errand__curl_does(ERRAND__CURL_COMPARES_BUSY_CONNECTIONS)
               ? DEFAULT_SHARD_COMPARING
               : DEFAULT_SHARD);
  /* The streams of a connection are requests of one multi handle. */
  if (init->shard_in_flight_limit == 0 &&
      own->shard_in_flight_limit < own->max_concurrent_streams)
    own->shard_in_flight_limit = own->max_concurrent_streams;
  errand__limit_default(&own->limit_header_bytes, DEFAULT_HEADER_BYTES);
  errand__limit_default(&own->limit_header_count, DEFAULT_HEADER_COUNT);
  errand__limit_default(&own->limit_body_bytes, DEFAULT_BODY_BYTES);
  errand__limit_default(&own->limit_decoded_bytes, DEFAULT_BODY_BYTES);
}

/* Joins the first `count` loops and frees the group. */
static void take_down(struct errand_group *group, uint32_t count, bool save) {
  /* All threads are joined before any loop is disposed of: a loop that is still
     ending requests may wake another loop. */
  for (uint32_t i = 0; i < count; i++)
    errand__loop_join(&group->loops[i]);
  for (uint32_t i = 0; i < count; i++)
    errand__loop_dispose(&group->loops[i]);
  if (save && group->shared.jar && errand__jar_file(group->shared.jar))
    errand__jar_save(group->shared.jar);
  errand__jar_destroy(group->shared.jar);
  errand_options_release(group->shared.options);
  errand__free(group);
}

static errand_status start_loops(struct errand_group *group) {
  errand_status status = ERRAND_OK;
  uint32_t started = 0;
  while (status == ERRAND_OK && started < group->shared.loop_count) {
    atomic_fetch_add_explicit(&group->shared.running, 1, memory_order_relaxed);
    status =
        errand__loop_start(&group->loops[started], &group->shared, started);
    if (status == ERRAND_OK)
      started++;
  }
  if (status == ERRAND_OK)
    return ERRAND_OK;
  /* The caller never gets this group, so on_stopped is not called for it. */
  group->shared.init.on_stopped = NULL;
  group->shared.loop_count = started;
  errand_group_stop(group, ERRAND_STOP_CANCEL, 0);
  take_down(group, started, false);
  return status;
}

errand_status errand_group_create(const errand_group_init *init,
                                  errand_group **out) {
  *out = NULL;
  errand_status status = errand__process_start();
  if (status == ERRAND_OK)
    status = check(init);
  if (status == ERRAND_OK && !init->allow_denied_library &&
      errand__curl_denied(errand__curl_version()))
    status = ERRAND_UNSUPPORTED_LIBRARY;
  if (status != ERRAND_OK)
    return status;
  uint32_t loops = init->loops ? init->loops : default_loops();
  struct errand_group *group =
      errand__aligned_calloc(sizeof *group + loops * sizeof group->loops[0]);
  if (!group)
    return ERRAND_OUT_OF_MEMORY;
  group->shared.loop_count = loops;
  group->shared.loops = group->loops;
  atomic_init(&group->shared.stop_at_ms, UINT64_MAX);
  fill(group, init);
  if (init->options) {
    group->shared.options = errand_options_retain(init->options);
  } else {
    static const errand_options_init plain;
    status = errand_options_create(&plain, &group->shared.options);
  }
  if (status == ERRAND_OK && init->cookies == ERRAND_COOKIES_ON)
    status = errand__jar_create(init->cookie_file, &group->shared.jar);
  if (status != ERRAND_OK) {
    errand_options_release(group->shared.options);
    errand__free(group);
    return status;
  }
  group->shared.init.cookie_file = NULL; /* the jar has a copy */
  status = start_loops(group);
  if (status == ERRAND_OK)
    *out = group;
  return status;
}

errand_status errand_group_stop(errand_group *group, errand_stop_mode mode,
                                int64_t within) {
  if (errand__process_forked())
    return ERRAND_FORKED;
  if (mode != ERRAND_STOP_CANCEL && mode != ERRAND_STOP_DRAIN)
    return ERRAND_INVALID_OPTION;
  if (within < 0 || within > ERRAND_TIMEOUT_MAX)
    return ERRAND_INVALID_LIMIT;
  uint64_t until =
      mode == ERRAND_STOP_CANCEL ? 0 : errand__now_ms() + (uint64_t) within;
  uint64_t before =
      atomic_load_explicit(&group->shared.stop_at_ms, memory_order_relaxed);
  while (until < before && !atomic_compare_exchange_weak_explicit(
                               &group->shared.stop_at_ms, &before, until,
                               memory_order_relaxed, memory_order_relaxed))
    continue;
  atomic_store_explicit(&group->shared.stopping, 1, memory_order_release);
  /* uv_async_send begins with a plain read of its own flag, which the loop may
     be clearing. That read must not be ordered before the store of `stopping`.
   */
  atomic_thread_fence(memory_order_seq_cst);
  for (uint32_t i = 0; i < group->shared.loop_count; i++)
    errand__loop_wake(&group->loops[i]);
  return ERRAND_OK;
}

int errand_group_is_loop_thread(const errand_group *group) {
  const errand__loop *loop = errand__loop_current();
  return loop && loop->shared == &group->shared;
}

errand_status errand_group_destroy(errand_group *group) {
  if (!group || errand__process_forked())
    return ERRAND_OK;
  if (errand_group_is_loop_thread(group))
    return ERRAND_WRONG_THREAD;
  errand_group_stop(group, ERRAND_STOP_CANCEL, 0);
  take_down(group, group->shared.loop_count, true);
  return ERRAND_OK;
}
