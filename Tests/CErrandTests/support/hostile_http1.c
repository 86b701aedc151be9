#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "support/hostile_internal.h"

#define HEAD_MAX 65536

typedef struct request {
  char method[16];
  char target[256];
  char *head;
  bool authorized;
} request;

/* Reads until `in` has `count` bytes. Returns: false when it is over. */
static bool fill(hostile_connection *c, hostile_bytes *in, size_t count) {
  char buffer[16384];
  while (in->length < count) {
    long n = hostile_read(c, buffer, sizeof buffer);
    if (n < 0)
      return false;
    hostile_add(in, buffer, (size_t) n);
  }
  return true;
}

static void drop(hostile_bytes *in, size_t count) {
  memmove(in->at, in->at + count, in->length - count);
  in->length -= count;
}

/* Returns: false when the connection is over. */
static bool read_head(hostile_connection *c, hostile_bytes *in, request *out) {
  char *end = NULL;
  while (in->length == 0 ||
         !(end = memmem(in->at, in->length, "\r\n\r\n", 4))) {
    if (in->length > HEAD_MAX || !fill(c, in, in->length + 1))
      return false;
  }
  size_t length = (size_t) (end - (char *) in->at) + 4;
  out->head = strndup((char *) in->at, length);
  drop(in, length);
  out->authorized = strcasestr(out->head, "\r\nauthorization: digest") != NULL;
  return sscanf(out->head, "%15s %255s", out->method, out->target) == 2;
}

static bool read_line(hostile_connection *c, hostile_bytes *in, char *into,
                      size_t size) {
  char *end = NULL;
  while (in->length == 0 || !(end = memchr(in->at, '\n', in->length)))
    if (in->length > size || !fill(c, in, in->length + 1))
      return false;
  size_t length = (size_t) (end - (char *) in->at) + 1;
  if (length >= size)
    return false;
  memcpy(into, in->at, length);
  into[length] = '\0';
  drop(in, length);
  return true;
}

static bool skip(hostile_connection *c, hostile_bytes *in, size_t count) {
  while (count > 0) {
    if (in->length == 0 && !fill(c, in, 1))
      return false;
    size_t n = in->length < count ? in->length : count;
    drop(in, n);
    count -= n;
  }
  return true;
}

static bool read_body(hostile_connection *c, hostile_bytes *in,
                      const request *of) {
  const char *length = strcasestr(of->head, "\r\ncontent-length:");
  if (length != NULL)
    return skip(c, in, strtoul(length + 17, NULL, 10));
  if (strcasestr(of->head, "\r\ntransfer-encoding:") == NULL)
    return true;
  for (;;) {
    char line[64];
    if (!read_line(c, in, line, sizeof line))
      return false;
    size_t size = strtoul(line, NULL, 16);
    if (!skip(c, in, size + 2))
      return false;
    if (size == 0)
      return true;
  }
}

static void put_body(hostile_connection *c, const hostile_bytes *body,
                     bool chunked, hostile_bytes *out) {
  if (!chunked) {
    hostile_format(out, "Content-Length: %zu\r\n\r\n", body->length);
    hostile_add(out, body->at, body->length);
    return;
  }
  hostile_format(out, "Transfer-Encoding: chunked\r\n\r\n");
  for (size_t at = 0; at < body->length;) {
    size_t n = 1 + random_below(&c->random, 8000);
    n = n < body->length - at ? n : body->length - at;
    hostile_format(out, "%zx\r\n", n);
    hostile_add(out, body->at + at, n);
    hostile_format(out, "\r\n");
    at += n;
  }
  hostile_format(out, random_below(&c->random, 2) ? "0\r\n\r\n"
                                                  : "0\r\nX-T: t\r\n\r\n");
}

static void respond(hostile_connection *c, const request *to,
                    hostile_bytes *out) {
  random_source *r = &c->random;
  uint64_t id = hostile_id_of(to->target);
  bool challenge =
      to->target[1] == 'd' && !to->authorized && random_below(r, 4) != 0;
  char token[HOSTILE_TOKEN + 1];
  hostile_token(id, token);
  if (random_below(r, 8) == 0)
    hostile_format(out, "HTTP/1.1 103 Early\r\nLink: x\r\n\r\n");
  hostile_format(out, "HTTP/1.1 %s\r\nX-Id: %s\r\n",
                 challenge ? "401 Who" : "200 OK", token);
  if (challenge)
    hostile_format(out,
                   "WWW-Authenticate: Digest realm=\"r\", nonce=\"%x\", "
                   "qop=\"auth\"\r\n",
                   (unsigned) random_next(r));
  hostile_bytes body = {0};
  hostile_body(id, &body);
  if (strcmp(to->method, "HEAD") == 0)
    hostile_format(out, "Content-Length: %zu\r\n\r\n", body.length);
  else
    put_body(c, &body, random_below(r, 2), out);
  free(body.at);
}

/* The body and a response that nobody asked for in one write, and so in one
   record of TLS; or in two, and in one segment. */
static bool answer_behind(hostile_connection *c, bool apart) {
  static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
  static const char rest[] = "first"
                             "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";
  size_t first = apart ? 5 : sizeof rest - 1;
  setsockopt(c->fd, IPPROTO_TCP, TCP_CORK, &(int){apart}, sizeof(int));
  bool kept = hostile_write(c, head, sizeof head - 1) &&
              hostile_write(c, rest, first) &&
              hostile_write(c, rest + first, sizeof rest - 1 - first);
  setsockopt(c->fd, IPPROTO_TCP, TCP_CORK, &(int){0}, sizeof(int));
  return kept;
}

/* Returns: whether the connection is kept. */
static bool answer(hostile_connection *c, hostile_bytes *in, request *to) {
  random_source *r = &c->random;
  bool spiteful = hostile_is_spiteful(c);
  bool early = spiteful && random_below(r, 6) == 0;
  if (!early && !read_body(c, in, to))
    return false;
  if (strncmp(to->target, "/behind", 7) == 0)
    return answer_behind(c, strcmp(to->target, "/behind/apart") == 0);
  bool held = strcmp(to->target, "/hold") == 0;
  while (held && !atomic_load(&c->server->released)) {
    if (atomic_load(&c->server->stopped))
      return false;
    hostile_rest(c, 5);
  }
  hostile_bytes out = {0};
  respond(c, to, &out);
  bool kept = true;
  if (spiteful) {
    switch (random_below(r, 8)) {
    case 0:
      hostile_rest(c, (unsigned) random_below(r, 600));
      break;
    case 1: /* says nothing more */
      out.length = random_below(r, out.length + 1);
      kept = false;
      break;
    case 2: /* a whole response behind it, at once, that nobody asked for */
      if (out.length < 6000) {
        uint8_t twice[6000];
        size_t length = out.length;
        memcpy(twice, out.at, length);
        hostile_add(&out, twice, length);
        kept = hostile_write(c, out.at, out.length);
        out.length = 0;
      }
      break;
    case 3:
      kept = false;
      break;
    default:
      hostile_mutate(c, &out);
    }
  }
  kept = hostile_deliver(c, &out) && kept;
  free(out.at);
  return kept && (!early || read_body(c, in, to));
}

void hostile_http1(hostile_connection *c) {
  hostile_bytes in = {0};
  bool kept = true;
  for (int count = 0; kept; count++) {
    request next = {0};
    kept = read_head(c, &in, &next) && (count == 0 || !c->server->init.once) &&
           answer(c, &in, &next);
    free(next.head);
  }
  free(in.at);
}
