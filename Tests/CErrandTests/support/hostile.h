/* A server of HTTP/1.1 and, over TLS, HTTP/2 whose responses are right, and are
   then changed at random: in their bytes, their frames and their timing. Every
   response says in its head and all through its body whose it is. */
#ifndef ERRAND_TESTS_HOSTILE_H
#define ERRAND_TESTS_HOSTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hostile_init {
  uint64_t seed;
  unsigned spite; /* of a hundred responses so many are changed */
  bool tls;       /* HTTP/2 by ALPN, with a certificate of its own making;
                     HTTP/1.1, too, where there is no spite */
  bool http1;     /* HTTP/1.1 alone, over TLS, too */
  bool imposes;   /* HTTP/2 over TLS, also where the client does not offer it */
  bool once;      /* HTTP/1.1: a connection answers one request, and ends at the
                     second */
} hostile_init;

/*
 * Targets: "/r/ID" and, asking for Digest, "/d/ID", with an ID in hexadecimal;
 * "/behind", over HTTP/1.1: "first", and the response "evil" behind it, in one
 * record of TLS; "/behind/apart": the same in two;
 * "/hold": answered by hostile_server_release; "/shut": the same as "/r/0", and
 * over HTTP/2 no further stream is allowed until hostile_server_release;
 * "/w/ID", over HTTP/2: the same as "/r/ID", and with it, behind it, what the
 * connection has of "/hold".
 */
typedef struct hostile_server hostile_server;

/* Returns: a server on 127.0.0.1, or NULL, having said why on stderr. */
hostile_server *hostile_server_start(const hostile_init *init);
uint16_t hostile_server_port(const hostile_server *server);
void hostile_server_release(hostile_server *server);
/* Ends every connection, joins every thread, frees. */
void hostile_server_stop(hostile_server *server);

/* What a response says of itself: "[ID.CHECK]". */
enum { HOSTILE_TOKEN = 27 };
void hostile_token(uint64_t id, char token[HOSTILE_TOKEN + 1]);
/* Returns: whether a whole token is in the bytes; the first one's ID in *id. */
bool hostile_find_token(const void *bytes, size_t length, uint64_t *id);

/* Of the response to an ID. */
size_t hostile_body_length(uint64_t id);

#endif
