#include <arpa/inet.h>
#include <errno.h>
#include <openssl/x509.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "support/hostile_internal.h"

#define WAIT_MS 20

void hostile_rest(hostile_connection *c, unsigned milliseconds) {
  struct timespec piece = {.tv_nsec = 1000000};
  while (milliseconds-- > 0 && !atomic_load(&c->server->stopped))
    nanosleep(&piece, NULL);
}

/* Waits for the socket. Returns: false when the server is to stop. */
static bool await(hostile_connection *c, short events) {
  struct pollfd one = {.fd = c->fd, .events = events};
  (void) poll(&one, 1, WAIT_MS);
  return !atomic_load(&c->server->stopped);
}

/* Returns: bytes moved, 0: try again, -1: the connection is over. */
static long outcome(hostile_connection *c, long n) {
  if (n > 0)
    return n;
  if (c->tls) {
    int error = SSL_get_error(c->tls, (int) n);
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? 0
                                                                         : -1;
  }
  return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

long hostile_read(hostile_connection *c, void *into, size_t size) {
  for (int i = 0; i < 2; i++) {
    long n = c->tls ? SSL_read(c->tls, into, (int) size)
                    : recv(c->fd, into, size, 0);
    n = outcome(c, n);
    if (n != 0 || i == 1)
      return n;
    if (!await(c, POLLIN))
      return -1;
  }
  return 0;
}

bool hostile_write(hostile_connection *c, const void *bytes, size_t length) {
  const uint8_t *at = bytes;
  int idle = 0;
  while (length > 0) {
    long n = c->tls ? SSL_write(c->tls, at, (int) length)
                    : send(c->fd, at, length, MSG_NOSIGNAL);
    n = outcome(c, n);
    /* A client that is paused may not read for long. It keeps no thread of a
       spiteful server for more than ten seconds; a healthy server must not end
       what the client takes slowly. */
    if (n < 0 || (n == 0 && !await(c, POLLOUT)))
      return false;
    idle = n > 0 ? 0 : idle + 1;
    if (idle > 500 && c->server->init.spite > 0)
      return false;
    at += n;
    length -= (size_t) n;
  }
  return true;
}

static bool accept_tls(hostile_connection *c) {
  c->tls = SSL_new(c->server->tls);
  SSL_set_fd(c->tls, c->fd);
  /* A spiteful server waits 10 s for a handshake. A healthy one does not give
     up a client that is slow. */
  for (int i = 0; i < 500 || c->server->init.spite == 0; i++) {
    int n = SSL_accept(c->tls);
    if (n == 1)
      return true;
    if (outcome(c, n) < 0 || !await(c, POLLIN))
      return false;
  }
  return false;
}

static void *serve(void *context) {
  hostile_connection *c = context;
  hostile_server *server = c->server;
  const unsigned char *name = NULL;
  unsigned length = 0;
  if (server->tls && accept_tls(c))
    SSL_get0_alpn_selected(c->tls, &name, &length);
  if (length == 2)
    hostile_http2(c);
  else if (!server->tls || server->init.spite == 0)
    hostile_http1(c);
  SSL_free(c->tls);
  if (random_below(&c->random, 4) == 0) {
    struct linger reset = {.l_onoff = 1};
    setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  }
  close(c->fd);
  free(c);
  atomic_fetch_sub(&server->connections, 1);
  return NULL;
}

static void *accept_all(void *context) {
  hostile_server *server = context;
  while (!atomic_load(&server->stopped)) {
    struct pollfd one = {.fd = server->listener, .events = POLLIN};
    if (poll(&one, 1, WAIT_MS) <= 0)
      continue;
    int fd =
        accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
      continue;
    hostile_connection *c = calloc(1, sizeof *c);
    *c = (hostile_connection){.server = server, .fd = fd};
    c->random.state = server->init.seed + 0x1000003 * ++server->accepted;
    atomic_fetch_add(&server->connections, 1);
    pthread_t thread;
    if (pthread_create(&thread, NULL, serve, c) != 0)
      abort();
    pthread_detach(thread);
  }
  return NULL;
}

static int choose_http2(SSL *tls, const unsigned char **out,
                        unsigned char *length, const unsigned char *in,
                        unsigned size, void *context) {
  (void) tls;
  static const unsigned char both[] = "\x02h2\x08http/1.1";
  const hostile_server *server = context;
  unsigned skip = server->init.http1 ? 3 : 0;
  if (server->init.imposes) {
    *out = both + 1;
    *length = 2;
    return SSL_TLSEXT_ERR_OK;
  }
  return SSL_select_next_proto((unsigned char **) out, length, both + skip,
                               sizeof both - 1 - skip, in,
                               size) == OPENSSL_NPN_NEGOTIATED
             ? SSL_TLSEXT_ERR_OK
             : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static SSL_CTX *make_tls(hostile_server *server) {
  SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
  EVP_PKEY *key = EVP_EC_gen("P-256");
  X509 *certificate = X509_new();
  X509_NAME *name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             (const unsigned char *) "hostile.test", -1, -1, 0);
  X509_set_issuer_name(certificate, name);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
  X509_set_pubkey(certificate, key);
  X509_sign(certificate, key, EVP_sha256());
  SSL_CTX_use_certificate(tls, certificate);
  SSL_CTX_use_PrivateKey(tls, key);
  SSL_CTX_set_alpn_select_cb(tls, choose_http2, server);
  SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE |
                            SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return tls;
}

hostile_server *hostile_server_start(const hostile_init *init) {
  hostile_server *server = calloc(1, sizeof *server);
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof address;
  signal(SIGPIPE, SIG_IGN); /* SSL_write */
  server->init = *init;
  server->tls = init->tls ? make_tls(server) : NULL;
  server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(server->listener, (void *) &address, size) != 0 ||
      listen(server->listener, 512) != 0 ||
      getsockname(server->listener, (void *) &address, &size) != 0 ||
      pthread_create(&server->thread, NULL, accept_all, server) != 0) {
    perror("hostile server");
    close(server->listener);
    SSL_CTX_free(server->tls);
    free(server);
    return NULL;
  }
  server->port = ntohs(address.sin_port);
  return server;
}

uint16_t hostile_server_port(const hostile_server *server) {
  return server->port;
}

void hostile_server_release(hostile_server *server) {
  atomic_store(&server->released, 1);
}

void hostile_server_stop(hostile_server *server) {
  atomic_store(&server->stopped, 1);
  pthread_join(server->thread, NULL);
  while (atomic_load(&server->connections) > 0)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  close(server->listener);
  SSL_CTX_free(server->tls);
  free(server);
}
