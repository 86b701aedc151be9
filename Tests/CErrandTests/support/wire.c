#include "support/wire.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static int open_socket(const struct sockaddr *address, socklen_t length) {
  int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct timeval limit = {.tv_sec = 150};
  if (fd < 0)
    return -1;
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  if (connect(fd, address, length) == 0)
    return fd;
  close(fd);
  return -1;
}

int wire_connect(uint16_t port) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons(port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  return open_socket((struct sockaddr *) &address, sizeof address);
}

int wire_connect_unix(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  return open_socket((struct sockaddr *) &address, sizeof address);
}

int wire_start_connect(uint16_t port) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons(port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0)
    connect(fd, (struct sockaddr *) &address, sizeof address);
  return fd;
}

int wire_send(int fd, const char *text) {
  size_t length = strlen(text);
  while (length > 0) {
    ssize_t put = send(fd, text, length, MSG_NOSIGNAL);
    if (put < 0)
      return -1;
    text += put;
    length -= (size_t) put;
  }
  return 0;
}

long wire_read(int fd, char *into, size_t size, const char *until) {
  size_t length = 0;
  into[0] = 0;
  while (length < size - 1) {
    ssize_t got = recv(fd, into + length, size - 1 - length, 0);
    if (got < 0)
      return -1;
    if (got == 0)
      break;
    length += (size_t) got;
    into[length] = 0;
    if (until != NULL && strstr(into, until) != NULL)
      break;
  }
  return (long) length;
}
