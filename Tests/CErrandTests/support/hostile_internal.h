/* What the files of the hostile server share. */
#ifndef ERRAND_TESTS_HOSTILE_INTERNAL_H
#define ERRAND_TESTS_HOSTILE_INTERNAL_H

#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>

#include "support/hostile.h"
#include "support/random.h"

struct hostile_server {
  hostile_init init;
  int listener;
  uint16_t port;
  SSL_CTX *tls;
  pthread_t thread;
  _Atomic int stopped;
  _Atomic int released;
  _Atomic int connections; /* threads that are not done */
  uint64_t accepted;
};

typedef struct hostile_connection {
  hostile_server *server;
  int fd;
  SSL *tls;
  random_source random;
} hostile_connection;

/* A growing run of bytes. */
typedef struct hostile_bytes {
  uint8_t *at;
  size_t length;
  size_t capacity;
} hostile_bytes;

void hostile_add(hostile_bytes *to, const void *bytes, size_t length);
void hostile_format(hostile_bytes *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns: bytes read, 0: none came for 20 ms, -1: the connection is over. */
long hostile_read(hostile_connection *c, void *into, size_t size);
/* All of them. Returns: false when the connection is over. */
bool hostile_write(hostile_connection *c, const void *bytes, size_t length);
/* The same at a random pace. */
bool hostile_deliver(hostile_connection *c, const hostile_bytes *bytes);
void hostile_rest(hostile_connection *c, unsigned milliseconds);
bool hostile_is_spiteful(hostile_connection *c);
/* Changes one to three places. */
void hostile_mutate(hostile_connection *c, hostile_bytes *bytes);

/* The body of a response. */
void hostile_body(uint64_t id, hostile_bytes *to);

/* "/r/1f", "/d/1f" and "/w/1f": 0x1f. Others: 0. */
uint64_t hostile_id_of(const char *target);

/* Serve until the connection is over. */
void hostile_http1(hostile_connection *c);
void hostile_http2(hostile_connection *c);

#endif
