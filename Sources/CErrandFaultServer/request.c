/* Reads request heads and bodies by RFC 9112's framing, no more strictly than a
   test server needs. */
#include "fault.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HEAD_MAX ((size_t) 1 << 20)

typedef struct fault_buffer {
  uint8_t *bytes;
  size_t length;
  size_t capacity;
} fault_buffer;

static bool append(fault_buffer *buffer, const void *data, size_t length) {
  if (length == 0)
    return true;
  if (buffer->length + length > buffer->capacity) {
    size_t wanted = (buffer->length + length) * 2;
    uint8_t *bytes = realloc(buffer->bytes, wanted);
    if (bytes == NULL)
      return false;
    buffer->bytes = bytes;
    buffer->capacity = wanted;
  }
  memcpy(buffer->bytes + buffer->length, data, length);
  buffer->length += length;
  return true;
}

/* Reads up to and including the next LF. Returns: ENDED also if `into` would
   exceed HEAD_MAX. */
static fault_outcome read_line(fault_connection *connection,
                               fault_buffer *into) {
  for (;;) {
    if (errand_fault__fill(connection) == FAULT_ENDED)
      return FAULT_ENDED;
    const uint8_t *start = connection->input + connection->input_at;
    size_t there = connection->input_end - connection->input_at;
    const uint8_t *end = memchr(start, '\n', there);
    size_t taken = end == NULL ? there : (size_t) (end - start) + 1;
    if (into->length + taken > HEAD_MAX || !append(into, start, taken))
      return FAULT_ENDED;
    connection->input_at += taken;
    if (end != NULL)
      return FAULT_GO_ON;
  }
}

static bool is_empty_line(const uint8_t *line, size_t length) {
  return length == 1 || (length == 2 && line[0] == '\r');
}

fault_outcome errand_fault__read_head(fault_connection *connection) {
  fault_buffer head = {0};
  size_t line = 0;
  connection->request = NULL;
  connection->body_unread = false;
  for (;;) {
    if (read_line(connection, &head) == FAULT_ENDED) {
      free(head.bytes);
      return FAULT_ENDED;
    }
    if (!is_empty_line(head.bytes + line, head.length - line))
      line = head.length;
    else if (line > 0)
      break;
    else
      head.length = 0; /* RFC 9112 2.2: an empty line before the first */
  }
  head.bytes[line] = 0; /* the empty line has at least one byte */
  connection->request =
      errand_fault__record(connection, (char *) head.bytes, line);
  if (connection->request == NULL)
    return FAULT_ENDED;
  connection->body_unread = true;
  return FAULT_GO_ON;
}

const char *errand_fault__field(const fault_connection *connection,
                                const char *name) {
  size_t length = strlen(name);
  const char *line = connection->request->head;
  while ((line = strchr(line, '\n')) != NULL) {
    line += 1;
    if (strncasecmp(line, name, length) != 0 || line[length] != ':')
      continue;
    line += length + 1;
    return line + strspn(line, " \t");
  }
  return NULL;
}

typedef struct fault_body {
  fault_buffer kept;
  uint64_t length;
  uint64_t hash;
  size_t portion;
  uint32_t pause;
} fault_body;

static fault_outcome read_exactly(fault_connection *connection,
                                  fault_body *body, uint64_t length) {
  while (length > 0) {
    if (errand_fault__fill(connection) == FAULT_ENDED)
      return FAULT_ENDED;
    const uint8_t *start = connection->input + connection->input_at;
    size_t taken = connection->input_end - connection->input_at;
    if (taken > length)
      taken = (size_t) length;
    if (body->portion > 0 && taken > body->portion)
      taken = body->portion;
    size_t room = ERRAND_FAULT_BODY_KEPT - body->kept.length;
    if (!append(&body->kept, start, taken < room ? taken : room))
      return FAULT_ENDED;
    body->hash = errand_fault_hash(body->hash, start, taken);
    body->length += taken;
    connection->input_at += taken;
    length -= taken;
    if (body->pause > 0 &&
        errand_fault__sleep(connection, body->pause) == FAULT_ENDED)
      return FAULT_ENDED;
  }
  return FAULT_GO_ON;
}

static fault_outcome read_chunks(fault_connection *connection,
                                 fault_body *body) {
  fault_outcome outcome = FAULT_ENDED;
  fault_buffer line = {0};
  for (;;) {
    line.length = 0;
    if (read_line(connection, &line) == FAULT_ENDED)
      break;
    line.bytes[line.length - 1] = 0;
    uint64_t size = strtoull((char *) line.bytes, NULL, 16);
    if (size > 0 && read_exactly(connection, body, size) == FAULT_ENDED)
      break;
    if (size > 0) {
      if (read_line(connection, &line) == FAULT_ENDED)
        break;
      continue;
    }
    do { /* trailers, until the empty line */
      line.length = 0;
      outcome = read_line(connection, &line);
    } while (outcome == FAULT_GO_ON && !is_empty_line(line.bytes, line.length));
    break;
  }
  free(line.bytes);
  return outcome;
}

fault_outcome errand_fault__read_body(fault_connection *connection,
                                      size_t portion, uint32_t pause) {
  if (!connection->body_unread)
    return FAULT_GO_ON;
  connection->body_unread = false;
  fault_body body = {
      .portion = portion, .pause = pause, .hash = errand_fault_hash(0, "", 0)};
  fault_outcome outcome = FAULT_GO_ON;
  const char *coding = errand_fault__field(connection, "Transfer-Encoding");
  const char *length = errand_fault__field(connection, "Content-Length");
  if (coding != NULL && strncasecmp(coding, "chunked", 7) == 0)
    outcome = read_chunks(connection, &body);
  else if (length != NULL)
    outcome = read_exactly(connection, &body, strtoull(length, NULL, 10));
  errand_fault__record_body(connection, body.kept.bytes, body.kept.length,
                            body.length, body.hash, outcome == FAULT_GO_ON);
  return outcome;
}
