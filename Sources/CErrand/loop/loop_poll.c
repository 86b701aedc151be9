#include "loop/loop_poll.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libcurl/curl_traits.h"
#include "libcurl/process.h"
#include "loop/hang_up.h"
#include "loop/loop_turn.h"
#include "loop/multi.h"
#include "loop/shard.h"
#include "loop/turn_time.h"

/* The set is recreated after this many batches with stale events
   (errand__fd_table.stale). A batch that was not full and had no stale event
   resets the count. */
#define STALE_STREAK 16

static int epoll_control(void *context, errand__fd_operation operation, int fd,
                         unsigned directions, uint64_t key) {
  static const int operations[] = {0, EPOLL_CTL_ADD, EPOLL_CTL_MOD,
                                   EPOLL_CTL_DEL};
  const errand__loop *loop = context;
  /* EPOLLRDHUP is not asked for: it would be reported again and again for a
     socket that only writes. */
  struct epoll_event event = {.data.u64 = key};
  if (directions & ERRAND__FD_IN)
    event.events |= EPOLLIN;
  if (directions & ERRAND__FD_OUT)
    event.events |= EPOLLOUT;
  return epoll_ctl(loop->epoll, operations[operation], fd, &event) == 0
             ? 0
             : -errno;
}

static uint64_t socket_identity(void *context, int fd) {
  struct stat status;
  (void) context;
  return fstat(fd, &status) == 0 ? (uint64_t) status.st_ino : 0;
}

/*
 * libcurl before 8.0 does not see that a kept connection was reset
 * (9fd2d5aa72), and the request on it fails. Nor does it see unread bytes,
 * which it takes for the next response (7c5637b8b4). It does see the end of a
 * connection, so the socket is replaced, under the same number, by one whose
 * peer has closed.
 */
static bool end_socket(int fd) {
  int pair[2];
  if (!errand__curl_does(ERRAND__CURL_KEEPS_UNCLEAN_CONNECTIONS))
    return true;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
                 pair) != 0)
    return false;
  close(pair[1]);
  bool ended = dup3(pair[0], fd, O_CLOEXEC) >= 0;
  close(pair[0]);
  return ended;
}

/* Keeps requests from using the connection again. If there is no descriptor for
   that, no request uses its shard again. */
static void end_connection(errand__shard *shard, int fd) {
  if (!end_socket(fd))
    errand__shard_retire(shard);
}

static bool peer_has_gone(int fd) {
  char byte;
  ssize_t n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

static void on_event(errand__loop *loop, const struct epoll_event *event) {
  unsigned directions = 0;
  void *owner = NULL;
  unsigned wanted = 0;
  bool failed = (event->events & (EPOLLERR | EPOLLHUP)) != 0;
  if (event->events & EPOLLIN)
    directions |= ERRAND__FD_IN;
  if (event->events & EPOLLOUT)
    directions |= ERRAND__FD_OUT;
  switch (errand__fd_event(&loop->fds, event->data.u64, directions, failed,
                           &owner, &wanted)) {
  case ERRAND__FD_IGNORE:
    return;
  case ERRAND__FD_DELIVER:
    errand__shard_socket(owner, errand__fd_of_key(event->data.u64), wanted);
    return;
  case ERRAND__FD_HUNG_UP: {
    errand__shard *shard = owner;
    int fd = errand__fd_of_key(event->data.u64);
    if (!failed && !peer_has_gone(fd)) {
      /* The data belongs to a paused transfer or to no request. */
      if (errand__fd_may_speak(&loop->fds, fd) ||
          errand__socket_is_used(loop, shard, fd))
        return;
      end_connection(shard, fd);
      shard->hung_up = true;
      errand__loop_keep_ticking(loop);
      return;
    }
    /* A paused transfer uses the connection: when the transfer resumes, libcurl
       finds the bytes in the socket and then the error. */
    if (errand__socket_hung_up(loop, shard, fd))
      return;
    shard->hung_up = true;
    if (failed)
      end_connection(shard, fd);
    errand__loop_keep_ticking(loop);
    return;
  }
  }
}

static void on_poll(uv_poll_t *poll, int status, int events) {
  errand__loop *loop = poll->data;
  (void) status, (void) events;
  errand__loop_poll(loop);
}

static bool watch_set(errand__loop *loop) {
  loop->epoll = epoll_create1(EPOLL_CLOEXEC);
  if (loop->epoll < 0)
    return false;
  if (uv_poll_init(&loop->uv, &loop->poll, loop->epoll) != 0) {
    close(loop->epoll);
    loop->epoll = -1;
    return false;
  }
  loop->poll.data = loop;
  return uv_poll_start(&loop->poll, UV_READABLE, on_poll) == 0;
}

bool errand__loop_poll_start(errand__loop *loop) {
  errand__fd_kernel kernel = {epoll_control, socket_identity, loop};
  errand__fd_table_init(&loop->fds, kernel);
  return watch_set(loop);
}

/* Makes a new set under the old number, so that libuv's watcher stays valid. */
static void make_anew(errand__loop *loop) {
  int fresh = epoll_create1(EPOLL_CLOEXEC);
  if (fresh < 0)
    return; /* no descriptor is left; tried again after the next batch */
  uv_poll_stop(&loop->poll);
  int moved = dup3(fresh, loop->epoll, O_CLOEXEC);
  close(fresh);
  (void) uv_poll_start(&loop->poll, UV_READABLE, on_poll);
  if (moved >= 0)
    errand__fd_rearm(&loop->fds);
}

/* Returns: whether the batch was full. Events that are left keep the set
   readable. */
static bool take_batch(errand__loop *loop) {
  struct epoll_event events[ERRAND__TOGETHER];
  int count = epoll_wait(loop->epoll, events, ERRAND__TOGETHER, 0);
  for (int i = 0; i < count; i++)
    on_event(loop, &events[i]);
  bool full = count == ERRAND__TOGETHER;
  if (loop->fds.stale != loop->stale_seen) {
    loop->stale_seen = loop->fds.stale;
    if (++loop->stale_streak >= STALE_STREAK) {
      loop->stale_streak = 0;
      make_anew(loop);
    }
  } else if (!full) {
    loop->stale_streak = 0;
  }
  return full;
}

void errand__loop_poll(errand__loop *loop) {
  errand__turn_begin(loop);
  loop->agenda.now_ms = uv_now(&loop->uv);
  loop->freed = false;
  (void) take_batch(loop);
  loop->clock_is_new = false;
}

void errand__loop_poll_all(errand__loop *loop) {
  /* A socket that is ready again goes to the end of the set's list. A request
     may have a resolver's socket too, hence `live`. */
  uint64_t left =
      (loop->fds.open + loop->agenda.records.live) / ERRAND__TOGETHER + 2;
  uv_update_time(&loop->uv);
  loop->agenda.now_ms = uv_now(&loop->uv);
  loop->freed = false;
  while (take_batch(loop) && --left > 0)
    ;
}
