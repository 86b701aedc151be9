#include "libcurl/cookie_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/address.h"

#define FIELDS 7
/* MAX_NAME of libcurl, which drops longer cookies from a server. */
#define NAME_AND_VALUE_MAX 4096
#define DOMAIN_MAX 255
#define PATH_BYTES_MAX 2048

static const char http_only[] = "#HttpOnly_";

/*
 * The path that libcurl compares; it lists the path that was sent
 * (sanitize_cookie_path). libcurl drops quotes around the path. This function
 * drops all of them, so that a line reads the same after it was written again.
 * A path that does not begin with '/' is "/". libcurl keeps an empty "Path=" as
 * it is, and sends the cookie to every path (ERRAND__CURL_KEEPS_EMPTY_PATHS).
 */
static const char *effective_path(char *path) {
  path += strspn(path, "\"");
  for (size_t n = strlen(path); n > 0 && path[n - 1] == '"'; n--)
    path[n - 1] = '\0';
  return path[0] == '/' ? path : "/";
}

bool errand__cookie_parse(char *line, errand_cookie *out) {
  char *fields[FIELDS];
  *out = (errand_cookie){.flags = 0};
  if (strncmp(line, http_only, sizeof http_only - 1) == 0) {
    line += sizeof http_only - 1;
    out->flags |= ERRAND_COOKIE_HTTP_ONLY;
  }
  if (line[0] == '#')
    return false;
  for (int i = 0; i < FIELDS; i++) {
    fields[i] = line;
    char *tab = i + 1 < FIELDS ? strchr(line, '\t') : NULL;
    if (!tab && i + 1 < FIELDS)
      return false;
    if (tab) {
      *tab = '\0';
      line = tab + 1;
    }
  }
  out->domain = fields[0] + (fields[0][0] == '.');
  if (strcasecmp(fields[1], "TRUE") == 0)
    out->flags |= ERRAND_COOKIE_SUBDOMAINS;
  out->path = effective_path(fields[2]);
  if (strcasecmp(fields[3], "TRUE") == 0)
    out->flags |= ERRAND_COOKIE_SECURE;
  out->expires = strtoll(fields[4], NULL, 10);
  out->name = fields[5];
  out->value = fields[6];
  return true;
}

static bool is_plain(const char *text, const char *refused, size_t most) {
  size_t length = strnlen(text, most + 1);
  if (length > most)
    return false;
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char) text[i];
    if (c < 0x20 || c == 0x7f || strchr(refused, c))
      return false;
  }
  return true;
}

/* RFC 6265bis 4.1.3. */
static bool keeps_prefix(const errand_cookie *c) {
  if (strncasecmp(c->name, "__Secure-", 9) == 0)
    return (c->flags & ERRAND_COOKIE_SECURE) != 0;
  if (strncasecmp(c->name, "__Host-", 7) == 0)
    return (c->flags & ERRAND_COOKIE_SECURE) &&
           !(c->flags & ERRAND_COOKIE_SUBDOMAINS) && strcmp(c->path, "/") == 0;
  return true;
}

/* The check of bad_domain, which libcurl makes for a cookie from a server, but
   not for a cookie that is put into a jar. An address has no subdomains (RFC
   6265 5.1.3). */
static bool may_have_subdomains(const char *domain) {
  const char *dot = strchr(domain, '.');
  return domain[0] != '[' && !errand__is_address(domain) &&
         ((dot && dot[1]) || strcasecmp(domain, "localhost") == 0);
}

bool errand__cookie_is_valid(const errand_cookie *c) {
  if (!c->name || !c->value || !c->domain || !c->path)
    return false;
  /* A line that begins with '#' or '.' has another meaning. */
  if (!c->name[0] || !c->domain[0] || c->domain[0] == '#' ||
      c->domain[0] == '.' || c->path[0] != '/' || c->expires < 0)
    return false;
  return is_plain(c->name, "=;", NAME_AND_VALUE_MAX) &&
         is_plain(c->value, ";", NAME_AND_VALUE_MAX) &&
         strlen(c->name) + strlen(c->value) <= NAME_AND_VALUE_MAX &&
         is_plain(c->domain, "; /,", DOMAIN_MAX) &&
         is_plain(c->path, ";", PATH_BYTES_MAX) && keeps_prefix(c) &&
         (!(c->flags & ERRAND_COOKIE_SUBDOMAINS) ||
          may_have_subdomains(c->domain));
}

bool errand__cookie_format(const errand_cookie *c, char *out, size_t room) {
  bool below = (c->flags & ERRAND_COOKIE_SUBDOMAINS) != 0;
  int length =
      snprintf(out, room, "%s%s%s\t%s\t%s\t%s\t%lld\t%s\t%s",
               c->flags & ERRAND_COOKIE_HTTP_ONLY ? http_only : "",
               below ? "." : "", c->domain, below ? "TRUE" : "FALSE", c->path,
               c->flags & ERRAND_COOKIE_SECURE ? "TRUE" : "FALSE",
               (long long) c->expires, c->name, c->value);
  return length >= 0 && (size_t) length < room;
}

bool errand__cookie_has_expired(const errand_cookie *c) {
  return c->expires != 0 && c->expires <= (int64_t) time(NULL);
}
