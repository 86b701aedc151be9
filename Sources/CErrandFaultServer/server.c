/* The server: listen, accept, join, stop. */
#include "fault.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Small, because there are many connections and their threads do little. */
#define CONNECTION_STACK ((size_t) 256 * 1024)

/* Joins the threads that have ended (all: also waits for the others). The
   threads are joined, not detached, so that none runs after destroy. */
static void reap(errand_fault_server *server, bool all) {
  fault_connection *ended = NULL;
  pthread_mutex_lock(&server->lock);
  for (fault_connection **at = &server->connections; *at != NULL;) {
    fault_connection *each = *at;
    if (!all && !each->ended) {
      at = &each->next;
      continue;
    }
    *at = each->next;
    each->next = ended;
    ended = each;
  }
  pthread_mutex_unlock(&server->lock);
  while (ended != NULL) {
    fault_connection *each = ended;
    ended = each->next;
    pthread_join(each->thread, NULL);
    free(each);
  }
}

static void start_connection(errand_fault_server *server, int fd) {
  fault_connection *connection = calloc(1, sizeof *connection);
  pthread_attr_t attributes;
  if (connection == NULL || pthread_attr_init(&attributes) != 0) {
    free(connection);
    close(fd);
    return;
  }
  pthread_attr_setstacksize(&attributes, CONNECTION_STACK);
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  connection->server = server;
  connection->fd = fd;

  pthread_mutex_lock(&server->lock);
  connection->number = ++server->counts.connections;
  bool started = pthread_create(&connection->thread, &attributes,
                                errand_fault__connection_main, connection) == 0;
  if (started) {
    connection->next = server->connections;
    server->connections = connection;
  } else {
    server->counts.closed += 1;
  }
  pthread_cond_broadcast(&server->changed);
  pthread_mutex_unlock(&server->lock);

  pthread_attr_destroy(&attributes);
  if (!started) {
    close(fd);
    free(connection);
  }
}

static void *accept_main(void *context) {
  errand_fault_server *server = context;
  struct pollfd fds[2] = {
      {.fd = server->stop_event, .events = POLLIN},
      {.fd = server->listener, .events = POLLIN},
  };
  for (;;) {
    if (poll(fds, 2, -1) < 0) {
      if (errno == EINTR)
        continue;
      break;
    }
    if (fds[0].revents != 0)
      break;
    int fd =
        accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0)
      start_connection(server, fd);
    else if (errno == EMFILE || errno == ENFILE)
      poll(fds, 1, 10); /* descriptors may come back; do not spin */
    reap(server, false);
  }
  reap(server, true);
  return NULL;
}

static int bind_tcp(errand_fault_server *server) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  if (bind(server->listener, (struct sockaddr *) &address, length) != 0 ||
      getsockname(server->listener, (struct sockaddr *) &address, &length) != 0)
    return errno;
  server->port = ntohs(address.sin_port);
  return 0;
}

static int bind_unix(errand_fault_server *server, const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path)
    return ENAMETOOLONG;
  memcpy(address.sun_path, path, strlen(path) + 1);
  if (bind(server->listener, (struct sockaddr *) &address, sizeof address) != 0)
    return errno;
  server->unix_path = strdup(path);
  return server->unix_path == NULL ? ENOMEM : 0;
}

static int listen_on(errand_fault_server *server, const char *unix_path) {
  server->stop_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  server->release_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  server->listener = socket(unix_path == NULL ? AF_INET : AF_UNIX,
                            SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (server->stop_event < 0 || server->release_event < 0 ||
      server->listener < 0)
    return errno;
  int error =
      unix_path == NULL ? bind_tcp(server) : bind_unix(server, unix_path);
  if (error == 0 && listen(server->listener, 4096) != 0)
    error = errno;
  return error;
}

/* Starts the acceptor with all signals blocked. Its threads inherit the mask,
   so that they never handle a signal of the program under test. */
static int start_acceptor(errand_fault_server *server) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(&server->acceptor, NULL, accept_main, server);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}

static void free_server(errand_fault_server *server) {
  if (server->listener >= 0)
    close(server->listener);
  if (server->stop_event >= 0)
    close(server->stop_event);
  if (server->release_event >= 0)
    close(server->release_event);
  if (server->unix_path != NULL)
    unlink(server->unix_path);
  free(server->unix_path);
  errand_fault__free_scripts(server);
  errand_fault__free_records(server);
  pthread_cond_destroy(&server->changed);
  pthread_mutex_destroy(&server->lock);
  free(server);
}

int errand_fault_server_create(const char *unix_path,
                               errand_fault_server **out) {
  *out = NULL;
  errand_fault_server *server = calloc(1, sizeof *server);
  if (server == NULL)
    return ENOMEM;
  server->listener = server->stop_event = server->release_event = -1;
  pthread_mutex_init(&server->lock, NULL);
  pthread_condattr_t clock;
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_cond_init(&server->changed, &clock);
  pthread_condattr_destroy(&clock);
  int error = listen_on(server, unix_path);
  if (error == 0)
    error = start_acceptor(server);
  if (error != 0) {
    free_server(server);
    return error;
  }
  *out = server;
  return 0;
}

void errand_fault_server_destroy(errand_fault_server *server) {
  if (server == NULL)
    return;
  eventfd_write(server->stop_event, 1);
  pthread_join(server->acceptor, NULL);
  free_server(server);
}

uint16_t errand_fault_server_port(const errand_fault_server *server) {
  return server->port;
}

void errand_fault_server_release(errand_fault_server *server) {
  eventfd_write(server->release_event, 1);
}

void errand_fault_server_hold(errand_fault_server *server) {
  eventfd_t value;
  eventfd_read(server->release_event, &value);
}
