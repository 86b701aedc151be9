#include "bare_sockets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS_A_TURN = 256 };

static bare_socket *entry_of(bare_sockets *sockets, int fd) {
  if ((uint32_t) fd >= sockets->capacity) {
    uint32_t capacity = (uint32_t) fd * 2 + 64;
    bare_socket *table =
        realloc(sockets->table, capacity * sizeof *sockets->table);
    if (table == NULL)
      return NULL;
    memset(table + sockets->capacity, 0,
           (capacity - sockets->capacity) * sizeof *table);
    sockets->table = table;
    sockets->capacity = capacity;
  }
  return &sockets->table[fd];
}

static void arm(bare_sockets *sockets, int fd, bare_socket *entry,
                uint8_t events) {
  struct epoll_event event = {.events = events, .data.fd = fd};
  int operation = entry->armed == 0 ? EPOLL_CTL_ADD
                  : events == 0     ? EPOLL_CTL_DEL
                                    : EPOLL_CTL_MOD;
  if (entry->armed == events)
    return;
  sockets->changes += 1;
  /* A descriptor that libcurl closed behind our back (7.88, before the
     connect) left epoll by itself, so a failed MOD becomes an ADD. */
  if (epoll_ctl(sockets->epoll, operation, fd, &event) != 0 &&
      operation == EPOLL_CTL_MOD && errno == ENOENT)
    epoll_ctl(sockets->epoll, EPOLL_CTL_ADD, fd, &event);
  entry->armed = events;
}

static void on_ready(uv_poll_t *poll, int status, int ready) {
  bare_sockets *sockets = poll->data;
  struct epoll_event events[EVENTS_A_TURN];
  int count = epoll_wait(sockets->epoll, events, EVENTS_A_TURN, 0);
  (void) status;
  (void) ready;
  for (int i = 0; i < count; i++) {
    int fd = events[i].data.fd, bits = 0, running;
    uint32_t seen = events[i].events;
    bare_socket *entry = &sockets->table[fd];
    if (seen & (EPOLLERR | EPOLLHUP))
      seen |= entry->wanted;
    if ((seen & EPOLLIN) && (entry->wanted & EPOLLIN))
      bits |= CURL_CSELECT_IN;
    if ((seen & EPOLLOUT) && (entry->wanted & EPOLLOUT))
      bits |= CURL_CSELECT_OUT;
    if (seen & EPOLLERR)
      bits |= CURL_CSELECT_ERR;
    if (entry->wanted == 0 || bits == 0) {
      /* Lazy deregistration: only an event nobody wants pays the call. */
      arm(sockets, fd, entry, entry->wanted);
      continue;
    }
    sockets->actions += 1;
    curl_multi_socket_action(entry->multi, fd, bits, &running);
  }
}

int bare_sockets_init(bare_sockets *sockets, uv_loop_t *loop) {
  int result;
  memset(sockets, 0, sizeof *sockets);
  sockets->epoll = epoll_create1(EPOLL_CLOEXEC);
  if (sockets->epoll < 0)
    return -errno;
  result = uv_poll_init(loop, &sockets->poll, sockets->epoll);
  if (result != 0)
    return result;
  sockets->poll.data = sockets;
  return uv_poll_start(&sockets->poll, UV_READABLE, on_ready);
}

void bare_sockets_close(bare_sockets *sockets) {
  uv_close((uv_handle_t *) &sockets->poll, NULL);
  close(sockets->epoll);
  free(sockets->table);
}

int bare_sockets_wish(CURL *easy, curl_socket_t fd, int what, void *context,
                      void *socket) {
  bare_sockets_of *of = context;
  bare_sockets *sockets = of->sockets;
  bare_socket *entry = entry_of(sockets, fd);
  (void) easy;
  (void) socket;
  if (entry == NULL)
    abort();
  entry->multi = of->multi;
  entry->wanted = what == CURL_POLL_IN      ? EPOLLIN
                  : what == CURL_POLL_OUT   ? EPOLLOUT
                  : what == CURL_POLL_INOUT ? EPOLLIN | EPOLLOUT
                                            : 0;
  if (what == CURL_POLL_REMOVE && !entry->owned)
    arm(sockets, fd, entry, 0);
  else if (entry->wanted & ~entry->armed)
    arm(sockets, fd, entry, entry->wanted);
  return 0;
}

curl_socket_t bare_sockets_open(void *context, curlsocktype purpose,
                                struct curl_sockaddr *address) {
  bare_sockets *sockets = context;
  int fd = socket(address->family, address->socktype | SOCK_CLOEXEC,
                  address->protocol);
  bare_socket *entry;
  (void) purpose;
  if (fd < 0)
    return CURL_SOCKET_BAD;
  entry = entry_of(sockets, fd);
  if (entry == NULL) {
    close(fd);
    return CURL_SOCKET_BAD;
  }
  *entry = (bare_socket){.owned = 1};
  return fd;
}

int bare_sockets_shut(void *context, curl_socket_t fd) {
  bare_sockets *sockets = context;
  bare_socket *entry = entry_of(sockets, fd);
  if (entry != NULL)
    *entry = (bare_socket){0};
  return close(fd);
}
