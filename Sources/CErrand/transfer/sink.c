/* What libcurl receives: heads, trailers and bodies, with their limits. */
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "libcurl/curl_traits.h"
#include "loop/deadline.h"
#include "http/decode.h"
#include "libcurl/openssl.h"
#include "transfer/pausing.h"
#include "transfer/payload.h"
#include "transfer/result.h"
#include "transfer/slot.h"

/* Reserved at once for a body that says its length; more only as it comes,
   since the length may be a lie. */
#define RESERVE_MAX 8388608
#define SCRATCH_FIRST 1024u

/* Makes libcurl give up; the reason is what the record will say. */
static size_t give_up(errand__transfer *t, errand_status reason) {
  if (t->reason == ERRAND_OK)
    t->reason = reason;
  return 0; /* != what it was given: CURLE_WRITE_ERROR */
}

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
  t->payload = errand__payload_create(slot->scratch.bytes, slot->scratch.length,
                                      addresses, room);
  if (t->payload)
    slot->scratch.length = 0;
  return t->payload != NULL;
}

/* "HTTP/1.1 200 OK" or "HTTP/2 200". */
static void parse_status_line(errand__transfer *t, const char *line, size_t n) {
  t->http_major = n > 5 ? (uint8_t) (line[5] - '0') : 0;
  t->http_minor = n > 7 && line[6] == '.' ? (uint8_t) (line[7] - '0') : 0;
  t->http_status = 0;
  const char *space = memchr(line, ' ', n);
  if (!space || (size_t) (line + n - space) < 4)
    return;
  for (int i = 1; i <= 3; i++)
    if (space[i] < '0' || space[i] > '9')
      return;
  t->http_status = (uint16_t) ((space[1] - '0') * 100 + (space[2] - '0') * 10 +
                               (space[3] - '0'));
}

/* Whether the field is `name` (with its colon) and lists a coding other than
   `harmless`. */
static bool lists_coding(const char *line, size_t n, const char *name,
                         const char *harmless) {
  static const char separators[] = " \t\r\n,";
  size_t at = strlen(name);
  if (n <= at || strncasecmp(line, name, at) != 0)
    return false;
  while (at < n) {
    size_t length = 0;
    while (at + length < n && !strchr(separators, line[at + length]))
      length++;
    if (length > 0 && (length != strlen(harmless) ||
                       strncasecmp(line + at, harmless, length) != 0))
      return true;
    at += length + 1;
  }
  return false;
}

static void note_codings(errand__transfer *t, const char *line, size_t n) {
  static const char name[] = "content-encoding:";
  size_t at = sizeof name - 1;
  if (n > at && strncasecmp(line, name, at) == 0)
    errand__codings_add(&t->codings, line + at, n - at);
}

/* Two lengths that differ are an attack or a broken proxy: which of them is
   true decides where the next response begins (RFC 9112 6.3). */
static bool same_length(errand__transfer *t, const char *line, size_t n) {
  static const char name[] = "content-length:";
  size_t at = sizeof name - 1;
  int64_t value = 0;
  if (n <= at || strncasecmp(line, name, at) != 0)
    return true;
  while (at < n && (line[at] == ' ' || line[at] == '\t'))
    at++;
  for (; at < n && line[at] >= '0' && line[at] <= '9'; at++) {
    if (value > INT64_MAX / 16)
      return false;
    value = value * 10 + (line[at] - '0');
  }
  bool same = t->content_length < 0 || t->content_length == value;
  t->content_length = value;
  return same;
}

static bool tells_head(const errand__transfer *t) {
  return (t->flags &
          (ERRAND_REQUEST_STREAM_RESPONSE | ERRAND_REQUEST_REPORT_EVENTS)) != 0;
}

static bool report_head(errand__slot *slot) {
  errand__transfer *t = slot->transfer;
  errand__loop *loop = slot->realm->loop;
  /* Where trailers came while it was held, the scratch has these by now. */
  errand_bytes head =
      t->payload ? errand_payload_head(t->payload)
                 : (errand_bytes){(const uint8_t *) slot->scratch.bytes,
                                  slot->scratch.length};
  char addresses[ERRAND__ADDRESSES_MAX];
  if (!errand__loop_reserve_records(loop, 1))
    return false;
  errand__addresses(slot->easy, addresses);
  errand_payload *payload = errand__payload_create((const char *) head.data,
                                                   head.length, addresses, 0);
  if (!payload)
    return false;
  errand_record *record = errand__loop_add_record(loop, t->id, t->tag);
  errand__record_fill(slot, CURLE_OK, record);
  record->timings.queue = (t->started_ns - t->submitted_ns) / 1000;
  record->kind = ERRAND_RECORD_HEAD;
  t->head_told = true;
  record->payload = payload;
  if (t->flags & ERRAND_REQUEST_STREAM_RESPONSE) {
    /* A buffered response needs it again. */
    if (!t->payload)
      slot->scratch.length = 0;
    errand_payload_free(t->payload);
    t->payload = NULL;
    t->head_sent = true;
  }
  return true;
}

bool errand__head_release(errand__slot *slot) {
  slot->transfer->head_held = false;
  return tells_head(slot->transfer) ? report_head(slot) : true;
}

/* Behind a 101 there is no body: silence is no fault, nothing is encoded, and
   what comes is the caller's to limit. */
static void switch_protocols(errand__transfer *t) {
  t->timeout_idle = t->timeout_total = 0;
  t->limit_body_bytes = t->limit_decoded_bytes = INT64_MAX;
  t->codings.count = 0;
  t->content_length = -1;
}

static bool end_of_head(errand__slot *slot) {
  errand__transfer *t = slot->transfer;
  t->in_head = false;
  if (t->http_status < 200 && t->http_status != 101) {
    /* An interim response: the real one is still waited for. */
    t->phase = ERRAND__SENDING;
    t->sent_ms = t->activity_ms;
    errand__deadline_set(slot->realm->loop, t);
    return true;
  }
  t->head_done = true;
  if (errand__is_websocket(t) && t->http_status == 101)
    switch_protocols(t);
  if (t->starved)
    errand__loop_review(slot->realm->loop, t);
  /* Whether libcurl answers the challenge it decides after this callback: the
     body, which it keeps to itself then, or the end will tell. With HTTP/2 it
     also sends again what was answered, where another stream of the connection
     is in its first round (conn->bits.authneg is the connection's). */
  t->head_held =
      t->username &&
      (t->http_status == 401 ||
       ((t->without_body || t->counted_http2) && t->http_status < 300));
  if (t->head_held)
    errand__wire_begin(slot);
  return tells_head(t) && !t->head_held ? report_head(slot) : true;
}

static errand_status begin_head(errand__slot *slot, const char *line,
                                size_t n) {
  errand__transfer *t = slot->transfer;
  /* Also a second head after a final one, whose body libcurl kept to itself
     because it answers a challenge. */
  t->head_done = t->head_held = false;
  t->codings.count = 0;
  t->content_length = -1;
  t->body_taken = 0;
  t->in_head = t->first_field = true;
  slot->scratch.length = 0;
  parse_status_line(t, line, n);
  /* libcurl reads "HTTP/1.1  200" as 200, and would go on to a body that has no
     head here. */
  if (t->http_status < 100)
    return ERRAND_MALFORMED_RESPONSE;
  return scratch_append(&slot->scratch, line, n) ? ERRAND_OK
                                                 : ERRAND_OUT_OF_MEMORY;
}

/* A blank right behind the status line (RFC 9112 2.2): a line that continues
   nothing. */
static bool continues_nothing(errand__transfer *t, const char *line) {
  bool first = t->first_field;
  t->first_field = false;
  return first && (line[0] == ' ' || line[0] == '\t');
}

static void begin_trailers(errand__slot *slot) {
  slot->transfer->trailers_begun = true;
  if (slot->transfer->http_major != 1 ||
      !errand__curl_does(ERRAND__CURL_LEAKS_TRAILERS))
    return;
  curl_easy_setopt(slot->easy, CURLOPT_FORBID_REUSE, 1L);
  slot->single_use = true;
}

size_t errand__on_header(char *bytes, size_t size, size_t count,
                         void *context) {
  errand__slot *slot = context;
  errand__transfer *t = slot->transfer;
  size_t n = size * count;
  if (t->dropped)
    return 0;
  t->activity_ms = slot->realm->loop->now_ms;
  if (t->phase < ERRAND__RECEIVING) {
    t->phase = ERRAND__RECEIVING;
    if (!t->deadline.armed) /* nothing was due while it was held */
      errand__deadline_set(slot->realm->loop, t);
  }
  t->header_bytes += (int64_t) n;
  if (t->header_bytes > t->limit_header_bytes)
    return give_up(t, ERRAND_LIMIT_HEADER_BYTES);
  /* Elsewhere it is a field, however much it looks like a status line: in a
     head, and behind a final one, where it is a trailer of an empty body.
     Behind a held one libcurl has answered the challenge. */
  if (!t->in_head && (!t->head_done || (t->head_held && !t->trailers_begun)) &&
      n >= 5 && memcmp(bytes, "HTTP/", 5) == 0) {
    errand_status status = begin_head(slot, bytes, n);
    return status == ERRAND_OK ? n : give_up(t, status);
  }
  if (continues_nothing(t, bytes))
    return give_up(t, ERRAND_MALFORMED_RESPONSE);
  if (n <= 2 && (bytes[0] == '\r' || bytes[0] == '\n')) {
    if (t->head_done)
      return n; /* the end of the trailers */
    return end_of_head(slot) ? n : give_up(t, ERRAND_OUT_OF_MEMORY);
  }
  if (++t->header_count > t->limit_header_count)
    return give_up(t, ERRAND_LIMIT_HEADER_COUNT);
  if (t->head_done && !t->trailers_begun)
    begin_trailers(slot);
  if (!t->head_done && !same_length(t, bytes, n))
    return give_up(t, ERRAND_MALFORMED_RESPONSE);
  if (t->head_done && !t->head_sent && !t->payload &&
      !errand__payload_begin(slot, 0))
    return give_up(t, ERRAND_OUT_OF_MEMORY);
  if (!t->head_done && slot->options->accept_encoding[0])
    note_codings(t, bytes, n);
  /* libcurl would undo these unasked, past our limits. */
  if (!t->head_done &&
      lists_coding(bytes, n, "transfer-encoding:", "chunked") &&
      lists_coding(bytes, n, "transfer-encoding:", "identity"))
    return give_up(t, ERRAND_DECODING_FAILED);
  return scratch_append(&slot->scratch, bytes, n)
             ? n
             : give_up(t, ERRAND_OUT_OF_MEMORY);
}

/* The first byte of the body: refuses what is known to be too long, and says
   how much room to make. */
static errand_status begin_body(errand__slot *slot, size_t n, size_t *room) {
  errand__transfer *t = slot->transfer;
  curl_off_t length = -1;
  t->body_begun = true;
  curl_easy_getinfo(slot->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
  if (length > t->limit_body_bytes)
    return ERRAND_LIMIT_BODY_BYTES;
  if (t->codings.count > 0)
    return errand__decoder_create(&t->codings, &slot->decoder, &slot->words);
  if (length > (curl_off_t) n)
    *room = (size_t) (length < RESERVE_MAX ? length : RESERVE_MAX);
  return ERRAND_OK;
}

static bool is_streamed(const errand__transfer *t) {
  return (t->flags & ERRAND_REQUEST_STREAM_RESPONSE) != 0;
}

static size_t pause_body(errand__slot *slot, size_t n) {
  slot->transfer->out_of_credit = true;
  return errand__hold_back(slot, n);
}

/* Has a payload with room for the body. */
static bool open_payload(errand__slot *slot, size_t room) {
  errand__transfer *t = slot->transfer;
  if (t->payload)
    return true;
  if (!is_streamed(t))
    return errand__payload_begin(slot, room);
  t->payload = errand__payload_create(NULL, 0, NULL, room);
  return t->payload != NULL;
}

static bool discards(const errand__transfer *t) {
  return (t->flags & ERRAND_REQUEST_DISCARD_BODY) && !is_streamed(t);
}

/* Bytes of the body that are about to be in the payload. */
static void count_body(errand__slot *slot, size_t n) {
  errand__transfer *t = slot->transfer;
  t->body_bytes += (int64_t) n;
  if (!is_streamed(t))
    return;
  t->credit -= (int64_t) n;
  /* A decoder goes on without credit until it has a byte for which there is
     none: what ends its body may decode to nothing. */
  if (t->credit <= 0 && !slot->decoder) {
    t->out_of_credit = true;
    errand__loop_review(slot->realm->loop, t);
  }
  errand__loop_flush_later(slot->realm->loop, t);
}

/* How many decoded bytes may come now. */
static int64_t decoded_allowance(const errand__transfer *t) {
  int64_t left = t->limit_decoded_bytes - t->body_bytes;
  return is_streamed(t) && t->credit < left ? t->credit : left;
}

#define DECODED_ROOM_MIN 512u
#define DECODED_ROOM_MAX 65536u

/* Decodes into the payload, no more than is allowed. *filled: there may be more
   to come from this input. */
static errand_status decode_some(errand__slot *slot, errand__input *input,
                                 int64_t allowed, bool *filled) {
  errand__transfer *t = slot->transfer;
  size_t least = input->left * 4;
  least = least < DECODED_ROOM_MIN ? DECODED_ROOM_MIN : least;
  least = least > DECODED_ROOM_MAX ? DECODED_ROOM_MAX : least;
  if ((uint64_t) allowed < least)
    least = (size_t) allowed;
  errand__room room = {NULL, 0};
  if (open_payload(slot, least))
    room.at = errand__payload_room(&t->payload, least, &room.left);
  if (!room.at)
    return ERRAND_OUT_OF_MEMORY;
  if ((uint64_t) allowed < room.left)
    room.left = (size_t) allowed;
  size_t given = room.left;
  errand_status status = errand__decoder_run(slot->decoder, input, &room);
  size_t n = given - room.left;
  if (!discards(t))
    errand__payload_extend(t->payload, n);
  if (n > 0) {
    count_body(slot, n);
  } else if (is_streamed(t) && t->payload->body_length == 0) {
    errand_payload_free(t->payload); /* no chunk of nothing */
    t->payload = NULL;
  }
  *filled = room.left == 0;
  return status;
}

/*
 * Decodes a chunk into the payload. A streamed body stops where its credit is
 * used up: libcurl keeps the chunk, and gives it again from its first byte when
 * there is credit, perhaps cut or joined anew; `decoded_ahead` says how much of
 * it the decoder has.
 */
static size_t decode_body(errand__slot *slot, const char *bytes, size_t n) {
  errand__transfer *t = slot->transfer;
  size_t ahead = slot->decoded_ahead < n ? slot->decoded_ahead : n;
  errand__input input = {(const uint8_t *) bytes + ahead, n - ahead};
  errand_status status = ERRAND_OK;
  bool more = true;
  slot->decoded_ahead -= ahead;
  while (more && status == ERRAND_OK) {
    int64_t allowed = decoded_allowance(t);
    if (allowed > 0) {
      status = decode_some(slot, &input, allowed, &more);
      continue;
    }
    status = errand__decoder_look(slot->decoder, &input, &more);
    if (status != ERRAND_OK || !more)
      continue;
    if (t->body_bytes >= t->limit_decoded_bytes)
      return give_up(t, ERRAND_LIMIT_DECODED_BYTES);
    slot->decoded_ahead += n - input.left;
    return pause_body(slot, n);
  }
  if (status == ERRAND_OK)
    return n;
  slot->words = errand__decoder_words(slot->decoder);
  return give_up(t, status);
}

void errand__slot_drop_decoder(errand__slot *slot) {
  errand__decoder_free(slot->decoder);
  slot->decoder = NULL;
  slot->decoded_ahead = 0;
  slot->words = NULL;
}

static size_t take_body(errand__slot *slot, const char *bytes, size_t n) {
  errand__transfer *t = slot->transfer;
  size_t room = n;
  if (n == 0 || t->dropped)
    return 0;
  if (!t->head_done) {
    /* A line of the head, which CURLOPT_HEADER has libcurl show here before it
       stores it (ERRAND__CURL_KEEPS_FREED_FIELDS); or a body without one. */
    bool good = slot->shows_head && !continues_nothing(t, bytes);
    return good ? n : give_up(t, ERRAND_MALFORMED_RESPONSE);
  }
  t->activity_ms = slot->realm->loop->now_ms;
  if (t->head_held && !errand__head_release(slot))
    return give_up(t, ERRAND_OUT_OF_MEMORY);
  if (t->paused)
    return errand__hold_back(slot, n);
  if (is_streamed(t) && t->credit <= 0 && !slot->decoder)
    return pause_body(slot, n);
  if (!t->body_begun) {
    errand_status status = begin_body(slot, n, &room);
    if (status != ERRAND_OK)
      return give_up(t, status);
  }
  if (slot->decoder)
    return errand__wire_limit_passed(slot) ? give_up(t, ERRAND_LIMIT_BODY_BYTES)
                                           : decode_body(slot, bytes, n);
  count_body(slot, n);
  if (errand__wire_limit_passed(slot))
    return give_up(t, ERRAND_LIMIT_BODY_BYTES);
  if (discards(t))
    return n;
  if (!open_payload(slot, room) ||
      !errand__payload_append(&t->payload, bytes, n))
    return give_up(t, ERRAND_OUT_OF_MEMORY);
  return n;
}

/*
 * libcurl reads no more of a TLS record than a body of known length needs. What
 * the server has put behind the body stays in OpenSSL, where it would seem to
 * answer the next request. It is known here alone: at the end of the transfer
 * the connection is nobody's. HTTP/2 has frames of other streams there.
 */
static void look_behind_body(errand__slot *slot) {
  const errand__transfer *t = slot->transfer;
  if (!t->url_parts.secure || t->http_major != 1 || t->content_length < 0 ||
      t->body_taken < t->content_length ||
      !errand__openssl_has_unread(slot->easy))
    return;
  curl_easy_setopt(slot->easy, CURLOPT_FORBID_REUSE, 1L);
  slot->single_use = true;
}

size_t errand__on_body(char *bytes, size_t size, size_t count, void *context) {
  errand__slot *slot = context;
  size_t n = size * count;
  size_t taken = take_body(slot, bytes, n);
  if (taken == n && slot->transfer->head_done) {
    /* Not CURLINFO_SIZE_DOWNLOAD_T: since 8.7 libcurl counts these bytes after
       this callback. */
    slot->transfer->body_taken += (int64_t) n;
    look_behind_body(slot);
  }
  return taken;
}
