#include "http/url.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>

#include "http/characters.h"

/* libcurl refuses URLs above 8,000,000 bytes (CURL_MAX_INPUT_LENGTH). */
#define URL_LENGTH_MAX 8000000u

static bool is_alpha(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether the byte may be in an authority, and after one. */
enum {
  ENDS_AUTHORITY = 1,
  NOT_IN_AUTHORITY = 2,
  NOT_AFTER_AUTHORITY = 4,
};

static const unsigned char url_kinds[256] = {
    [0 ... 0x20] = NOT_IN_AUTHORITY | NOT_AFTER_AUTHORITY,
    ['/'] = ENDS_AUTHORITY,
    ['?'] = ENDS_AUTHORITY,
    ['#'] = ENDS_AUTHORITY,
    ['\\'] = NOT_IN_AUTHORITY,
    [0x7f] = NOT_IN_AUTHORITY | NOT_AFTER_AUTHORITY,
    [0x80 ... 0xff] = NOT_AFTER_AUTHORITY,
};

static int url_kind(char c) {
  return url_kinds[(unsigned char) c];
}

/* The length of "scheme://"; 0: there is none. */
static size_t scheme_length(const char *text, size_t length) {
  size_t i = 0;
  /* The usual schemes, without a look at each letter. Reads text[4]. */
  if (length >= 5 && memcmp(text, "http", 4) == 0)
    i = text[4] == 's' ? 5 : 4;
  while (i < length && (is_alpha(text[i]) || errand__is_digit(text[i]) ||
                        text[i] == '+' || text[i] == '-' || text[i] == '.'))
    i++;
  if (i == 0 || !is_alpha(text[0]) || length - i < 3)
    return 0;
  return memcmp(text + i, "://", 3) == 0 ? i + 3 : 0;
}

/* The ERRAND__IN_* bits that all bytes have. */
static int kind_of(const char *text, size_t length) {
  int kind = ERRAND__IN_HOST | ERRAND__IN_PLAIN_HOST;
  for (size_t i = 0; i < length; i++)
    kind &= errand__host_kinds[(unsigned char) text[i]];
  return kind;
}

/* A zone follows "%25", or a "%" that begins no escape (RFC 6874), because
   libcurl takes the digits of an escape for the zone. Only link-local addresses
   have zones. */
static bool is_zone(const struct in6_addr *address, const char *text,
                    size_t length) {
  if (!IN6_IS_ADDR_LINKLOCAL(address))
    return false;
  if (length >= 3 && text[1] == '2' && text[2] == '5') {
    text += 2;
    length -= 2;
  } else if (length >= 3 && errand__hex_value(text[1]) >= 0 &&
             errand__hex_value(text[2]) >= 0) {
    return false;
  }
  return length > 1 && kind_of(text + 1, length - 1) != 0;
}

/* Whether the text is an IPv6 address, perhaps with a zone. */
static bool is_ipv6(const char *text, size_t length) {
  char copy[INET6_ADDRSTRLEN];
  struct in6_addr parsed;
  const char *zone = memchr(text, '%', length);
  size_t address = zone ? (size_t) (zone - text) : length;
  if (address == 0 || address >= sizeof copy)
    return false;
  memcpy(copy, text, address);
  copy[address] = '\0';
  return inet_pton(AF_INET6, copy, &parsed) == 1 &&
         (!zone || is_zone(&parsed, zone, length - address));
}

static bool parse_port(const char *text, size_t length, uint16_t *port) {
  uint32_t value = 0;
  if (length == 0)
    return true; /* "host:" is the default port, RFC 3986 3.2.3 */
  for (size_t i = 0; i < length; i++) {
    if (!errand__is_digit(text[i]))
      return false;
    value = value * 10 + (uint32_t) (text[i] - '0');
    if (value > 65535)
      return false;
  }
  *port = (uint16_t) value;
  return value != 0;
}

/* Finds the host as it is written in the URL, or as it is looked up. */
static errand_status parse_name(const char *text, size_t length, char *room,
                                errand__url *out) {
  out->host = text;
  out->host_length = (uint32_t) length;
  if (length == 0)
    return ERRAND_INVALID_URL;
  int kind = kind_of(text, length);
  out->literal = errand__host_is_ipv4(text, length);
  if (kind == 0 || (!out->literal && errand__host_is_number(text, length))) {
    errand_status status = errand__host_of_url(text, length, room);
    if (status != ERRAND_OK)
      return status;
    out->host = room;
    out->host_length = (uint32_t) strlen(room);
    out->respelled = true;
    out->literal = errand__host_is_ipv4(room, out->host_length);
    kind = kind_of(room, out->host_length);
  }
  out->plain = (kind & ERRAND__IN_PLAIN_HOST) != 0;
  return ERRAND_OK;
}

static errand_status parse_authority(const char *text, size_t length,
                                     char *room, errand__url *out) {
  const char *start = text;
  const char *end = text + length;
  const char *at = memrchr(text, '@', length);
  /* WHATWG ends the user at the last "@", libcurl at the first
     (parse_hostname_login), and RFC 3986 allows one "@" only: two are refused.
   */
  if (at && memchr(text, '@', (size_t) (at - text)))
    return ERRAND_INVALID_URL;
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
    out->host_length = (uint32_t) (close - text - 1);
    out->literal = true;
    after_host = close + 1;
    text = out->host;
  } else {
    after_host = memchr(text, ':', (size_t) (end - text));
    if (!after_host)
      after_host = end;
    out->given_host_length = (uint32_t) (after_host - text);
    errand_status status =
        parse_name(text, (size_t) (after_host - text), room, out);
    if (status != ERRAND_OK)
      return status;
    out->plain &= !at;
  }
  out->host_at += (uint32_t) (text - start);
  if (after_host == end)
    return ERRAND_OK;
  if (*after_host != ':' ||
      !parse_port(after_host + 1, (size_t) (end - after_host - 1), &out->port))
    return ERRAND_INVALID_URL;
  return ERRAND_OK;
}

errand_status errand__url_parse(errand_bytes bytes, char *host,
                                errand__url *out) {
  const char *text = (const char *) bytes.data;
  size_t length = bytes.length;
  if (!text || length == 0 || length > URL_LENGTH_MAX)
    return ERRAND_INVALID_URL;
  size_t scheme = scheme_length(text, length);
  if (scheme == 0)
    return ERRAND_INVALID_URL;
  bool http = scheme == 7 && strncasecmp(text, "http", 4) == 0;
  bool https = scheme == 8 && strncasecmp(text, "https", 5) == 0;
  bool ws = scheme == 5 && strncasecmp(text, "ws", 2) == 0;
  bool wss = scheme == 6 && strncasecmp(text, "wss", 3) == 0;
  *out = (errand__url){.secure = https || wss,
                       .websocket = ws || wss,
                       .port = https || wss ? 443 : 80,
                       .length = (uint32_t) length,
                       .host_at = (uint32_t) scheme};

  size_t authority = scheme;
  while (authority < length &&
         !(url_kind(text[authority]) & (ENDS_AUTHORITY | NOT_IN_AUTHORITY)))
    authority++;
  if (authority < length && !(url_kind(text[authority]) & ENDS_AUTHORITY))
    return ERRAND_INVALID_URL;
  int after = 0;
  for (size_t i = authority; i < length; i++)
    after |= url_kind(text[i]);
  if (after & NOT_AFTER_AUTHORITY)
    return ERRAND_INVALID_URL;
  const char *fragment = memchr(text + authority, '#', length - authority);
  if (fragment)
    out->length = (uint32_t) (fragment - text);
  if (!http && !https && !ws && !wss)
    return ERRAND_UNSUPPORTED_SCHEME;
  errand_status status =
      parse_authority(text + scheme, authority - scheme, host, out);
  out->plain &= !out->websocket; /* errand__root is http or https */
  out->target = (uint32_t) authority;
  /* RFC 9112 3.2.1. From 8.10 on libcurl would turn "?" into "/". */
  out->adds_slash = authority >= out->length || text[authority] != '/';
  out->length += out->adds_slash;
  if (out->respelled) {
    out->length += out->host_length - out->given_host_length;
    out->target += out->host_length - out->given_host_length;
  }
  return status;
}

void errand__url_write(errand__url *url, const char *given, char *out) {
  size_t rest = url->length - url->target - url->adds_slash;
  size_t path_at = url->target; /* in what was given */
  char *end = out;
  if (!url->respelled) {
    end = mempcpy(end, given, url->target);
  } else {
    size_t behind_host = url->host_at + url->given_host_length;
    path_at = url->target + url->given_host_length - url->host_length;
    end = mempcpy(end, given, url->host_at);
    end = mempcpy(end, url->host, url->host_length);
    end = mempcpy(end, given + behind_host, path_at - behind_host);
  }
  if (url->adds_slash)
    *end++ = '/';
  end = mempcpy(end, given + path_at, rest);
  *end = '\0';
  url->host = out + url->host_at;
}

uint64_t errand__url_origin_hash(const errand__url *url, uint64_t seed) {
  /* FNV-1a: hosts are short, and the tables compare whole keys. */
  uint64_t hash = 14695981039346656037u ^ seed;
  for (size_t i = 0; i < url->host_length; i++) {
    unsigned char c = (unsigned char) url->host[i];
    if (c >= 'A' && c <= 'Z')
      c |= 0x20;
    hash = (hash ^ c) * 1099511628211u;
  }
  hash = (hash ^ url->port) * 1099511628211u;
  hash = (hash ^ (url->secure ? 1u : 0u)) * 1099511628211u;
  /* Mixes the hash, as its low bits choose loops and buckets. */
  return hash ^ (hash >> 32);
}
