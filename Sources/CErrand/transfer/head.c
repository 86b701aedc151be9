#include "transfer/head.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "http/field.h"
#include "libcurl/curl_traits.h"
#include "transfer/deadline.h"
#include "transfer/payload.h"
#include "transfer/result.h"
#include "transfer/wire_limit.h"

#define SCRATCH_FIRST 1024u

static bool scratch_append(errand__scratch *s, const char *bytes, size_t n) {
  if (s->capacity - s->length < n) {
    size_t capacity = s->capacity ? s->capacity * 2 : SCRATCH_FIRST;
    while (capacity - s->length < n)
      capacity *= 2;
    char *grown = errand__realloc(s->bytes, capacity);
    if (!grown)
      return false;
    s->bytes = grown;
    s->capacity = capacity;
  }
  memcpy(s->bytes + s->length, bytes, n);
  s->length += n;
  return true;
}

bool errand__payload_begin(errand__slot *slot, size_t room) {
  errand__transfer *t = slot->transfer;
  char addresses[ERRAND__ADDRESSES_MAX];
  errand__addresses(slot->easy, addresses);
  t->response.payload = errand__payload_create(
      slot->scratch.bytes, slot->scratch.length, addresses, room);
  if (t->response.payload)
    slot->scratch.length = 0;
  return t->response.payload != NULL;
}

/* Reads "HTTP/1.1 200 OK" or "HTTP/2 200". */
static void parse_status_line(errand__response *r, const char *line, size_t n) {
  r->http_major = n > 5 ? (uint8_t) (line[5] - '0') : 0;
  r->http_minor = n > 7 && line[6] == '.' ? (uint8_t) (line[7] - '0') : 0;
  r->http_status = 0;
  const char *space = memchr(line, ' ', n);
  if (!space || (size_t) (line + n - space) < 4)
    return;
  for (int i = 1; i <= 3; i++)
    if (space[i] < '0' || space[i] > '9')
      return;
  r->http_status = (uint16_t) ((space[1] - '0') * 100 + (space[2] - '0') * 10 +
                               (space[3] - '0'));
}

/* Whether the list has an item other than `harmless`. */
static bool lists_other(const char *value, size_t n, const char *harmless) {
  const char *item;
  size_t length;
  size_t at = 0;
  while ((length = errand__next_item(value, n, &at, &item)) > 0)
    if (length != strlen(harmless) || strncasecmp(item, harmless, length) != 0)
      return true;
  return false;
}

/* Two different lengths mean an attack or a broken proxy. The true length
   decides where the next response begins (RFC 9112 6.3). */
static bool same_length(errand__response *r, const char *line, size_t n) {
  size_t at = errand__field_value(line, n, "content-length:");
  int64_t value = 0;
  if (at == 0)
    return true;
  while (at < n && (line[at] == ' ' || line[at] == '\t'))
    at++;
  for (; at < n && line[at] >= '0' && line[at] <= '9'; at++) {
    if (value > INT64_MAX / 16)
      return false;
    value = value * 10 + (line[at] - '0');
  }
  bool same = r->content_length < 0 || r->content_length == value;
  r->content_length = value;
  return same;
}

static bool reports_head(const errand__transfer *t) {
  return (t->flags &
          (ERRAND_REQUEST_STREAM_RESPONSE | ERRAND_REQUEST_REPORT_EVENTS)) != 0;
}

static bool report_head(errand__slot *slot) {
  errand__transfer *t = slot->transfer;
  errand__records *records = &slot->agenda->records;
  /* If trailers came while the head was held, they are in the scratch now, and
     the head is in a payload. */
  errand_bytes head =
      t->response.payload
          ? errand_payload_head(t->response.payload)
          : (errand_bytes){(const uint8_t *) slot->scratch.bytes,
                           slot->scratch.length};
  char addresses[ERRAND__ADDRESSES_MAX];
  if (!errand__records_reserve(records, 1))
    return false;
  errand__addresses(slot->easy, addresses);
  errand_payload *payload = errand__payload_create((const char *) head.data,
                                                   head.length, addresses, 0);
  if (!payload)
    return false;
  errand_record *record = errand__records_add(records, t->id, t->tag);
  errand__record_fill(slot, CURLE_OK, record);
  record->timings.queue = (t->started_ns - t->submitted_ns) / 1000;
  record->kind = ERRAND_RECORD_HEAD;
  t->response.head_reported = true;
  record->payload = payload;
  if (t->flags & ERRAND_REQUEST_STREAM_RESPONSE) {
    /* A buffered response keeps the head for its completion. */
    if (!t->response.payload)
      slot->scratch.length = 0;
    errand_payload_free(t->response.payload);
    t->response.payload = NULL;
  }
  return true;
}

bool errand__head_release(errand__slot *slot) {
  errand__response_release(&slot->transfer->response);
  return reports_head(slot->transfer) ? report_head(slot) : true;
}

/* No body follows a 101. Silence is no fault, nothing is encoded, and the
   caller limits the bytes that come. */
static void switch_protocols(errand__transfer *t) {
  t->timeouts.idle = t->timeouts.total = 0;
  t->limits.body_bytes = t->limits.decoded_bytes = INT64_MAX;
  t->response.codings.count = 0;
  t->response.content_length = -1;
}

static bool end_of_head(errand__slot *slot) {
  errand__transfer *t = slot->transfer;
  if (t->response.http_status < 200 && t->response.http_status != 101) {
    /* An interim response: the real one is still to come. */
    errand__response_end_interim(&t->response);
    t->phase = ERRAND__SENDING;
    t->sent_ms = t->activity_ms;
    errand__deadline_set(slot->agenda, t);
    return true;
  }
  /* libcurl decides after this callback whether it answers a challenge. If it
     does, it does not pass the body on. With HTTP/2 it may also resend a
     request that was already answered, if another stream of the connection is
     in its first round (conn->bits.authneg belongs to the connection). */
  bool held = t->username && (t->response.http_status == 401 ||
                              ((t->upload.left_out || t->attempt.http2) &&
                               t->response.http_status < 300));
  errand__response_end_head(&t->response, held);
  if (errand__is_websocket(t) && t->response.http_status == 101)
    switch_protocols(t);
  if (t->upload.starved)
    errand__agenda_review(slot->agenda, t);
  if (held)
    errand__wire_begin(slot);
  return reports_head(t) && !held ? report_head(slot) : true;
}

static errand_status begin_head(errand__slot *slot, const char *line,
                                size_t n) {
  errand__transfer *t = slot->transfer;
  errand__response_begin_head(&t->response);
  slot->scratch.length = 0;
  parse_status_line(&t->response, line, n);
  /* libcurl reads "HTTP/1.1  200" as 200 and would go on to a body, for which
     there is no head here. */
  if (t->response.http_status < 100)
    return ERRAND_MALFORMED_RESPONSE;
  /* The server chose HTTP/2, which was not offered, and the TLS library allowed
     this. Such a transfer may share its receive buffer, in which HTTP/2 keeps
     bytes. */
  if (t->response.http_major == 2 && !t->may_http2)
    return ERRAND_MALFORMED_RESPONSE;
  return scratch_append(&slot->scratch, line, n) ? ERRAND_OK
                                                 : ERRAND_OUT_OF_MEMORY;
}

/* libcurl leaks the trailers of an HTTP/1.1 response if another response
   follows on the connection, so the connection is not reused. */
static void begin_trailers(errand__slot *slot) {
  if (slot->transfer->response.http_major != 1 ||
      !errand__curl_does(ERRAND__CURL_LEAKS_TRAILERS))
    return;
  curl_easy_setopt(slot->easy, CURLOPT_FORBID_REUSE, 1L);
  slot->single_use = true;
}

/* The first trailer overwrites the scratch. Therefore the head moves into a
   payload first, unless a HEAD record has taken it. */
static errand_status take_trailer(errand__slot *slot) {
  errand__transfer *t = slot->transfer;
  if (errand__response_trailer(&t->response))
    begin_trailers(slot);
  if (errand__head_was_sent(t) || t->response.payload ||
      errand__payload_begin(slot, 0))
    return ERRAND_OK;
  return ERRAND_OUT_OF_MEMORY;
}

static errand_status check_field(errand__slot *slot, const char *line,
                                 size_t n) {
  errand__response *r = &slot->transfer->response;
  size_t at;
  if (!same_length(r, line, n))
    return ERRAND_MALFORMED_RESPONSE;
  if (slot->options->accept_encoding[0] &&
      (at = errand__field_value(line, n, "content-encoding:")) > 0)
    errand__codings_add(&r->codings, line + at, n - at);
  at = errand__field_value(line, n, "transfer-encoding:");
  /* libcurl would undo such a transfer coding without being asked, past the
     limits of the core. */
  return at > 0 && lists_other(line + at, n - at, "chunked") &&
                 lists_other(line + at, n - at, "identity")
             ? ERRAND_DECODING_FAILED
             : ERRAND_OK;
}

size_t errand__on_header(char *bytes, size_t size, size_t count,
                         void *context) {
  errand__slot *slot = context;
  errand__transfer *t = slot->transfer;
  size_t n = size * count;
  if (t->dropped)
    return 0;
  t->activity_ms = slot->agenda->now_ms;
  if (t->phase < ERRAND__RECEIVING) {
    t->phase = ERRAND__RECEIVING;
    if (!t->deadline.armed) /* it was held */
      errand__deadline_set(slot->agenda, t);
  }
  t->response.header_bytes += (int64_t) n;
  if (t->response.header_bytes > t->limits.header_bytes)
    return errand__give_up(t, ERRAND_LIMIT_HEADER_BYTES);
  if (t->response.state != ERRAND__RESPONSE_IN_HEAD) {
    if (errand__may_begin_head(&t->response) && n >= 5 &&
        memcmp(bytes, "HTTP/", 5) == 0) {
      errand_status status = begin_head(slot, bytes, n);
      return status == ERRAND_OK ? n : errand__give_up(t, status);
    }
    if (errand__continues_nothing(&t->response, bytes))
      return errand__give_up(t, ERRAND_MALFORMED_RESPONSE);
  }
  bool trailer = errand__has_head(&t->response);
  if (n <= 2 && (bytes[0] == '\r' || bytes[0] == '\n')) {
    if (trailer)
      return n; /* the end of the trailers */
    return end_of_head(slot) ? n : errand__give_up(t, ERRAND_OUT_OF_MEMORY);
  }
  if (++t->response.header_count > t->limits.header_count)
    return errand__give_up(t, ERRAND_LIMIT_HEADER_COUNT);
  errand_status status =
      trailer ? take_trailer(slot) : check_field(slot, bytes, n);
  if (status == ERRAND_OK && !scratch_append(&slot->scratch, bytes, n))
    status = ERRAND_OUT_OF_MEMORY;
  return status == ERRAND_OK ? n : errand__give_up(t, status);
}
