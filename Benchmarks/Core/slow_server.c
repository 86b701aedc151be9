/*
 * Answers every request after a while: slow_server PORT MILLISECONDS [PERMILLE
 * STALL]. One thread, requests without a body, keep-alive. It exists because a
 * memory figure needs thousands of requests that wait at the same time. With
 * PERMILLE, that many of 1,000 requests are answered after STALL milliseconds:
 * for the figures of hedges.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 512, DESCRIPTORS = 65536, QUEUE = 1 << 17 };

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                             "Content-Length: 12\r\n\r\nHello world!";

/* A delay that is the same for all makes the order of answers the order of
   arrival, so a ring is enough. */
typedef struct due {
  int fd;
  uint32_t generation;
  uint64_t at;
} due;

typedef struct queue {
  due ring[QUEUE];
  uint32_t head, tail;
  uint64_t delay;
} queue;

static queue usual, stalled;
static uint64_t permille, requests;
static uint32_t generations[DESCRIPTORS];

static uint64_t milliseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t) time.tv_sec * 1000 + (uint64_t) time.tv_nsec / 1000000;
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static int listen_on(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t) port)};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  int yes = 1;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd < 0 ||
      setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
      bind(fd, (struct sockaddr *) &address, sizeof address) != 0 ||
      listen(fd, 4096) != 0)
    fail("slow_server");
  return fd;
}

static void accept_all(int listener, int epoll) {
  for (;;) {
    struct epoll_event event = {.events = EPOLLIN};
    int yes = 1;
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
      return;
    if (fd >= DESCRIPTORS) {
      close(fd);
      continue;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    event.data.fd = fd;
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
  }
}

/* Every so many requests, so that all runs have the same share of stalls. */
static queue *queue_of_next(void) {
  return requests++ * 389 % 1000 < permille ? &stalled : &usual;
}

static void read_from(int fd) {
  char bytes[16384];
  ssize_t length = recv(fd, bytes, sizeof bytes, 0);
  if (length <= 0) {
    if (length == 0 || errno != EAGAIN) {
      generations[fd] += 1;
      close(fd);
    }
    return;
  }
  if (length < 4 || memcmp(bytes + length - 4, "\r\n\r\n", 4) != 0)
    return;
  queue *into = queue_of_next();
  if (into->tail - into->head == QUEUE)
    return;
  into->ring[into->tail++ % QUEUE] = (due){.fd = fd,
                                           .generation = generations[fd],
                                           .at = milliseconds() + into->delay};
}

static void answer_due(queue *from, uint64_t now) {
  for (; from->head != from->tail && from->ring[from->head % QUEUE].at <= now;
       from->head++) {
    due *due = &from->ring[from->head % QUEUE];
    if (generations[due->fd] == due->generation)
      (void) !send(due->fd, answer, sizeof answer - 1, MSG_NOSIGNAL);
  }
}

/* Returns the shorter of `wait`, -1 for none, and the time to the next answer.
 */
static int wait_for(const queue *from, int wait) {
  if (from->head == from->tail)
    return wait;
  uint64_t now = milliseconds(), at = from->ring[from->head % QUEUE].at;
  int left = at > now ? (int) (at - now) : 0;
  return wait < 0 || left < wait ? left : wait;
}

int main(int argc, char **argv) {
  struct rlimit limit;
  struct epoll_event event = {.events = EPOLLIN}, events[EVENTS];
  int listener, epoll;
  if (argc != 3 && argc != 5) {
    fprintf(stderr, "usage: slow_server PORT MILLISECONDS [PERMILLE STALL]\n");
    return 64;
  }
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  usual.delay = strtoull(argv[2], NULL, 10);
  if (argc == 5) {
    permille = strtoull(argv[3], NULL, 10);
    stalled.delay = strtoull(argv[4], NULL, 10);
  }
  listener = listen_on((int) strtol(argv[1], NULL, 10));
  epoll = epoll_create1(EPOLL_CLOEXEC);
  event.data.fd = listener;
  if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event) != 0)
    fail("slow_server");
  for (;;) {
    int count = epoll_wait(epoll, events, EVENTS,
                           wait_for(&stalled, wait_for(&usual, -1)));
    for (int i = 0; i < count; i++) {
      if (events[i].data.fd == listener)
        accept_all(listener, epoll);
      else
        read_from(events[i].data.fd);
    }
    uint64_t now = milliseconds();
    answer_due(&usual, now);
    answer_due(&stalled, now);
  }
}
