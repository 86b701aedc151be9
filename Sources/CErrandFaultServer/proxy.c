/* The proxy step. Whatever host the request names, the proxy connects to the
   port on loopback, because tests name hosts that do not exist. */
#include "fault.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

int errand_fault__connect_to(unsigned long port) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t) port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return -1;
  if (connect(fd, (struct sockaddr *) &address, sizeof address) == 0)
    return fd;
  close(fd);
  return -1;
}

/* Sends all data to the other side. Returns: false when that side has closed
   or the server stops. */
static bool send_all(fault_connection *connection, int fd, const void *data,
                     size_t length) {
  struct pollfd fds[2] = {
      {.fd = connection->server->stop_event, .events = POLLIN},
      {.fd = fd, .events = POLLOUT},
  };
  const char *bytes = data;
  while (length > 0) {
    ssize_t put = send(fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put >= 0) {
      bytes += put;
      length -= (size_t) put;
      continue;
    }
    if (errno != EINTR && errno != EAGAIN)
      return false;
    if (poll(fds, 2, -1) > 0 && fds[0].revents != 0)
      return false;
  }
  return true;
}

void errand_fault__relay(fault_connection *connection, int upstream) {
  struct pollfd fds[3] = {
      {.fd = connection->server->stop_event, .events = POLLIN},
      {.fd = connection->fd, .events = POLLIN},
      {.fd = upstream, .events = POLLIN},
  };
  char block[16384];
  for (;;) {
    size_t buffered = connection->input_end - connection->input_at;
    if (buffered > 0 &&
        !send_all(connection, upstream,
                  connection->input + connection->input_at, buffered))
      return;
    connection->input_at = connection->input_end;
    if (poll(fds, 3, -1) < 0) {
      if (errno == EINTR)
        continue;
      return;
    }
    if (fds[0].revents != 0)
      return;
    if (fds[1].revents != 0 && errand_fault__fill(connection) == FAULT_ENDED)
      return;
    if (fds[2].revents != 0) {
      ssize_t got = recv(upstream, block, sizeof block, MSG_DONTWAIT);
      if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        return;
      if (got > 0 &&
          errand_fault__send(connection, block, (size_t) got) == FAULT_ENDED)
        return;
    }
  }
}

static fault_outcome refuse(fault_connection *connection) {
  static const char answer[] = "HTTP/1.1 502 Bad Gateway\r\n"
                               "Content-Length: 0\r\n\r\n";
  return errand_fault__send(connection, answer, sizeof answer - 1);
}

/* Sends the request head in origin form, for one request only. */
static bool forward(fault_connection *connection, int upstream) {
  const errand_fault_request *request = &connection->request->view;
  const char *path = strchr(strstr(request->target, "://") + 3, '/');
  char *line = NULL;
  int length = asprintf(&line, "%s %s HTTP/1.1\r\nConnection: close\r\n",
                        request->method, path == NULL ? "/" : path);
  if (length < 0)
    return false;
  bool sent = send_all(connection, upstream, line, (size_t) length);
  free(line);
  const char *field = strchr(request->head, '\n') + 1;
  while (sent && *field != 0) {
    size_t width = (size_t) (strchr(field, '\n') - field) + 1;
    if (strncasecmp(field, "Proxy-", 6) != 0)
      sent = send_all(connection, upstream, field, width);
    field += width;
  }
  return sent && send_all(connection, upstream, "\r\n", 2) &&
         send_all(connection, upstream, request->body, request->body_kept);
}

fault_outcome errand_fault__proxy(fault_connection *connection) {
  static const char opened[] = "HTTP/1.1 200 Connection established\r\n\r\n";
  const errand_fault_request *request = &connection->request->view;
  bool tunnel = strcmp(request->method, "CONNECT") == 0;
  const char *authority = request->target;
  if (!tunnel) {
    authority = strstr(request->target, "://");
    if (authority == NULL)
      return refuse(connection);
    authority += 3;
  }
  if (errand_fault__read_body(connection, 0, 0) == FAULT_ENDED)
    return FAULT_ENDED;
  const char *colon = authority + strcspn(authority, ":/");
  int upstream = errand_fault__connect_to(
      *colon == ':' ? strtoul(colon + 1, NULL, 10) : 80);
  if (upstream < 0)
    return refuse(connection);
  bool ready = tunnel ? errand_fault__send(connection, opened,
                                           sizeof opened - 1) == FAULT_GO_ON
                      : forward(connection, upstream);
  if (ready)
    errand_fault__relay(connection, upstream);
  close(upstream);
  errand_fault__close(connection, false);
  return FAULT_ENDED;
}
