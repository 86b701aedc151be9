#include <string.h>
#include <uv.h>

#include "group/group.h"
#include "include/errand_stats.h"

static uint64_t get(const errand__counter *counter) {
  return errand__counter_read(counter);
}

static void raise_to(uint64_t *most, uint64_t value) {
  if (value > *most)
    *most = value;
}

/* The requests of the default priority are those without another priority. */
static void count_default(uint64_t counts[ERRAND_PRIORITIES], uint64_t all) {
  uint64_t others = 0;
  for (int i = 0; i < ERRAND_PRIORITIES; i++)
    others += counts[i];
  counts[ERRAND_PRIORITY_DEFAULT] = all > others ? all - others : 0;
}

void errand_group_stats(const errand_group *group, errand_stats *out) {
  memset(out, 0, sizeof *out);
  out->loops = group->shared.loop_count;
  out->submitted = get(&group->next_sequence) - get(&group->refused);
  out->queued = get(&group->shared.queued);
  for (int i = 0; i < ERRAND_PRIORITIES; i++)
    out->queued_by_priority[i] = get(&group->shared.queued_apart[i]);
  count_default(out->queued_by_priority, out->queued);
  uint64_t now_ns = uv_hrtime();
  for (uint32_t i = 0; i < group->shared.loop_count; i++) {
    const errand__loop *loop = &group->loops[i];
    const errand__loop_counters *c = &loop->counters;
    out->completed += get(&c->completed);
    out->in_flight += get(&c->in_flight);
    for (int p = 0; p < ERRAND_PRIORITIES; p++)
      out->in_flight_by_priority[p] += get(&c->in_flight_apart[p]);
    out->connections_opened += get(&c->connections_opened);
    out->connections_open += get(&c->connections_open);
    out->connections_idle += get(&c->connections_idle);
    out->wakeups += get(&loop->wakeups);
    out->turns += get(&c->turns);
    out->batches += get(&c->batches);
    out->poll_changes += get(&c->poll_changes);
    out->multis += get(&c->multis);
    /* The longest times are read first: the loop notes them last, so the sums
       include them. */
    raise_to(&out->longest_turn_ns,
             errand__longest_read(&c->longest_turn, now_ns));
    raise_to(&out->longest_lag_ns,
             errand__longest_read(&c->longest_lag, now_ns));
    out->turn_ns += get(&c->turn_ns);
    out->lags += get(&c->lags);
    out->lag_ns += get(&c->lag_ns);
  }
  count_default(out->in_flight_by_priority, out->in_flight);
}
