/* Ports that refuse and ports that never answer. */
#include "fault.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* A backlog of 0 accepts one connection. The other fillers are for kernels that
   round the backlog up. */
#define FILLERS 16

struct errand_fault_port {
  int fd;
  uint16_t number;
  int fillers[FILLERS];
  size_t count;
};

/* Connects until a connection stays pending: then the accept queue is full and
   the kernel drops every further SYN. */
static int fill_backlog(errand_fault_port *port,
                        const struct sockaddr_in *address) {
  while (port->count < FILLERS) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
      return errno;
    port->fillers[port->count++] = fd;
    if (connect(fd, (const struct sockaddr *) address, sizeof *address) != 0 &&
        errno != EINPROGRESS)
      return errno;
    struct pollfd connected = {.fd = fd, .events = POLLOUT};
    if (poll(&connected, 1, 50) == 0)
      return 0;
  }
  return EBUSY;
}

int errand_fault_port_create(errand_fault_port_kind kind,
                             errand_fault_port **out) {
  *out = NULL;
  errand_fault_port *port = calloc(1, sizeof *port);
  if (port == NULL)
    return ENOMEM;
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int error = 0;
  /* Bound but not listening: no other program can bind the port, and it
     refuses connections. */
  port->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (port->fd < 0 ||
      bind(port->fd, (struct sockaddr *) &address, length) != 0 ||
      getsockname(port->fd, (struct sockaddr *) &address, &length) != 0)
    error = errno;
  port->number = ntohs(address.sin_port);
  if (error == 0 && kind == ERRAND_FAULT_PORT_SILENT)
    error = listen(port->fd, 0) != 0 ? errno : fill_backlog(port, &address);
  if (error != 0) {
    errand_fault_port_destroy(port);
    return error;
  }
  *out = port;
  return 0;
}

uint16_t errand_fault_port_number(const errand_fault_port *port) {
  return port->number;
}

void errand_fault_port_destroy(errand_fault_port *port) {
  if (port == NULL)
    return;
  for (size_t i = 0; i < port->count; i++)
    close(port->fillers[i]);
  if (port->fd >= 0)
    close(port->fd);
  free(port);
}
