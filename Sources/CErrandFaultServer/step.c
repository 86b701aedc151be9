/* A function for each step that needs more than one call. */
#include "fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static fault_outcome read_bytes(fault_connection *connection, int64_t count) {
  while (count > 0) {
    if (errand_fault__fill(connection) == FAULT_ENDED)
      return FAULT_ENDED;
    size_t there = connection->input_end - connection->input_at;
    if ((int64_t) there > count)
      there = (size_t) count;
    connection->input_at += there;
    count -= (int64_t) there;
  }
  /* It is no longer known where the body ends and the next request begins. */
  connection->body_unread = false;
  return FAULT_GO_ON;
}

static fault_outcome send_slowly(fault_connection *connection,
                                 const errand_fault_step *step) {
  const char *bytes = step->data;
  for (size_t i = 0; i < step->length; i++) {
    if (errand_fault__send(connection, bytes + i, 1) == FAULT_ENDED ||
        errand_fault__sleep(connection, step->milliseconds) == FAULT_ENDED)
      return FAULT_ENDED;
  }
  return FAULT_GO_ON;
}

/* Sends the data `times` times, in blocks of about 64 KiB. */
static fault_outcome send_repeated(fault_connection *connection,
                                   const errand_fault_step *step) {
  size_t in_block = step->length >= 65536 ? 1 : 65536 / step->length;
  int64_t left = step->count;
  if (left >= 0 && (uint64_t) left < in_block)
    in_block = (size_t) left;
  uint8_t *block = malloc(in_block * step->length);
  if (block == NULL)
    return FAULT_ENDED;
  for (size_t i = 0; i < in_block; i++)
    memcpy(block + i * step->length, step->data, step->length);
  fault_outcome outcome = FAULT_GO_ON;
  while (outcome == FAULT_GO_ON && left != 0) {
    if (left > 0 && (uint64_t) left < in_block)
      in_block = (size_t) left;
    outcome = errand_fault__send(connection, block, in_block * step->length);
    if (left > 0)
      left -= (int64_t) in_block;
  }
  free(block);
  return outcome;
}

static fault_outcome send_step(fault_connection *connection,
                               const errand_fault_step *step) {
  if (step->length == 0)
    return FAULT_GO_ON;
  if (step->milliseconds == 0 && step->count != 0)
    return send_repeated(connection, step);
  if (step->milliseconds == 0)
    return errand_fault__send(connection, step->data, step->length);
  int64_t left = step->count == 0 ? 1 : step->count;
  fault_outcome outcome = FAULT_GO_ON;
  while (outcome == FAULT_GO_ON && left != 0) {
    outcome = send_slowly(connection, step);
    if (left > 0)
      left -= 1;
  }
  return outcome;
}

static fault_outcome echo(fault_connection *connection) {
  static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
  const char *expect = errand_fault__field(connection, "Expect");
  if (connection->body_unread && expect != NULL &&
      strncasecmp(expect, "100-continue", 12) == 0 &&
      errand_fault__send(connection, go_on, sizeof go_on - 1) == FAULT_ENDED)
    return FAULT_ENDED;
  if (errand_fault__read_body(connection, 0, 0) == FAULT_ENDED)
    return FAULT_ENDED;
  const errand_fault_request *request = &connection->request->view;
  /* RFC 9110 9.3.2: HEAD is answered like GET, without the content. */
  size_t length = request->head_length + 2 + request->body_kept;
  char head[160];
  int written = snprintf(head, sizeof head,
                         "HTTP/1.1 200 OK\r\nContent-Type: message/http\r\n"
                         "X-Connection: %llu\r\nContent-Length: %zu\r\n\r\n",
                         (unsigned long long) connection->number, length);
  fault_outcome outcome =
      errand_fault__send(connection, head, (size_t) written);
  if (strcmp(request->method, "HEAD") == 0)
    return outcome;
  if (outcome == FAULT_GO_ON)
    outcome =
        errand_fault__send(connection, request->head, request->head_length);
  if (outcome == FAULT_GO_ON)
    outcome = errand_fault__send(connection, "\r\n", 2);
  if (outcome == FAULT_GO_ON)
    outcome = errand_fault__send(connection, request->body, request->body_kept);
  return outcome;
}

static fault_outcome gzip_zeros(fault_connection *connection, int64_t count) {
  uint8_t *bytes = NULL;
  size_t length = 0;
  if (errand_fault_gzip_zeros((uint64_t) count, &bytes, &length) != 0)
    return FAULT_ENDED;
  char head[128];
  int written = snprintf(head, sizeof head,
                         "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"
                         "Content-Length: %zu\r\n\r\n",
                         length);
  fault_outcome outcome =
      errand_fault__send(connection, head, (size_t) written);
  if (outcome == FAULT_GO_ON)
    outcome = errand_fault__send(connection, bytes, length);
  free(bytes);
  return outcome;
}

static fault_outcome perform(fault_connection *connection,
                             const errand_fault_step *step) {
  switch (step->kind) {
  case ERRAND_FAULT_READ_HEAD:
    return errand_fault__read_head(connection);
  case ERRAND_FAULT_READ_BODY:
    return errand_fault__read_body(connection, (size_t) step->count,
                                   step->milliseconds);
  case ERRAND_FAULT_READ_BYTES:
    return read_bytes(connection, step->count);
  case ERRAND_FAULT_SEND:
    return send_step(connection, step);
  case ERRAND_FAULT_SLEEP:
    return errand_fault__sleep(connection, step->milliseconds);
  case ERRAND_FAULT_STALL:
    return errand_fault__stall(connection);
  case ERRAND_FAULT_FINISH:
    errand_fault__finish(connection);
    return FAULT_ENDED;
  case ERRAND_FAULT_CLOSE:
    errand_fault__close(connection, false);
    return FAULT_ENDED;
  case ERRAND_FAULT_RESET:
    errand_fault__close(connection, true);
    return FAULT_ENDED;
  case ERRAND_FAULT_ECHO:
    return connection->request == NULL ? FAULT_ENDED : echo(connection);
  case ERRAND_FAULT_GZIP_ZEROS:
    return gzip_zeros(connection, step->count);
  case ERRAND_FAULT_DIGEST:
    return connection->request == NULL ? FAULT_ENDED
                                       : errand_fault__digest(connection, step);
  case ERRAND_FAULT_SOCKS5:
    return errand_fault__socks5(connection, step);
  case ERRAND_FAULT_PROXY:
    return connection->request == NULL ? FAULT_ENDED
                                       : errand_fault__proxy(connection);
  }
  return FAULT_ENDED;
}

fault_outcome errand_fault__run(fault_connection *connection,
                                const fault_script *script) {
  fault_outcome outcome = FAULT_GO_ON;
  for (size_t i = 0; i < script->count && outcome == FAULT_GO_ON; i++)
    outcome = perform(connection, &script->steps[i]);
  return outcome;
}
