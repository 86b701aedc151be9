#include "loop/loop.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/heap.h"
#include "base/mem.h"
#include "libcurl/curl_traits.h"
#include "loop/loop_poll.h"
#include "loop/loop_turn.h"
#include "loop/multi.h"
#include "loop/origin.h"
#include "loop/realm.h"

static _Thread_local errand__loop *current;

errand__loop *errand__loop_current(void) {
  return current;
}

bool errand__loop_is_current(const errand__loop *loop) {
  return current == loop;
}

void errand__loop_wake(errand__loop *loop) {
  errand__counter_add(&loop->wakeups, 1);
  /* If two threads do this at the same time, one of the two times stays. */
  if (errand__counter_read(&loop->woken_ns) == 0)
    errand__counter_set(&loop->woken_ns, uv_hrtime());
  uv_async_send(&loop->async);
}

/*
 * The loop stores `sleeping` and then reads the queue. A producer pushes and
 * then reads `sleeping`. Both are sequentially consistent, so at least one of
 * them sees the other's store. The producer that clears the flag sends the one
 * wake-up.
 */
bool errand__loop_post(errand__loop *loop, errand__queue_node *first,
                       errand__queue_node *last) {
  if (!errand__queue_push(&loop->queue, first, last))
    return false;
  if (errand__loop_is_current(loop))
    return true; /* the turn looks at the queue before it ends */
  atomic_thread_fence(memory_order_seq_cst);
  if (atomic_load_explicit(&loop->sleeping, memory_order_relaxed) &&
      atomic_exchange_explicit(&loop->sleeping, 0, memory_order_seq_cst))
    errand__loop_wake(loop);
  return true;
}

static void on_async(uv_async_t *async) {
  (void) async; /* the check phase does the work */
}

static void on_idle(uv_idle_t *idle) {
  (void) idle; /* while it is active the poll does not wait */
}

void errand__loop_wait_not(errand__loop *loop) {
  uv_idle_start(&loop->idle, on_idle);
}

/* Runs last before the poll, whose timeout libuv computes afterwards. */
static void on_prepare(uv_prepare_t *prepare) {
  errand__loop *loop = prepare->data;
  if (uv_is_active((const uv_handle_t *) &loop->idle))
    return;
  atomic_store_explicit(&loop->sleeping, 1, memory_order_seq_cst);
  atomic_thread_fence(memory_order_seq_cst);
  if (!errand__queue_is_empty(&loop->queue))
    errand__loop_wait_not(loop);
}

static void on_check(uv_check_t *check) {
  errand__loop *loop = check->data;
  atomic_store_explicit(&loop->sleeping, 0, memory_order_relaxed);
  errand__loop_turn(loop);
}

static void on_closed(uv_handle_t *handle, void *context) {
  (void) context;
  if (!uv_is_closing(handle))
    uv_close(handle, NULL);
}

static void free_memory(errand__loop *loop) {
  errand__origins_tend(loop, true);
  errand__fd_table_free(&loop->fds);
  errand__free(loop->by_id);
  errand__free(loop->agenda.records.list);
  errand__free(loop->messages);
  loop->by_id = NULL;
  loop->agenda.records.list = NULL;
  loop->messages = NULL;
}

/* Closes the libuv side of the loop.
   Thread: the loop's, or any after the join. */
static void close_uv(errand__loop *loop) {
  uv_walk(&loop->uv, on_closed, NULL);
  /* Also waits for file reads of uploads that ended meanwhile. */
  while (uv_run(&loop->uv, UV_RUN_DEFAULT) != 0)
    continue;
  uv_loop_close(&loop->uv);
  if (loop->epoll >= 0)
    close(loop->epoll);
  loop->epoll = -1;
}

/* Runs last on a loop's thread. */
static void loop_ended(errand__shared *shared) {
  void (*stopped)(void *) = shared->init.on_stopped;
  void *context = shared->init.context;
  if (atomic_fetch_sub_explicit(&shared->running, 1, memory_order_acq_rel) ==
          1 &&
      stopped)
    stopped(context);
}

void errand__loop_share_buffer(const errand__loop *loop) {
  errand__heap_share(loop->long_texts == 0 &&
                     !errand__curl_does(ERRAND__CURL_BORROWS_BUFFERS));
}

static void *run(void *context) {
  errand__loop *loop = context;
  current = loop;
  char name[16];
  snprintf(name, sizeof name, "errand-%u", loop->index);
  pthread_setname_np(pthread_self(), name);
  /* In the "C" locale libcurl cannot turn a host in UTF-8 into an A-label. */
  if (loop->locale)
    uselocale(loop->locale);
  (void) errand__heap_enter(false); /* without it libcurl uses malloc */
  errand__loop_share_buffer(loop);
  uv_run(&loop->uv, UV_RUN_DEFAULT);
  errand__realms_free(loop);
  errand__heap_leave();
  if (loop->locale)
    uselocale(LC_GLOBAL_LOCALE);
  loop_ended(loop->shared);
  return NULL;
}

static void init_state(errand__loop *loop) {
  errand__list *lists[] = {
      &loop->realms,      &loop->dirty,         &loop->kicked,
      &loop->ready[0],    &loop->ready[1],      &loop->ready[2],
      &loop->started,     &loop->agenda.review, &loop->agenda.flush,
      &loop->progressing, &loop->unreachable};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
    errand__list_init(lists[i]);
  loop->starving = -1;
  loop->agenda.hold = errand__shard_hold;
}

static errand_status init_uv(errand__loop *loop) {
  int status = uv_loop_init(&loop->uv);
  if (status != 0)
    return status == UV_ENOMEM ? ERRAND_OUT_OF_MEMORY : ERRAND_SYSTEM;
  loop->epoll = -1;
  loop->timer.data = loop->prepare.data = loop->check.data = loop;
  uv_timer_init(&loop->uv, &loop->timer);
  uv_prepare_init(&loop->uv, &loop->prepare);
  uv_check_init(&loop->uv, &loop->check);
  uv_idle_init(&loop->uv, &loop->idle);
  uv_prepare_start(&loop->prepare, on_prepare);
  uv_check_start(&loop->check, on_check);
  if (uv_async_init(&loop->uv, &loop->async, on_async) != 0 ||
      !errand__loop_poll_start(loop)) {
    close_uv(loop);
    return ERRAND_SYSTEM;
  }
  loop->agenda.now_ms = uv_now(&loop->uv);
  loop->timer_at_ms = ERRAND__WHEEL_NEVER;
  errand__wheel_init(&loop->agenda.wheel, loop->agenda.now_ms);
  return ERRAND_OK;
}

/* All signals are blocked, so that they go to the threads of the host program.
   libcurl's resolver threads inherit the mask. */
static int start_thread(errand__loop *loop) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(&loop->thread, NULL, run, loop);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}

errand_status errand__loop_start(errand__loop *loop, errand__shared *shared,
                                 uint32_t index) {
  loop->shared = shared;
  loop->index = index;
  errand__queue_init(&loop->queue);
  init_state(loop);
  errand_status status = init_uv(loop);
  if (status != ERRAND_OK)
    return status;
  loop->locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t) 0);
  if (start_thread(loop) != 0) {
    close_uv(loop);
    if (loop->locale)
      freelocale(loop->locale);
    return ERRAND_SYSTEM;
  }
  return ERRAND_OK;
}

void errand__loop_join(errand__loop *loop) {
  pthread_join(loop->thread, NULL);
}

/* libuv's handles are closed only here: until every thread of the group was
   joined, any of them may wake this loop. */
void errand__loop_dispose(errand__loop *loop) {
  close_uv(loop);
  free_memory(loop);
  if (loop->locale)
    freelocale(loop->locale);
}
