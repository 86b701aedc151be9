#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/hostile_internal.h"

void hostile_add(hostile_bytes *to, const void *bytes, size_t length) {
  while (to->capacity - to->length < length) {
    to->capacity = to->capacity ? to->capacity * 2 : 1024;
    to->at = realloc(to->at, to->capacity);
  }
  if (length > 0)
    memcpy(to->at + to->length, bytes, length);
  to->length += length;
}

void hostile_format(hostile_bytes *to, const char *format, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  int n = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  hostile_add(to, line, (size_t) n);
}

static uint32_t check_of(uint64_t id) {
  random_source mix = {id ^ 0x686f7374696c65u};
  return (uint32_t) random_next(&mix);
}

void hostile_token(uint64_t id, char token[HOSTILE_TOKEN + 1]) {
  snprintf(token, HOSTILE_TOKEN + 1, "[%016" PRIx64 ".%08" PRIx32 "]", id,
           check_of(id));
}

bool hostile_find_token(const void *bytes, size_t length, uint64_t *id) {
  const char *at = bytes;
  const char *end = at + length;
  while (end - at >= HOSTILE_TOKEN) {
    char copy[HOSTILE_TOKEN + 1], whole[HOSTILE_TOKEN + 1];
    at = memchr(at, '[', (size_t) (end - at));
    if (at == NULL || end - at < HOSTILE_TOKEN)
      return false;
    memcpy(copy, at, HOSTILE_TOKEN);
    copy[HOSTILE_TOKEN] = '\0';
    *id = strtoull(copy + 1, NULL, 16);
    hostile_token(*id, whole);
    if (strcmp(whole, copy) == 0)
      return true;
    at++;
  }
  return false;
}

uint64_t hostile_id_of(const char *target) {
  bool has_id = strncmp(target, "/r/", 3) == 0 ||
                strncmp(target, "/d/", 3) == 0 ||
                strncmp(target, "/w/", 3) == 0;
  return has_id ? strtoull(target + 3, NULL, 16) : 0;
}

size_t hostile_body_length(uint64_t id) {
  static const size_t tokens[] = {0, 1, 1, 2, 30, 200, 700, 3000, 20000};
  return HOSTILE_TOKEN * tokens[check_of(id) % 9];
}

void hostile_body(uint64_t id, hostile_bytes *to) {
  char token[HOSTILE_TOKEN + 1];
  hostile_token(id, token);
  while (to->length < hostile_body_length(id))
    hostile_add(to, token, HOSTILE_TOKEN);
}

bool hostile_is_spiteful(hostile_connection *c) {
  return random_below(&c->random, 100) < c->server->init.spite;
}

static void splice(hostile_bytes *bytes, size_t at, size_t remove,
                   const void *with, size_t length) {
  hostile_bytes out = {0};
  hostile_add(&out, bytes->at, at);
  hostile_add(&out, with, length);
  hostile_add(&out, bytes->at + at + remove, bytes->length - at - remove);
  free(bytes->at);
  *bytes = out;
}

static void mutate_once(hostile_connection *c, hostile_bytes *bytes) {
  static const char *const pieces[] = {
      "\r\n",
      "\n",
      "\r\n ",
      "\r\n\t",
      "\r\n\r\n",
      ":",
      "\0\0",
      "\xff\xfe",
      "HTTP/1.1 200 OK\r\n",
      "HTTP/1.1 100 Continue\r\n\r\n",
      "\r\nContent-Length: 3\r\n",
      "\r\nTransfer-Encoding: chunked\r\n",
      "\r\nTransfer-Encoding: identity\r\n",
      "\r\nContent-Encoding: gzip\r\n",
      "\r\nConnection: close\r\n",
      "\r\nContent-Length: -1\r\n",
      "0\r\n\r\n",
      "ffffffffffffffff\r\n",
      "\r\nContent-Length: 99999999999999999999\r\n",
      "\r\nWWW-Authenticate: Digest realm=\"\", nonce=\"\"\r\n"};
  random_source *r = &c->random;
  if (bytes->length == 0)
    return;
  /* Most of what matters is at the start. */
  size_t reach = random_below(r, 3) ? 300 : bytes->length;
  size_t at = random_below(r, reach < bytes->length ? reach : bytes->length);
  size_t rest = bytes->length - at;
  size_t few = 1 + random_below(r, 40);
  few = few < rest ? few : rest;
  switch (random_below(r, 7)) {
  case 0:
    bytes->at[at] ^= (uint8_t) (1u << random_below(r, 8));
    break;
  case 1:
    bytes->at[at] = (uint8_t) random_next(r);
    break;
  case 2:
    splice(bytes, at, few, NULL, 0);
    break;
  case 3: {
    hostile_bytes copy = {0};
    hostile_add(&copy, bytes->at + at, few);
    splice(bytes, at, 0, copy.at, few);
    free(copy.at);
    break;
  }
  case 4:
    bytes->length = at;
    break;
  default: {
    const char *piece = pieces[random_below(r, 20)];
    splice(bytes, at, 0, piece, piece[0] ? strlen(piece) : 2);
  }
  }
}

void hostile_mutate(hostile_connection *c, hostile_bytes *bytes) {
  for (uint64_t i = 1 + random_below(&c->random, 3); i > 0; i--)
    mutate_once(c, bytes);
}

bool hostile_deliver(hostile_connection *c, const hostile_bytes *bytes) {
  random_source *r = &c->random;
  size_t at = 0;
  if (bytes->length == 0)
    return true;
  uint64_t pace = random_below(r, c->server->init.spite ? 8 : 2);
  while (pace >= 4 && at < bytes->length && at < 400) {
    size_t n = 1 + random_below(r, pace == 4 ? 2 : 120);
    n = n < bytes->length - at ? n : bytes->length - at;
    if (!hostile_write(c, bytes->at + at, n))
      return false;
    at += n;
    hostile_rest(c, pace == 7 && random_below(r, 8) == 0
                        ? (unsigned) random_below(r, 300)
                        : (unsigned) random_below(r, 2));
  }
  return hostile_write(c, bytes->at + at, bytes->length - at);
}
