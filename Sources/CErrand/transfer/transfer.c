#include "transfer/transfer.h"

#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "libcurl/curl_traits.h"
#include "libcurl/process.h"
#include "transfer/clock.h"
#include "transfer/options.h"
#include "transfer/source.h"
#include "transfer/validate.h"

#define DEFAULT_CREDIT 262144u
/* "Expect:", "Content-Type:" and "Transfer-Encoding:", which keep libcurl from
   adding such fields, and the Accept-Encoding of the options. */
#define EXTRA_HEADERS 4

/* Texts of this size may be as large as the buffer that transfers share
   (errand__heap_share). */
#define LONG_TEXT (64u << 10)

/* RFC 9110 9.2.2. */
static bool is_idempotent(errand_bytes method) {
  static const char *const names[] = {"GET",    "HEAD",    "PUT",
                                      "DELETE", "OPTIONS", "TRACE"};
  if (method.length == 0)
    return true;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (errand__bytes_are(method, names[i]))
      return true;
  return false;
}

/* Whether requests of this method normally have content. Without a body they
   are sent with a Content-Length of 0 (RFC 9110 8.6). */
static bool expects_content(errand_bytes method) {
  return errand__bytes_are(method, "POST") ||
         errand__bytes_are(method, "PUT") || errand__bytes_are(method, "PATCH");
}

static errand__send choose_send(const errand_request *r) {
  switch (r->body_kind) {
  case ERRAND_BODY_MEMORY:
    return ERRAND__SEND_MEMORY;
  case ERRAND_BODY_DESCRIPTOR:
  case ERRAND_BODY_FILE:
  case ERRAND_BODY_STREAM:
    return ERRAND__SEND_READ;
  case ERRAND_BODY_NONE:
    break;
  }
  if (r->method.length == 0 || errand__bytes_are(r->method, "GET"))
    return ERRAND__SEND_GET;
  if (errand__bytes_are(r->method, "HEAD"))
    return ERRAND__SEND_HEAD;
  return expects_content(r->method) ? ERRAND__SEND_MEMORY : ERRAND__SEND_CUSTOM;
}

static errand_status open_source(const errand_request *r,
                                 errand__source **out) {
  *out = NULL;
  switch (r->body_kind) {
  case ERRAND_BODY_DESCRIPTOR:
    return errand__source_open(NULL, r->body_fd, r->body_offset, r->body_length,
                               out);
  case ERRAND_BODY_FILE:
    return errand__source_open(r->body_path, -1, r->body_offset, r->body_length,
                               out);
  case ERRAND_BODY_STREAM:
    return errand__source_create(
        r->body_length, r->upload_credit ? r->upload_credit : DEFAULT_CREDIT,
        out);
  case ERRAND_BODY_NONE:
  case ERRAND_BODY_MEMORY:
    break;
  }
  return ERRAND_OK;
}

/* Copies bytes and a NUL to the cursor in the block's tail. */
static char *place(char **cursor, const void *bytes, size_t length) {
  char *start = *cursor;
  if (length)
    memcpy(start, bytes, length);
  start[length] = '\0';
  *cursor = start + length + 1;
  return start;
}

static void chain(errand__transfer *t, struct curl_slist *nodes, size_t *count,
                  char *text) {
  struct curl_slist *node = &nodes[*count];
  node->data = text;
  node->next = NULL;
  if (*count > 0)
    nodes[*count - 1].next = node;
  else
    t->headers = node;
  (*count)++;
}

/* libcurl drops a field given as "Name:" and sends an empty one for "Name;". It
   writes Content-Length itself, from the body. */
static void place_headers(errand__transfer *t, errand_bytes block,
                          const errand__header_facts *facts,
                          errand_options *options, struct curl_slist *nodes,
                          char **cursor) {
  static char no_expect[] = "Expect:";
  static char no_type[] = "Content-Type:";
  static char no_coding[] = "Transfer-Encoding:";
  size_t count = 0;
  size_t position = 0;
  errand_bytes line;
  while (errand__headers_next(block, &position, &line)) {
    if (facts->content_length && line.length >= 15 && line.data[14] == ':' &&
        strncasecmp((const char *) line.data, "content-length", 14) == 0)
      continue;
    const char *text = (const char *) line.data;
    size_t name =
        (size_t) ((const char *) memchr(text, ':', line.length) - text);
    size_t value = name + 1;
    while (value < line.length && (text[value] == ' ' || text[value] == '\t'))
      value++;
    char *copy = *cursor;
    if (value == line.length) {
      place(cursor, text, name);
      (*cursor)[-1] = ';';
      place(cursor, NULL, 0);
    } else {
      place(cursor, text, line.length);
    }
    chain(t, nodes, &count, copy);
  }
  bool body = t->send == ERRAND__SEND_MEMORY || t->send == ERRAND__SEND_READ;
  if (body && !facts->expect)
    chain(t, nodes, &count, no_expect);
  if (t->send == ERRAND__SEND_MEMORY && !facts->content_type)
    chain(t, nodes, &count, no_type);
  /* Bytes that are sent after a 101 have no HTTP framing. */
  if (errand__is_websocket(t)) {
    chain(t, nodes, &count, no_coding);
    return;
  }
  /* A request that brings no fields itself uses its slot's list, which is part
     of the options. The options outlive the request. */
  if (count > 0 && options->accept_encoding[0] && !facts->accept_encoding)
    chain(t, nodes, &count, options->accept_encoding);
}

static void copy_numbers(errand__transfer *t, const errand_request *r) {
  t->tag = r->tag;
  t->flags = r->flags;
  t->priority = (uint8_t) r->priority;
  t->idempotent = is_idempotent(r->method);
  t->timeouts.queue = (uint32_t) r->timeout_queue;
  t->timeouts.connect = (uint32_t) r->timeout_connect;
  t->timeouts.first_byte = (uint32_t) r->timeout_first_byte;
  t->timeouts.idle = (uint32_t) r->timeout_idle;
  t->timeouts.total = (uint32_t) r->timeout_total;
  t->limits.header_bytes = r->limit_header_bytes;
  t->limits.header_count = r->limit_header_count;
  t->limits.body_bytes = r->limit_body_bytes;
  t->limits.decoded_bytes = r->limit_decoded_bytes;
  t->body_memory = r->response_memory;
  t->response.credit =
      (int64_t) (r->response_credit ? r->response_credit : DEFAULT_CREDIT);
}

static bool may_http2(const errand__transfer *t,
                      const errand_options *options) {
  if (errand__is_websocket(t))
    return false;
  if (!options->http2 || (!t->url_parts.secure && !options->prior_knowledge))
    return false;
  /* With prior knowledge HTTP/1.1 is not possible. There, uploads with Digest
     from a file or a source wait until the server answers them early. */
  return !t->username || options->prior_knowledge ||
         !errand__curl_does(ERRAND__CURL_SHARES_FIRST_ROUNDS);
}

/* Requests that use HTTP/1.1 while others with the same options use HTTP/2 have
   a separate multi handle (shared_identity of options.c). */
static uint64_t identity_of(const errand__transfer *t,
                            const errand_options *options) {
  bool apart = t->url_parts.secure && options->http2 && !t->may_http2;
  return options->identity | (apart ? (uint64_t) 1 << 63 : 0);
}

errand_status errand__transfer_create(const errand_request *r,
                                      errand_options *options,
                                      errand__transfer **out) {
  char host[ERRAND__HOST_ROOM];
  errand__url url;
  errand__header_facts facts;
  errand_status status = errand__request_check(r, host, &url, &facts);
  if (status != ERRAND_OK)
    return status;
  errand__source *source;
  status = open_source(r, &source);
  if (status != ERRAND_OK)
    return status;

  bool copy_body = r->body_kind == ERRAND_BODY_MEMORY && !r->body_release;
  size_t node_count = facts.count + EXTRA_HEADERS;
  bool progress = (r->flags & ERRAND_REQUEST_REPORT_PROGRESS) != 0;
  size_t size = sizeof(errand__transfer) +
                (progress ? sizeof(errand__progress) : 0) +
                node_count * sizeof(struct curl_slist) + facts.bytes +
                url.length + 1 + r->method.length + 1 + r->username.length + 1 +
                r->password.length + 1 + (copy_body ? r->body.length + 1 : 0);
  errand__transfer *t = errand__malloc(size);
  if (!t) {
    errand__source_close(source);
    return ERRAND_OUT_OF_MEMORY;
  }
  memset(t, 0, sizeof *t);
  t->upload.source = source;
  t->send = choose_send(r);
  t->own_host = facts.host;
  t->without_jar = facts.cookie || (r->flags & ERRAND_REQUEST_NO_COOKIES);
  errand__list_init(&t->link);
  copy_numbers(t, r);

  void *tail = t + 1;
  if (progress) {
    errand__progress *p = tail;
    *p = (errand__progress){.transfer = t};
    errand__list_init(&p->link);
    tail = p + 1;
  }
  struct curl_slist *nodes = tail;
  char *cursor = (char *) (nodes + node_count);
  errand__url_write(&url, (const char *) r->url.data, cursor);
  t->url = cursor;
  cursor += url.length + 1;
  t->url_parts = url;
  /* Roots are parsed on this thread, as a loop must not wait for a disk. */
  if (url.secure && options->trust)
    errand__trust_prepare(options->trust, errand__now_ms());
  t->method = r->method.length
                  ? place(&cursor, r->method.data, r->method.length)
                  : "GET";
  place_headers(t, r->headers, &facts, options, nodes, &cursor);
  if (r->authentication == ERRAND_AUTHENTICATION_DIGEST) {
    t->username = place(&cursor, r->username.data, r->username.length);
    t->password = place(&cursor, r->password.data, r->password.length);
  }
  t->may_http2 = may_http2(t, options);
  t->long_text =
      url.length + r->method.length + r->username.length + r->password.length >=
      LONG_TEXT;
  t->identity = identity_of(t, options);
  t->origin_hash = errand__url_origin_hash(
      &url, options->seed ^ (t->identity - options->identity));
  if (r->body_kind == ERRAND_BODY_MEMORY) {
    t->upload.body_length = r->body.length;
    t->upload.body = copy_body ? place(&cursor, r->body.data, r->body.length)
                               : (const void *) r->body.data;
  }
  t->upload.body_release = r->body_release;
  t->upload.body_release_context = r->body_release_context;
  if (r->options)
    t->options = errand_options_retain(r->options);
  t->command.kind = ERRAND__COMMAND_SUBMIT;
  *out = t;
  return ERRAND_OK;
}

int64_t errand__transfer_upload_length(const errand__transfer *t) {
  return t->upload.source ? errand__source_length(t->upload.source)
                          : (int64_t) t->upload.body_length;
}

void errand__transfer_free(errand__transfer *t) {
  errand__source_close(t->upload.source);
  if (t->upload.body_release)
    t->upload.body_release(t->upload.body_release_context);
  errand_options_release(t->options);
  errand_payload_free(t->response.payload);
  if (t->password)
    explicit_bzero(t->password, strlen(t->password));
  errand__free(t);
}
