/* The digest step: sends a challenge and checks the answer to it. */
#include "fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define REALM "errand"
#define PART_MAX 512

/* The value of `name=` in a list of parameters, unquoted; "" if absent. */
static const char *parameter(const char *list, const char *name, char *out) {
  size_t length = strlen(name);
  const char *at = list;
  out[0] = '\0';
  while ((at = strstr(at, name)) != NULL) {
    bool first = at == list || at[-1] == ' ' || at[-1] == ',';
    at += length;
    if (!first || *at != '=')
      continue;
    bool quoted = *++at == '"';
    at += quoted;
    size_t n = 0;
    while (*at != '\0' && *at != '\r' && n + 1 < PART_MAX &&
           (quoted ? *at != '"' : *at != ',' && *at != ' ')) {
      if (quoted && *at == '\\' && at[1] != '\0')
        at++;
      out[n++] = *at++;
    }
    out[n] = '\0';
    break;
  }
  return out;
}

static bool is_right(const fault_connection *connection, const char *nonce,
                     const char *user, const char *password, bool sha256) {
  char part[6][PART_MAX];
  char text[4 * PART_MAX + 256], one[65], two[65], right[65];
  const errand_fault_request *request = &connection->request->view;
  const char *given = errand_fault__field(connection, "Authorization");
  if (given == NULL || strncasecmp(given, "Digest ", 7) != 0)
    return false;
  given += 7;
  if (strcmp(parameter(given, "username", part[0]), user) != 0 ||
      strcmp(parameter(given, "realm", part[0]), REALM) != 0 ||
      strcmp(parameter(given, "nonce", part[1]), nonce) != 0 ||
      strcmp(parameter(given, "uri", part[2]), request->target) != 0 ||
      strcmp(parameter(given, "qop", part[0]), "auth") != 0)
    return false;
  snprintf(text, sizeof text, "%s:%s:%s", user, REALM, password);
  errand_fault__hash_hex(sha256, text, one);
  snprintf(text, sizeof text, "%s:%s", request->method, request->target);
  errand_fault__hash_hex(sha256, text, two);
  snprintf(text, sizeof text, "%s:%s:%s:%s:auth:%s", one, nonce,
           parameter(given, "nc", part[3]), parameter(given, "cnonce", part[4]),
           two);
  errand_fault__hash_hex(sha256, text, right);
  return strcmp(parameter(given, "response", part[5]), right) == 0;
}

static fault_outcome challenge(fault_connection *connection, const char *nonce,
                               bool sha256) {
  static const char body[] = "denied\n";
  char head[320];
  if (errand_fault__read_body(connection, 0, 0) == FAULT_ENDED)
    return FAULT_ENDED;
  int length = snprintf(head, sizeof head,
                        "HTTP/1.1 401 Unauthorized\r\n"
                        "WWW-Authenticate: Digest realm=\"" REALM "\", "
                        "qop=\"auth\", nonce=\"%s\", algorithm=%s\r\n"
                        "Content-Length: %zu\r\n\r\n",
                        nonce, sha256 ? "SHA-256" : "MD5", sizeof body - 1);
  if (errand_fault__send(connection, head, (size_t) length) == FAULT_ENDED)
    return FAULT_ENDED;
  bool bodyless = strcmp(connection->request->view.method, "HEAD") == 0;
  return bodyless ? FAULT_GO_ON
                  : errand_fault__send(connection, body, sizeof body - 1);
}

fault_outcome errand_fault__digest(fault_connection *connection,
                                   const errand_fault_step *step) {
  char credentials[PART_MAX], nonce[32];
  snprintf(credentials, sizeof credentials, "%.*s", (int) step->length,
           (const char *) step->data);
  char *password = strchr(credentials, ':');
  if (password == NULL)
    return FAULT_ENDED;
  *password++ = '\0';
  /* Each connection has its own nonce: another connection's is refused. */
  snprintf(nonce, sizeof nonce, "nonce%llu",
           (unsigned long long) connection->number);
  while (
      !is_right(connection, nonce, credentials, password, step->count == 1)) {
    if (challenge(connection, nonce, step->count == 1) == FAULT_ENDED ||
        errand_fault__read_head(connection) == FAULT_ENDED)
      return FAULT_ENDED;
  }
  return FAULT_GO_ON;
}
