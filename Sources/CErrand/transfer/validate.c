#include "transfer/validate.h"

#include <string.h>
#include <strings.h>

#include "group/process.h"

/* Far above what any server takes; keeps sums from overflowing. */
#define LIMIT_MAX ((int64_t) 1 << 50)
#define METHOD_LENGTH_MAX 64
#define CREDENTIAL_MAX 65536

bool errand__is_token(const uint8_t *text, size_t length) {
  /* One bit a character: "!#$%&'*+-.^_`|~", digits, letters. */
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

/* Only CRLF ends a line: a bare CR or LF stays in it, and is refused there. */
bool errand__headers_next(errand_bytes block, size_t *position,
                          errand_bytes *line) {
  if (*position >= block.length)
    return false;
  const uint8_t *start = block.data + *position;
  size_t left = block.length - *position;
  const uint8_t *limit = start + left;
  /* memmem prepares itself for long needles: 300 instructions a line. */
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

/* Content-Length with a value that is no number is the caller's mistake. */
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

/* RFC 9110 5.5, and what is above ASCII. No way out of the loop before its
   end: so the compiler looks at many bytes at once. */
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
  out->bytes += line.length + 2; /* a ';' for an empty value, and the NUL */
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

static bool limits_ok(const errand_request *r) {
  const int64_t timeouts[] = {r->timeout_queue, r->timeout_connect,
                              r->timeout_first_byte, r->timeout_idle,
                              r->timeout_total};
  const int64_t limits[] = {r->limit_header_bytes, r->limit_header_count,
                            r->limit_body_bytes, r->limit_decoded_bytes};
  for (size_t i = 0; i < sizeof timeouts / sizeof timeouts[0]; i++)
    if (timeouts[i] < 0 || timeouts[i] > ERRAND_TIMEOUT_MAX)
      return false;
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
    if (limits[i] < 0 || limits[i] > LIMIT_MAX)
      return false;
  return r->response_credit <= (uint64_t) LIMIT_MAX &&
         r->upload_credit <= (uint64_t) LIMIT_MAX;
}

static errand_status check_body(const errand_request *r) {
  bool memory = r->body.length > 0 || r->body.data || r->body_release;
  bool path = r->body_path != NULL;
  switch (r->body_kind) {
  case ERRAND_BODY_NONE:
    return memory || path || r->body_length > 0 ? ERRAND_INVALID_BODY
                                                : ERRAND_OK;
  case ERRAND_BODY_MEMORY:
    if (path || (r->body.length > 0 && !r->body.data))
      return ERRAND_INVALID_BODY;
    return ERRAND_OK;
  case ERRAND_BODY_DESCRIPTOR:
    if (memory || path || r->body_fd < 0)
      return ERRAND_INVALID_BODY;
    break;
  case ERRAND_BODY_FILE:
    if (memory || !path)
      return ERRAND_INVALID_BODY;
    break;
  case ERRAND_BODY_STREAM:
    if (memory || path)
      return ERRAND_INVALID_BODY;
    break;
  default:
    return ERRAND_INVALID_BODY;
  }
  if (r->body_length < ERRAND_LENGTH_UNKNOWN || r->body_length > LIMIT_MAX ||
      r->body_offset > (uint64_t) LIMIT_MAX)
    return ERRAND_INVALID_BODY;
  return ERRAND_OK;
}

/* libcurl quotes '"' and '\\' in the user's name and writes the rest as it is
   (auth_digest_string_quoted); a ':' would move the border of the hash. */
static errand_status check_authentication(const errand_request *r,
                                          const errand__header_facts *headers) {
  switch (r->authentication) {
  case ERRAND_AUTHENTICATION_NONE:
    return r->username.length > 0 || r->password.length > 0
               ? ERRAND_INVALID_OPTION
               : ERRAND_OK;
  case ERRAND_AUTHENTICATION_DIGEST:
    break;
  default:
    return ERRAND_INVALID_OPTION;
  }
  const errand_bytes user = r->username;
  const errand_bytes password = r->password;
  if (user.length == 0 || !user.data || user.length > CREDENTIAL_MAX ||
      password.length > CREDENTIAL_MAX ||
      (password.length > 0 &&
       (!password.data || memchr(password.data, 0, password.length))))
    return ERRAND_INVALID_OPTION;
  for (size_t i = 0; i < user.length; i++)
    if (user.data[i] < 0x20 || user.data[i] == 0x7f || user.data[i] == ':')
      return ERRAND_INVALID_OPTION;
  return headers->authorization ? ERRAND_INVALID_HEADER : ERRAND_OK;
}

/* What ERRAND_REQUEST_WEBSOCKET asks for. */
static errand_status check_websocket(const errand_request *r,
                                     const errand__url *url) {
  if (!(r->flags & ERRAND_REQUEST_WEBSOCKET))
    return url->websocket ? ERRAND_UNSUPPORTED_SCHEME : ERRAND_OK;
  if (!url->websocket)
    return ERRAND_UNSUPPORTED_SCHEME;
  if (!errand__curl_has_websocket())
    return ERRAND_UNSUPPORTED_FEATURE;
  if (r->method.length > 0 &&
      (r->method.length != 3 || memcmp(r->method.data, "GET", 3) != 0))
    return ERRAND_INVALID_METHOD;
  if (r->body_kind != ERRAND_BODY_STREAM ||
      r->body_length != ERRAND_LENGTH_UNKNOWN)
    return ERRAND_INVALID_BODY;
  return r->flags & ERRAND_REQUEST_STREAM_RESPONSE ? ERRAND_OK
                                                   : ERRAND_INVALID_OPTION;
}

errand_status errand__request_check(const errand_request *r, char *host,
                                    errand__url *url,
                                    errand__header_facts *headers) {
  errand_status status = errand__url_parse(r->url, host, url);
  if (status != ERRAND_OK)
    return status;
  if (r->method.length > 0 &&
      (!r->method.data || r->method.length > METHOD_LENGTH_MAX ||
       !errand__is_token(r->method.data, r->method.length)))
    return ERRAND_INVALID_METHOD;
  /* CONNECT has no URL of this form (RFC 9110 9.3.6). */
  if (r->method.length == 7 && memcmp(r->method.data, "CONNECT", 7) == 0)
    return ERRAND_INVALID_METHOD;
  status = errand__headers_check(r->headers, headers);
  if (status != ERRAND_OK)
    return status;
  if (!limits_ok(r))
    return ERRAND_INVALID_LIMIT;
  status = check_body(r);
  if (status != ERRAND_OK)
    return status;
  if ((int) r->priority < ERRAND_PRIORITY_DEFAULT ||
      (int) r->priority > ERRAND_PRIORITY_HIGH || (r->flags & ~255u))
    return ERRAND_INVALID_OPTION;
  status = check_websocket(r, url);
  if (status != ERRAND_OK)
    return status;
  status = check_authentication(r, headers);
  if (status != ERRAND_OK)
    return status;
  /* TRACE must not have a body (RFC 9110 9.3.8); one of HEAD means nothing
     and libcurl cannot send it. */
  if (r->body_kind != ERRAND_BODY_NONE &&
      ((r->method.length == 5 && memcmp(r->method.data, "TRACE", 5) == 0) ||
       (r->method.length == 4 && memcmp(r->method.data, "HEAD", 4) == 0)))
    return ERRAND_INVALID_BODY;
  /* A length said twice must be said alike; the core writes the field. */
  if (headers->content_length) {
    int64_t known = r->body_kind == ERRAND_BODY_NONE ? 0
                    : r->body_kind == ERRAND_BODY_MEMORY
                        ? (int64_t) r->body.length
                        : r->body_length;
    if (known < 0 || (uint64_t) known != headers->content_length_value)
      return ERRAND_INVALID_HEADER;
  }
  return ERRAND_OK;
}

errand_status errand_request_validate(const errand_request *request) {
  char host[ERRAND__HOST_ROOM];
  errand__url url;
  errand__header_facts headers;
  return errand__request_check(request, host, &url, &headers);
}
