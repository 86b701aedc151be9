#include "loop/descriptors.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

#include "loop/finish.h"
#include "loop/shard.h"
#include "loop/start.h"
#include "transfer/pausing.h"
#include "transfer/slot.h"

/* The first pause; each later one is three times as long. Other loops need a
   turn to close their idle connections, and so do the servers. */
#define PAUSE_MS 20
#define TRIES 3
/* For this long after a lack of descriptors, the lack may be the cause of a
   failure to connect, whatever libcurl says: getaddrinfo in a resolver thread
   does not report it. */
#define SHORT_MS 1000

void errand__descriptors_refused(errand__loop *loop, errand__transfer *t,
                                 int error) {
  errand__shared *shared = loop->shared;
  uint64_t all = UINT64_MAX >> (ERRAND__LOOPS_MAX - shared->loop_count);
  t->reason = ERRAND_OUT_OF_DESCRIPTORS;
  t->attempt.descriptor_error = error;
  /* The bit of this loop is set too: the loop must not close connections inside
     libcurl, and closes them in its next turn. */
  uint64_t known = atomic_fetch_or_explicit(&shared->descriptors_wanted, all,
                                            memory_order_acq_rel);
  for (uint32_t i = 0; i < shared->loop_count; i++)
    if (!(known >> i & 1))
      errand__loop_wake(&shared->loops[i]);
}

void errand__descriptors_follow(errand__loop *loop) {
  uint64_t mine = (uint64_t) 1 << loop->index;
  _Atomic uint64_t *wanted = &loop->shared->descriptors_wanted;
  if (!(atomic_load_explicit(wanted, memory_order_relaxed) & mine))
    return;
  atomic_fetch_and_explicit(wanted, ~mine, memory_order_acq_rel);
  loop->out_of_descriptors = true;
  loop->descriptors_short_until_ms = loop->agenda.now_ms + SHORT_MS;
  errand__realms_tend(loop);
}

static void tick_at(errand__loop *loop, uint64_t at_ms) {
  if (!loop->descriptor_tick.armed || at_ms < loop->descriptor_tick.deadline_ms)
    errand__wheel_add(&loop->agenda.wheel, &loop->descriptor_tick, at_ms);
}

bool errand__descriptors_wait(errand__loop *loop, errand__transfer *t) {
  uint64_t pause = PAUSE_MS;
  if (t->attempt.descriptor_tries >= TRIES)
    return false;
  for (int i = 0; i < t->attempt.descriptor_tries; i++)
    pause *= 3;
  t->attempt.descriptor_tries++;
  t->attempt.awaits_descriptor = true;
  t->attempt.retry_at_ms = loop->agenda.now_ms + pause;
  tick_at(loop, t->attempt.retry_at_ms);
  return true;
}

bool errand__descriptors_retry(errand__loop *loop, errand__transfer *t) {
  errand__slot *slot = t->slot;
  /* Once a connection was ready, bytes of the request may have been sent. */
  if (t->reason != ERRAND_OUT_OF_DESCRIPTORS || t->attempt.connected ||
      t->response.header_bytes > 0 || !errand__descriptors_wait(loop, t))
    return false;
  errand__slot_unpause(slot);
  slot->fd = -1;
  t->attempt.opened = false; /* the next connection may be a kept one */
  slot->error[0] = '\0';
  curl_multi_remove_handle(slot->shard->multi, slot->easy);
  return true;
}

void errand__descriptors_run(errand__loop *loop) {
  for (errand__list *l = loop->started.next; l != &loop->started;) {
    errand__transfer *t = ERRAND__CONTAINER(l, errand__transfer, link);
    l = l->next;
    if (!t->attempt.awaits_descriptor)
      continue;
    if (t->attempt.retry_at_ms > loop->agenda.now_ms) {
      tick_at(loop, t->attempt.retry_at_ms);
      continue;
    }
    t->attempt.awaits_descriptor = false;
    t->reason = ERRAND_OK;
    if (!t->slot)
      errand__transfer_enter(loop, t);
    else if (curl_multi_add_handle(t->slot->shard->multi, t->slot->easy) !=
             CURLM_OK)
      errand__finish(loop, t, ERRAND_OUT_OF_MEMORY, CURLE_OUT_OF_MEMORY);
  }
}

void errand__descriptors_describe(const errand__transfer *t,
                                  errand_record *record,
                                  char text[static CURL_ERROR_SIZE]) {
  struct rlimit limit;
  int error = t->attempt.descriptor_error;
  if (record->status != ERRAND_OUT_OF_DESCRIPTORS)
    return;
  record->os_error = error;
  if (error == EMFILE && getrlimit(RLIMIT_NOFILE, &limit) == 0)
    snprintf(text, CURL_ERROR_SIZE,
             "all %llu file descriptors that this process may have are in use "
             "(RLIMIT_NOFILE)",
             (unsigned long long) limit.rlim_cur);
  else
    snprintf(text, CURL_ERROR_SIZE,
             "all file descriptors of the system are in use (fs.file-max)");
}
