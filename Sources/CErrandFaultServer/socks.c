/* The SOCKS5 step. */
#include "fault.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VERSION = 5, NO_AUTHENTICATION = 0, BY_PASSWORD = 2, NO_METHOD = 0xff };

static bool take(fault_connection *connection, void *to, size_t count) {
  uint8_t *bytes = to;
  for (size_t i = 0; i < count; i++) {
    if (errand_fault__fill(connection) == FAULT_ENDED)
      return false;
    bytes[i] = connection->input[connection->input_at++];
  }
  return true;
}

/* Reads a string that follows its length in one byte. */
static bool take_text(fault_connection *connection, char *to) {
  uint8_t length;
  if (!take(connection, &length, 1) || !take(connection, to, length))
    return false;
  to[length] = '\0';
  return true;
}

static bool answer(fault_connection *connection, uint8_t first,
                   uint8_t second) {
  const uint8_t bytes[] = {first, second};
  return errand_fault__send(connection, bytes, sizeof bytes) == FAULT_GO_ON;
}

/* Returns: whether the client may continue. */
static bool greet(fault_connection *connection, const char *credentials) {
  uint8_t head[2];
  uint8_t methods[255];
  char user[256], password[256], given[513];
  uint8_t wanted = credentials[0] ? BY_PASSWORD : NO_AUTHENTICATION;
  if (!take(connection, head, 2) || head[0] != VERSION ||
      !take(connection, methods, head[1]))
    return false;
  if (!memchr(methods, wanted, head[1])) {
    answer(connection, VERSION, NO_METHOD);
    return false;
  }
  if (!answer(connection, VERSION, wanted))
    return false;
  if (wanted == NO_AUTHENTICATION)
    return true;
  uint8_t version;
  if (!take(connection, &version, 1) || !take_text(connection, user) ||
      !take_text(connection, password))
    return false;
  snprintf(given, sizeof given, "%s:%s", user, password);
  bool right = strcmp(given, credentials) == 0;
  return answer(connection, 1, !right) && right;
}

/* Reads and records the request. Returns: the port; 0 if that fails. */
static unsigned read_request(fault_connection *connection) {
  uint8_t head[4];
  uint8_t address[16];
  uint8_t port[2];
  char host[256] = "";
  const char *name = "DOMAIN";
  if (!take(connection, head, 4) || head[1] != 1)
    return 0;
  if (head[3] == 3) {
    if (!take_text(connection, host))
      return 0;
  } else {
    bool v6 = head[3] == 4;
    name = v6 ? "IPV6" : "IPV4";
    if (!take(connection, address, v6 ? 16 : 4) ||
        !inet_ntop(v6 ? AF_INET6 : AF_INET, address, host, sizeof host))
      return 0;
  }
  if (!take(connection, port, 2))
    return 0;
  unsigned number = (unsigned) port[0] << 8 | port[1];
  char *line = NULL;
  int length = asprintf(&line, "%s %s:%u SOCKS5\r\n", name, host, number);
  if (length < 0)
    return 0;
  errand_fault__record(connection, line, (size_t) length);
  return number;
}

/* Sends the reply, in two parts if the step has an interval. */
static bool reply_to(fault_connection *connection,
                     const errand_fault_step *step, const uint8_t *reply,
                     size_t size) {
  size_t first = step->milliseconds > 0 ? 3 : size;
  if (errand_fault__send(connection, reply, first) != FAULT_GO_ON)
    return false;
  return first == size ||
         (errand_fault__sleep(connection, step->milliseconds) == FAULT_GO_ON &&
          errand_fault__send(connection, reply + first, size - first) ==
              FAULT_GO_ON);
}

fault_outcome errand_fault__socks5(fault_connection *connection,
                                   const errand_fault_step *step) {
  char credentials[513];
  uint8_t reply[10] = {VERSION, 0, 0, 1};
  snprintf(credentials, sizeof credentials, "%.*s", (int) step->length,
           step->data == NULL ? "" : (const char *) step->data);
  unsigned port = greet(connection, credentials) ? read_request(connection) : 0;
  int upstream = port == 0 ? -1 : errand_fault__connect_to(port);
  if (port != 0) {
    reply[1] = upstream < 0 ? 5 : 0; /* connection refused */
    if (reply_to(connection, step, reply, sizeof reply) && upstream >= 0)
      errand_fault__relay(connection, upstream);
  }
  if (upstream >= 0)
    close(upstream);
  errand_fault__close(connection, false);
  return FAULT_ENDED;
}
