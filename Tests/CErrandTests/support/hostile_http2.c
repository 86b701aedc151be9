/* RFC 9113 by hand; the client's fields are read by the HPACK decoder of
   libnghttp2, which libcurl has loaded. */
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "support/hostile_internal.h"

enum {
  DATA = 0,
  HEADERS = 1,
  RST_STREAM = 3,
  SETTINGS = 4,
  PING = 6,
  GOAWAY = 7,
  WINDOW_UPDATE = 8,
  CONTINUATION = 9
};
enum { END_STREAM = 1, ACK = 1, END_HEADERS = 4, PADDED = 8, PRIORITY = 32 };
enum { MAX_CONCURRENT_STREAMS = 3, INITIAL_WINDOW_SIZE = 4 };

#define FRAME_MAX 16384
#define OPEN_MAX 256
#define WINDOW 30000
#define PREFACE 24

/* nghttp2/nghttp2.h. */
typedef struct field {
  uint8_t *name, *value;
  size_t name_length, value_length;
  uint8_t flags;
} field;
enum { INFLATE_FINAL = 1, INFLATE_EMIT = 2 };

typedef struct inflate {
  int (*make)(void **inflater);
  void (*drop)(void *inflater);
  ssize_t (*step)(void *inflater, field *out, int *flags, const uint8_t *in,
                  size_t length, int final);
  int (*end)(void *inflater);
  void *state;
} inflate;

typedef struct stream {
  uint32_t number;
  char method[16];
  char target[256];
  bool authorized;
  bool whole; /* the request's end has come */
} stream;

typedef struct session {
  hostile_connection *connection;
  inflate inflate;
  hostile_bytes in;
  hostile_bytes block; /* of fields, from HEADERS to END_HEADERS */
  uint32_t block_stream;
  bool block_ends;
  bool released;
  bool goes_on; /* "/w/ID" was answered: what is held is, too */
  stream streams[OPEN_MAX];
  size_t count;
} session;

static void number(hostile_bytes *to, uint32_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; i--) {
    uint8_t byte = (uint8_t) (value >> (8 * i));
    hostile_add(to, &byte, 1);
  }
}

static void frame(hostile_bytes *to, int type, int flags, uint32_t of,
                  const void *payload, size_t length) {
  number(to, (uint32_t) length, 3);
  number(to, (uint32_t) type, 1);
  number(to, (uint32_t) flags, 1);
  number(to, of, 4);
  hostile_add(to, payload, length);
}

static void setting(hostile_bytes *to, unsigned key, uint32_t value) {
  hostile_bytes payload = {0};
  number(&payload, key, 2);
  number(&payload, value, 4);
  frame(to, SETTINGS, 0, 0, payload.at, payload.length);
  free(payload.at);
}

static void word(hostile_bytes *to, int type, uint32_t of, uint32_t value) {
  hostile_bytes payload = {0};
  if (type == GOAWAY)
    number(&payload, value, 4);
  number(&payload, type == GOAWAY ? 0 : value, 4);
  frame(to, type, 0, type == GOAWAY ? 0 : of, payload.at, payload.length);
  free(payload.at);
}

/* Literal without indexing, no Huffman code (RFC 7541 6.2.2). */
static void put_field(hostile_bytes *to, const char *name, const char *value) {
  number(to, 0, 1);
  number(to, (uint32_t) strlen(name), 1);
  hostile_add(to, name, strlen(name));
  number(to, (uint32_t) strlen(value), 1);
  hostile_add(to, value, strlen(value));
}

static bool look_up(void *library, const char *name, void *into) {
  void *found = dlsym(library, name);
  memcpy(into, &found, sizeof found);
  return found != NULL;
}

static bool start_inflate(inflate *i) {
  void *library = dlopen("libnghttp2.so.14", RTLD_LAZY);
  if (library == NULL)
    return false;
  return look_up(library, "nghttp2_hd_inflate_new", &i->make) &&
         look_up(library, "nghttp2_hd_inflate_del", &i->drop) &&
         look_up(library, "nghttp2_hd_inflate_hd", &i->step) &&
         look_up(library, "nghttp2_hd_inflate_end_headers", &i->end) &&
         i->make(&i->state) == 0;
}

static void copy_text(char *to, size_t size, const field *from) {
  size_t n = from->value_length < size - 1 ? from->value_length : size - 1;
  memcpy(to, from->value, n);
  to[n] = '\0';
}

static bool is(const field *f, const char *name) {
  return f->name_length == strlen(name) &&
         memcmp(f->name, name, f->name_length) == 0;
}

/* Returns: false where the block is none, or too many streams are open. */
static bool open_stream(session *s) {
  if (s->count == OPEN_MAX)
    return false;
  stream *made = &s->streams[s->count++];
  *made = (stream){.number = s->block_stream, .whole = s->block_ends};
  const uint8_t *at = s->block.at;
  size_t left = s->block.length;
  int flags = 0;
  while (!(flags & INFLATE_FINAL)) {
    field f = {0};
    ssize_t n = s->inflate.step(s->inflate.state, &f, &flags, at, left, 1);
    if (n < 0)
      return false;
    at += n;
    left -= (size_t) n;
    if (!(flags & INFLATE_EMIT))
      continue;
    if (is(&f, ":method"))
      copy_text(made->method, sizeof made->method, &f);
    else if (is(&f, ":path"))
      copy_text(made->target, sizeof made->target, &f);
    else
      made->authorized |= is(&f, "authorization");
  }
  s->inflate.end(s->inflate.state);
  s->block.length = 0;
  return true;
}

static stream *find(session *s, uint32_t of) {
  for (size_t i = 0; i < s->count; i++)
    if (s->streams[i].number == of)
      return &s->streams[i];
  return NULL;
}

static void forget(session *s, stream *which) {
  *which = s->streams[--s->count];
}

static void put_body(session *s, const hostile_bytes *body, uint32_t of,
                     hostile_bytes *out) {
  random_source *r = &s->connection->random;
  size_t at = 0;
  do {
    size_t n = 1 + random_below(r, FRAME_MAX);
    n = n < body->length - at ? n : body->length - at;
    bool last = at + n == body->length;
    frame(out, DATA, last ? END_STREAM : 0, of, body->at + at, n);
    at += n;
  } while (at < body->length);
}

static void put_response(session *s, const stream *to, hostile_bytes *out) {
  random_source *r = &s->connection->random;
  uint64_t id = hostile_id_of(to->target);
  bool challenge =
      to->target[1] == 'd' && !to->authorized && random_below(r, 4) != 0;
  char token[HOSTILE_TOKEN + 1];
  hostile_bytes block = {0}, body = {0};
  hostile_token(id, token);
  put_field(&block, ":status", challenge ? "401" : "200");
  put_field(&block, "x-id", token);
  if (challenge)
    put_field(&block, "www-authenticate",
              "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"");
  if (strcmp(to->method, "HEAD") != 0)
    hostile_body(id, &body);
  if (body.length > WINDOW) /* the client's windows are not looked at */
    body.length = WINDOW;
  frame(out, HEADERS, END_HEADERS | (body.length ? 0 : END_STREAM), to->number,
        block.at, block.length);
  if (body.length > 0)
    put_body(s, &body, to->number, out);
  free(block.at);
  free(body.at);
}

static void put_spite(session *s, uint32_t of, hostile_bytes *out) {
  random_source *r = &s->connection->random;
  switch (random_below(r, 8)) {
  case 0:
    out->length = 0;
    word(out, RST_STREAM, of, (uint32_t) random_below(r, 14));
    break;
  case 1:
    word(out, GOAWAY, 0, (uint32_t) random_below(r, of + 2));
    break;
  case 2:
    setting(out, MAX_CONCURRENT_STREAMS, (uint32_t) random_below(r, 4));
    break;
  case 3:
    setting(out, INITIAL_WINDOW_SIZE, (uint32_t) random_below(r, 3));
    break;
  case 4:
    frame(out, PING, 0, 0, "12345678", 8);
    break;
  case 5:
    frame(out, DATA, 0, of, "more", 4);
    break;
  default:
    hostile_mutate(s->connection, out);
  }
}

/* Returns: false when the connection is over. */
static bool answer(session *s, stream *to) {
  hostile_connection *c = s->connection;
  hostile_bytes out = {0};
  bool kept = true;
  if (strcmp(to->target, "/shut") == 0)
    setting(&out, MAX_CONCURRENT_STREAMS, 0);
  s->goes_on = s->goes_on || to->target[1] == 'w';
  put_response(s, to, &out);
  uint32_t of = to->number;
  bool whole = to->whole;
  forget(s, to);
  if (hostile_is_spiteful(c)) {
    hostile_rest(c, (unsigned) random_below(&c->random, 20));
    put_spite(s, of, &out);
    kept = random_below(&c->random, 10) != 0;
  } else if (!whole) {
    word(&out, RST_STREAM, of, 0); /* RFC 9113 8.1: enough of the request */
  }
  kept = hostile_deliver(c, &out) && kept;
  free(out.at);
  return kept;
}

/* One whole frame. Returns: false when the connection is over. */
static bool take(session *s, int type, int flags, uint32_t of,
                 const uint8_t *payload, size_t length) {
  hostile_connection *c = s->connection;
  hostile_bytes out = {0};
  stream *known = find(s, of);
  size_t skipped = 0;
  switch (type) {
  case HEADERS:
    s->block_stream = of;
    s->block_ends = (flags & END_STREAM) != 0;
    skipped = (flags & PADDED ? 1 : 0) + (flags & PRIORITY ? 5 : 0);
    if (length < skipped)
      return false;
    hostile_add(&s->block, payload + skipped, length - skipped);
    return !(flags & END_HEADERS) || open_stream(s);
  case CONTINUATION:
    hostile_add(&s->block, payload, length);
    return !(flags & END_HEADERS) || open_stream(s);
  case DATA:
    if (known && (flags & END_STREAM))
      known->whole = true;
    /* A window that is closed for good is spite, too. */
    if (length > 0 &&
        (c->server->init.spite == 0 || random_below(&c->random, 40) != 0)) {
      word(&out, WINDOW_UPDATE, 0, (uint32_t) length);
      if (known && !known->whole)
        word(&out, WINDOW_UPDATE, of, (uint32_t) length);
    }
    break;
  case RST_STREAM:
    if (known)
      forget(s, known);
    break;
  case SETTINGS:
    if (!(flags & ACK))
      frame(&out, SETTINGS, ACK, 0, NULL, 0);
    break;
  case PING:
    if (!(flags & ACK))
      frame(&out, PING, ACK, 0, payload, length);
    break;
  case GOAWAY:
    return false;
  default:
    break;
  }
  bool kept = hostile_write(c, out.at, out.length);
  free(out.at);
  return kept;
}

/* The frames that have come. Returns: false when the connection is over. */
static bool take_all(session *s) {
  size_t at = 0;
  bool kept = true;
  while (kept && s->in.length - at >= 9) {
    const uint8_t *f = s->in.at + at;
    size_t length = (size_t) f[0] << 16 | (size_t) f[1] << 8 | f[2];
    if (s->in.length - at < 9 + length)
      break;
    uint32_t of = (uint32_t) (f[5] & 0x7f) << 24 | (uint32_t) f[6] << 16 |
                  (uint32_t) f[7] << 8 | f[8];
    kept = take(s, f[3], f[4], of, f + 9, length);
    at += 9 + length;
  }
  if (at > 0)
    memmove(s->in.at, s->in.at + at, s->in.length - at);
  s->in.length -= at;
  return kept;
}

static bool answer_some(session *s) {
  hostile_connection *c = s->connection;
  bool released = atomic_load(&c->server->released) != 0;
  if (released && !s->released) {
    hostile_bytes out = {0};
    s->released = true;
    setting(&out, MAX_CONCURRENT_STREAMS, 100);
    bool kept = hostile_write(c, out.at, out.length);
    free(out.at);
    if (!kept)
      return false;
  }
  for (size_t i = 0; i < s->count; i++) {
    stream *one = &s->streams[i];
    if (strcmp(one->target, "/hold") == 0 && !released && !s->goes_on)
      continue;
    bool early = c->server->init.spite > 0 && random_below(&c->random, 30) == 0;
    if (one->whole || early)
      return answer(s, one);
  }
  return true;
}

/* Those of one look at a time; where there is no spite, which sends in pieces,
   in as few segments as they fit in. */
static bool answer_all(session *s) {
  int fd = s->connection->fd;
  int corked = s->connection->server->init.spite == 0;
  bool kept = true;
  setsockopt(fd, IPPROTO_TCP, TCP_CORK, &corked, sizeof corked);
  for (size_t had = SIZE_MAX; kept && s->count < had;) {
    had = s->count;
    kept = answer_some(s);
  }
  setsockopt(fd, IPPROTO_TCP, TCP_CORK, &(int){0}, sizeof(int));
  s->goes_on = false;
  return kept;
}

static bool greet(session *s) {
  hostile_connection *c = s->connection;
  char preface[PREFACE];
  size_t have = 0;
  while (have < PREFACE) {
    long n = hostile_read(c, preface + have, PREFACE - have);
    if (n < 0)
      return false;
    have += (size_t) n;
  }
  hostile_bytes out = {0};
  uint32_t most =
      c->server->init.spite ? 1 + (uint32_t) random_below(&c->random, 20) : 100;
  setting(&out, MAX_CONCURRENT_STREAMS, most);
  if (hostile_is_spiteful(c))
    setting(&out, INITIAL_WINDOW_SIZE,
            (uint32_t) random_below(&c->random, 9000));
  bool kept = hostile_write(c, out.at, out.length);
  free(out.at);
  return kept;
}

void hostile_http2(hostile_connection *c) {
  session *s = calloc(1, sizeof *s);
  s->connection = c;
  bool kept = start_inflate(&s->inflate) && greet(s);
  while (kept) {
    uint8_t buffer[FRAME_MAX];
    long n = hostile_read(c, buffer, sizeof buffer);
    kept = n >= 0;
    if (n > 0)
      hostile_add(&s->in, buffer, (size_t) n);
    kept = kept && take_all(s) && answer_all(s);
  }
  if (s->inflate.state)
    s->inflate.drop(s->inflate.state);
  free(s->in.at);
  free(s->block.at);
  free(s);
}
