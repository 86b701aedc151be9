#include "transfer/url.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

/* libcurl refuses URLs above 8,000,000 bytes (CURL_MAX_INPUT_LENGTH). */
#define URL_LENGTH_MAX 8000000u

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_alpha(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The length of "scheme://", or 0. */
static size_t scheme_length(const char *text, size_t length) {
  size_t i = 0;
  while (i < length && (is_alpha(text[i]) || is_digit(text[i]) ||
                        text[i] == '+' || text[i] == '-' || text[i] == '.'))
    i++;
  if (i == 0 || !is_alpha(text[0]) || length - i < 3)
    return 0;
  return memcmp(text + i, "://", 3) == 0 ? i + 3 : 0;
}

/* Bytes a host name may hold: letters, digits, the unreserved marks, percent
   escapes, and UTF-8, which libcurl turns into an A-label (IDN). A plain one is
   a lower-case name or an IPv4 address. */
enum { IN_HOST = 1, IN_PLAIN_HOST = 2, IN_BOTH = 3 };
static const unsigned char kinds[256] = {
    ['a' ... 'z'] = IN_BOTH, ['0' ... '9'] = IN_BOTH,   ['-'] = IN_BOTH,
    ['.'] = IN_BOTH,         ['_'] = IN_BOTH,           ['~'] = IN_HOST,
    ['A' ... 'Z'] = IN_HOST, [0x80 ... 0xff] = IN_HOST,
};

/* What all bytes have in common. */
static int kind_of(const char *text, size_t length) {
  int kind = IN_BOTH;
  for (size_t i = 0; i < length; i++)
    kind &= kinds[(unsigned char) text[i]];
  return kind;
}

static int hex_value(char c) {
  if (is_digit(c))
    return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* libcurl undoes percent escapes in a host: what they stand for has to be a
   host's byte too. */
static bool is_escaped_host(const char *text, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if (text[i] != '%') {
      if (!kinds[(unsigned char) text[i]])
        return false;
      continue;
    }
    if (length - i < 3 || hex_value(text[i + 1]) < 0 ||
        hex_value(text[i + 2]) < 0)
      return false;
    if (!kinds[hex_value(text[i + 1]) * 16 + hex_value(text[i + 2])])
      return false;
    i += 2;
  }
  return true;
}

/* An address, perhaps with a zone id after "%25" (RFC 6874) or "%". */
static bool is_ipv6(const char *text, size_t length) {
  char copy[INET6_ADDRSTRLEN];
  struct in6_addr parsed;
  const char *zone = memchr(text, '%', length);
  if (zone)
    length = (size_t) (zone - text);
  if (length == 0 || length >= sizeof copy)
    return false;
  memcpy(copy, text, length);
  copy[length] = '\0';
  return inet_pton(AF_INET6, copy, &parsed) == 1;
}

static bool parse_port(const char *text, size_t length, uint16_t *port) {
  uint32_t value = 0;
  if (length == 0)
    return true; /* "host:" is the default port, RFC 3986 3.2.3 */
  for (size_t i = 0; i < length; i++) {
    if (!is_digit(text[i]))
      return false;
    value = value * 10 + (uint32_t) (text[i] - '0');
    if (value > 65535)
      return false;
  }
  *port = (uint16_t) value;
  return value != 0;
}

static bool looks_like_ipv4(const char *host, size_t length) {
  size_t dots = 0;
  for (size_t i = 0; i < length; i++) {
    if (host[i] == '.')
      dots++;
    else if (!is_digit(host[i]))
      return false;
  }
  return dots == 3;
}

static errand_status parse_authority(const char *text, size_t length,
                                     errand__url *out) {
  const char *end = text + length;
  const char *at = memrchr(text, '@', length);
  if (at)
    text = at + 1;
  const char *after_host;
  if (text < end && *text == '[') {
    const char *close = memchr(text, ']', (size_t) (end - text));
    if (!close || close == text + 1)
      return ERRAND_INVALID_URL;
    if (!is_ipv6(text + 1, (size_t) (close - text - 1)))
      return ERRAND_INVALID_URL;
    out->host = text + 1;
    out->host_length = (size_t) (close - text - 1);
    out->literal = true;
    after_host = close + 1;
  } else {
    after_host = memchr(text, ':', (size_t) (end - text));
    if (!after_host)
      after_host = end;
    out->host = text;
    out->host_length = (size_t) (after_host - text);
    if (out->host_length == 0)
      return ERRAND_INVALID_URL;
    int kind = kind_of(text, out->host_length);
    if (kind == 0 && !is_escaped_host(text, out->host_length))
      return ERRAND_INVALID_URL;
    out->plain = !at && (kind & IN_PLAIN_HOST);
    out->literal = looks_like_ipv4(out->host, out->host_length);
  }
  if (after_host == end)
    return ERRAND_OK;
  if (*after_host != ':' ||
      !parse_port(after_host + 1, (size_t) (end - after_host - 1), &out->port))
    return ERRAND_INVALID_URL;
  return ERRAND_OK;
}

errand_status errand__url_parse(errand_bytes bytes, errand__url *out) {
  const char *text = (const char *) bytes.data;
  size_t length = bytes.length;
  if (!text || length == 0 || length > URL_LENGTH_MAX)
    return ERRAND_INVALID_URL;
  size_t scheme = scheme_length(text, length);
  if (scheme == 0)
    return ERRAND_INVALID_URL;
  bool http = scheme == 7 && strncasecmp(text, "http", 4) == 0;
  bool https = scheme == 8 && strncasecmp(text, "https", 5) == 0;
  *out = (errand__url){
      .secure = https, .port = https ? 443 : 80, .length = length};

  size_t authority = scheme;
  while (authority < length && text[authority] != '/' &&
         text[authority] != '?' && text[authority] != '#') {
    unsigned char c = (unsigned char) text[authority];
    if (c <= 0x20 || c == 0x7f || c == '\\')
      return ERRAND_INVALID_URL;
    authority++;
  }
  for (size_t i = authority; i < length; i++) {
    unsigned char c = (unsigned char) text[i];
    if (c <= 0x20 || c >= 0x7f)
      return ERRAND_INVALID_URL;
    if (c == '#' && out->length == length)
      out->length = i;
  }
  if (!http && !https)
    return ERRAND_UNSUPPORTED_SCHEME;
  errand_status status =
      parse_authority(text + scheme, authority - scheme, out);
  out->target = authority;
  /* A query without a path gets a "/" from libcurl. */
  out->plain &= authority >= out->length || text[authority] == '/';
  return status;
}

uint64_t errand__url_origin_hash(const errand__url *url, uint64_t seed) {
  /* FNV-1a: hosts are short, and the table compares whole keys. */
  uint64_t hash = 14695981039346656037u ^ seed;
  for (size_t i = 0; i < url->host_length; i++) {
    unsigned char c = (unsigned char) url->host[i];
    if (c >= 'A' && c <= 'Z')
      c |= 0x20;
    hash = (hash ^ c) * 1099511628211u;
  }
  hash = (hash ^ url->port) * 1099511628211u;
  hash = (hash ^ (url->secure ? 1u : 0u)) * 1099511628211u;
  /* The low bits choose loops and buckets. */
  return hash ^ (hash >> 32);
}
