#include <string.h>

#include "group/group.h"
#include "include/errand_stats.h"

static uint64_t get(const errand__counter *counter) {
  return errand__counter_read(counter);
}

void errand_group_stats(const errand_group *group, errand_stats *out) {
  memset(out, 0, sizeof *out);
  out->loops = group->shared.loop_count;
  out->submitted = get(&group->next_sequence) - get(&group->refused);
  out->queued = get(&group->shared.queued);
  for (uint32_t i = 0; i < group->shared.loop_count; i++) {
    const errand__loop *loop = &group->loops[i];
    const errand__loop_counters *c = &loop->counters;
    out->completed += get(&c->completed);
    out->in_flight += get(&c->in_flight);
    out->connections_opened += get(&c->connections_opened);
    out->connections_open += get(&c->connections_open);
    out->connections_idle += get(&c->connections_idle);
    out->wakeups += get(&loop->wakeups);
    out->turns += get(&c->turns);
    out->batches += get(&c->batches);
    out->poll_changes += get(&c->poll_changes);
    out->multis += get(&c->multis);
  }
}
