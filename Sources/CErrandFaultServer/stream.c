/* A connection as a stream. The socket is non-blocking; poll() also waits for
   the stop event, so that no peer can keep a thread from being joined. */
#include "fault.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits for `events` on the socket. Returns: the events, 0 on time-out, -1
   when the server stops. POLLHUP and POLLERR count as events. */
static int await(fault_connection *connection, short events, int timeout) {
  struct pollfd fds[2] = {
      {.fd = connection->server->stop_event, .events = POLLIN},
      {.fd = connection->fd, .events = events},
  };
  int64_t deadline = timeout < 0 ? 0 : now_ms() + timeout;
  for (;;) {
    int rest = timeout < 0 ? -1 : (int) (deadline - now_ms());
    int ready = poll(fds, 2, timeout >= 0 && rest < 0 ? 0 : rest);
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready < 0 || fds[0].revents != 0)
      return -1;
    if (ready == 0)
      return 0;
    return fds[1].revents;
  }
}

void errand_fault__count(errand_fault_server *server, size_t received,
                         size_t sent) {
  pthread_mutex_lock(&server->lock);
  server->counts.bytes_received += received;
  server->counts.bytes_sent += sent;
  pthread_cond_broadcast(&server->changed);
  pthread_mutex_unlock(&server->lock);
}

fault_outcome errand_fault__fill(fault_connection *connection) {
  if (connection->input_at < connection->input_end)
    return FAULT_GO_ON;
  for (;;) {
    ssize_t got =
        recv(connection->fd, connection->input, sizeof connection->input, 0);
    if (got > 0) {
      connection->input_at = 0;
      connection->input_end = (size_t) got;
      errand_fault__count(connection->server, (size_t) got, 0);
      return FAULT_GO_ON;
    }
    if (got == 0)
      return FAULT_ENDED;
    if (errno == EINTR)
      continue;
    if (errno != EAGAIN || await(connection, POLLIN, -1) < 0)
      return FAULT_ENDED;
  }
}

fault_outcome errand_fault__send(fault_connection *connection, const void *data,
                                 size_t length) {
  const uint8_t *bytes = data;
  while (length > 0) {
    ssize_t put = send(connection->fd, bytes, length, MSG_NOSIGNAL);
    if (put >= 0) {
      errand_fault__count(connection->server, 0, (size_t) put);
      bytes += put;
      length -= (size_t) put;
      continue;
    }
    if (errno == EINTR)
      continue;
    if (errno != EAGAIN || await(connection, POLLOUT, -1) < 0)
      return FAULT_ENDED;
  }
  return FAULT_GO_ON;
}

fault_outcome errand_fault__sleep(fault_connection *connection,
                                  uint32_t milliseconds) {
  int events = await(connection, POLLRDHUP, (int) milliseconds);
  return events == 0 ? FAULT_GO_ON : FAULT_ENDED;
}

fault_outcome errand_fault__stall(fault_connection *connection) {
  struct pollfd fds[3] = {
      {.fd = connection->server->stop_event, .events = POLLIN},
      {.fd = connection->fd, .events = POLLRDHUP},
      {.fd = connection->server->release_event, .events = POLLIN},
  };
  while (poll(fds, 3, -1) < 0)
    if (errno != EINTR)
      return FAULT_ENDED;
  if (fds[0].revents != 0 || fds[1].revents != 0)
    return FAULT_ENDED;
  return FAULT_GO_ON;
}

void errand_fault__finish(fault_connection *connection) {
  shutdown(connection->fd, SHUT_WR);
  do
    connection->input_at = connection->input_end = 0;
  while (errand_fault__fill(connection) == FAULT_GO_ON);
  errand_fault__close(connection, false);
}

void errand_fault__close(fault_connection *connection, bool reset) {
  if (connection->fd < 0)
    return;
  if (reset) {
    struct linger none = {.l_onoff = 1, .l_linger = 0};
    setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
  }
  close(connection->fd);
  connection->fd = -1;
}
