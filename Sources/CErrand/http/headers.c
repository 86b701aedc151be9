#include "http/headers.h"

#include <string.h>
#include <strings.h>

bool errand__is_token(const uint8_t *text, size_t length) {
  /* One bit for each character: "!#$%&'*+-.^_`|~", digits, letters. */
  static const uint64_t low = 0x03ff6cfa00000000u;
  static const uint64_t high = 0x57ffffffc7fffffeu;
  if (length == 0)
    return false;
  for (size_t i = 0; i < length; i++) {
    uint8_t c = text[i];
    uint64_t set = c < 64 ? low >> c : c < 128 ? high >> (c - 64) : 0;
    if (!(set & 1))
      return false;
  }
  return true;
}

/* Only CRLF ends a line. A bare CR or LF is part of the line, whose check
   refuses it. */
bool errand__headers_next(errand_bytes block, size_t *position,
                          errand_bytes *line) {
  if (*position >= block.length)
    return false;
  const uint8_t *start = block.data + *position;
  size_t left = block.length - *position;
  const uint8_t *limit = start + left;
  /* Not memmem, which prepares for long needles: 300 instructions a line. */
  const uint8_t *end = memchr(start, '\r', left);
  while (end && (end + 1 == limit || end[1] != '\n'))
    end = memchr(end + 1, '\r', (size_t) (limit - end) - 1);
  size_t length = end ? (size_t) (end - start) : left;
  *position += end ? length + 2 : left;
  *line = (errand_bytes){start, length};
  return true;
}

static bool name_is(errand_bytes line, size_t name_length, const char *name) {
  return strlen(name) == name_length &&
         strncasecmp((const char *) line.data, name, name_length) == 0;
}

/* A Content-Length that is no number is an error of the caller. */
static bool parse_length(const uint8_t *text, size_t length, uint64_t *out) {
  uint64_t value = 0;
  while (length > 0 && (*text == ' ' || *text == '\t')) {
    text++;
    length--;
  }
  if (length == 0 || length > 18)
    return false;
  for (size_t i = 0; i < length; i++) {
    if (text[i] < '0' || text[i] > '9')
      return false;
    value = value * 10 + (uint64_t) (text[i] - '0');
  }
  *out = value;
  return true;
}

/* RFC 9110 5.5, and bytes above ASCII. The loop has no exit before its end, so
   that the compiler can check many bytes at once. */
static bool is_field_value(const uint8_t *text, size_t length) {
  uint8_t bad = 0;
  for (size_t i = 0; i < length; i++) {
    uint8_t c = text[i];
    bad |= (uint8_t) (((c < 0x20) & (c != '\t')) | (c == 0x7f));
  }
  return bad == 0;
}

static errand_status check_line(errand_bytes line, errand__header_facts *out) {
  const uint8_t *colon = memchr(line.data, ':', line.length);
  if (!colon)
    return ERRAND_INVALID_HEADER;
  size_t name = (size_t) (colon - line.data);
  if (!errand__is_token(line.data, name))
    return ERRAND_INVALID_HEADER;
  if (!is_field_value(colon + 1, line.length - name - 1))
    return ERRAND_INVALID_HEADER;
  switch (name) {
  case 4:
    out->host |= name_is(line, name, "host");
    break;
  case 6:
    out->cookie |= name_is(line, name, "cookie");
    out->expect |= name_is(line, name, "expect");
    break;
  case 12:
    out->content_type |= name_is(line, name, "content-type");
    break;
  case 13:
    out->authorization |= name_is(line, name, "authorization");
    break;
  case 14:
    if (name_is(line, name, "content-length")) {
      if (out->content_length ||
          !parse_length(colon + 1, line.length - name - 1,
                        &out->content_length_value))
        return ERRAND_INVALID_HEADER;
      out->content_length = true;
    }
    break;
  case 15:
    out->accept_encoding |= name_is(line, name, "accept-encoding");
    break;
  case 17:
    if (name_is(line, name, "transfer-encoding"))
      return ERRAND_INVALID_HEADER;
    break;
  default:
    break;
  }
  out->count++;
  out->bytes += line.length + 2; /* a ";" for an empty value, and the NUL */
  return ERRAND_OK;
}

errand_status errand__headers_check(errand_bytes block,
                                    errand__header_facts *out) {
  *out = (errand__header_facts){0};
  if (block.length == 0)
    return ERRAND_OK;
  if (!block.data)
    return ERRAND_INVALID_ARGUMENT;
  size_t position = 0;
  errand_bytes line;
  while (errand__headers_next(block, &position, &line)) {
    errand_status status = check_line(line, out);
    if (status != ERRAND_OK)
      return status;
  }
  return ERRAND_OK;
}
