/* A real nginx for a test program: Tests/Support/nginx-site, run as a child
   that ends when the program does, however it does. */
#ifndef ERRAND_TESTS_NGINX_FIXTURE_H
#define ERRAND_TESTS_NGINX_FIXTURE_H

#include <stdint.h>
#include <sys/types.h>

typedef enum nginx_port {
  NGINX_HTTP,
  NGINX_H2C,
  NGINX_TLS,   /* localhost, errand.test, 127.0.0.1; HTTP/2 by ALPN */
  NGINX_TLS12, /* the same certificate, TLS 1.2 alone */
  NGINX_EXPIRED,
  NGINX_SELFSIGNED,
  NGINX_WRONGHOST,
  NGINX_CLIENTCERT, /* asks for a certificate of the CA */
  NGINX_PORTS
} nginx_port;

typedef struct nginx_fixture {
  pid_t pid;
  int input; /* closing it stops the child */
  uint16_t ports[NGINX_PORTS];
  char directory[128]; /* certs/, www/, nginx.sock */
} nginx_fixture;

/* Starts it and waits until it listens. Returns: 0, or -1, having said why on
   stderr. */
int nginx_fixture_start(nginx_fixture *fixture);
/* Stops it and waits until it is gone. */
void nginx_fixture_stop(nginx_fixture *fixture);

/* The nginx of the test program, started and stopped by these two: the set-up
   and the tear-down of its group of tests. */
extern nginx_fixture nginx;
int nginx_set_up(void **state);
int nginx_tear_down(void **state);

/* "http://127.0.0.1:PORT/path" (https where the port speaks TLS), and the path
   of a file in its directory. Both are good until the 32nd next call. */
const char *nginx_url(const nginx_fixture *fixture, nginx_port port,
                      const char *path);
const char *nginx_file(const nginx_fixture *fixture, const char *name);

#endif
