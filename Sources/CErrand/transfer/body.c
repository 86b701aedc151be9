#include "transfer/body.h"

#include "http/decode.h"
#include "libcurl/openssl.h"
#include "transfer/head.h"
#include "transfer/info.h"
#include "transfer/pausing.h"
#include "transfer/payload.h"
#include "transfer/wire_limit.h"

/* The most bytes that are reserved at once for a body whose length is given.
   The length may be a lie, so more is reserved only as bytes come. */
#define RESERVE_MAX 8388608

/* A chunk of a streamed body is no larger than its credit. */
static int64_t most_reserved(const errand__transfer *t) {
  return errand__is_streamed(t) && t->response.credit < RESERVE_MAX
             ? t->response.credit
             : RESERVE_MAX;
}

/* The first byte of the body: refuses a body that is known to be too long, and
   sets *room to the room that the body needs. */
static errand_status begin_body(errand__slot *slot, size_t n, size_t *room) {
  errand__transfer *t = slot->transfer;
  errand__response_begin_body(&t->response);
  curl_off_t length = errand__info_body_length(slot->easy);
  if (length > t->limits.body_bytes)
    return ERRAND_LIMIT_BODY_BYTES;
  if (t->response.codings.count > 0)
    return errand__decoder_create(&t->response.codings, &slot->decoder,
                                  &slot->words);
  int64_t most = most_reserved(t);
  if (length > (curl_off_t) n && most > (int64_t) n)
    *room = (size_t) (length < most ? length : most);
  return ERRAND_OK;
}

static size_t pause_body(errand__slot *slot) {
  slot->transfer->pause.out_of_credit = true;
  return errand__hold_back(slot);
}

/* Makes sure that there is a payload with room for the body. */
static bool open_payload(errand__slot *slot, size_t room) {
  errand__transfer *t = slot->transfer;
  if (t->response.payload)
    return true;
  size_t inner = t->body_memory ? 0 : room;
  if (!errand__is_streamed(t))
    errand__payload_begin(slot, inner);
  else
    t->response.payload = errand__payload_create(NULL, 0, NULL, inner);
  if (!t->response.payload || !t->body_memory)
    return t->response.payload != NULL;
  if (errand__payload_place_body(t->response.payload, t->body_memory, room))
    return true;
  if (errand__is_streamed(t)) {
    errand_payload_free(t->response.payload); /* no empty chunk */
    t->response.payload = NULL;
  }
  return false;
}

static bool discards(const errand__transfer *t) {
  return (t->flags & ERRAND_REQUEST_DISCARD_BODY) && !errand__is_streamed(t);
}

/* Counts bytes of the body that are about to go into the payload. */
static void count_body(errand__slot *slot, size_t n) {
  errand__transfer *t = slot->transfer;
  t->response.body_bytes += (int64_t) n;
  if (!errand__is_streamed(t))
    return;
  t->response.credit -= (int64_t) n;
  /* A decoder goes on without credit until it has a byte that needs credit: the
     bytes that end a body may decode to nothing. */
  if (t->response.credit <= 0 && !slot->decoder) {
    t->pause.out_of_credit = true;
    errand__agenda_review(slot->agenda, t);
  }
  errand__agenda_flush(slot->agenda, t);
}

/* How many decoded bytes the limit and the credit allow now. */
static int64_t decoded_allowance(const errand__transfer *t) {
  int64_t left = t->limits.decoded_bytes - t->response.body_bytes;
  return errand__is_streamed(t) && t->response.credit < left
             ? t->response.credit
             : left;
}

#define DECODED_ROOM_MIN 512u
#define DECODED_ROOM_MAX 65536u

/* Decodes into the payload, `allowed` bytes at most. Sets *filled if this input
   may give more bytes. */
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
    room.at = errand__payload_room(&t->response.payload, least, &room.left);
  if (!room.at)
    return ERRAND_OUT_OF_MEMORY;
  if ((uint64_t) allowed < room.left)
    room.left = (size_t) allowed;
  size_t given = room.left;
  errand_status status = errand__decoder_run(slot->decoder, input, &room);
  size_t n = given - room.left;
  if (!discards(t))
    errand__payload_extend(t->response.payload, n);
  if (n > 0) {
    count_body(slot, n);
  } else if (errand__is_streamed(t) &&
             errand_payload_body(t->response.payload).length == 0) {
    errand_payload_free(t->response.payload); /* no empty chunk */
    t->response.payload = NULL;
  }
  *filled = room.left == 0;
  return status;
}

/*
 * Decodes a chunk into the payload. The decoding of a streamed body stops when
 * its credit is used up. libcurl then keeps the whole chunk. It passes the
 * chunk again when there is credit, perhaps divided in another way.
 * `decoded_ahead` is the number of its bytes that the decoder has already
 * taken.
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
    if (t->response.body_bytes >= t->limits.decoded_bytes)
      return errand__give_up(t, ERRAND_LIMIT_DECODED_BYTES);
    slot->decoded_ahead += n - input.left;
    return pause_body(slot);
  }
  if (status == ERRAND_OK)
    return n;
  slot->words = errand__decoder_words(slot->decoder);
  return errand__give_up(t, status);
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
  if (!errand__has_head(&t->response)) {
    /* With CURLOPT_HEADER libcurl passes each line of the head to this callback
       before it stores the line (ERRAND__CURL_KEEPS_FREED_FIELDS). Anything
       else is a body without a head. */
    bool good =
        slot->shows_head && !errand__continues_nothing(&t->response, bytes);
    return good ? n : errand__give_up(t, ERRAND_MALFORMED_RESPONSE);
  }
  t->activity_ms = slot->agenda->now_ms;
  if (errand__is_held(&t->response) && !errand__head_release(slot))
    return errand__give_up(t, ERRAND_OUT_OF_MEMORY);
  if (t->pause.asked)
    return errand__hold_back(slot);
  if (errand__is_streamed(t) && t->response.credit <= 0 && !slot->decoder)
    return pause_body(slot);
  if (!errand__has_body(&t->response)) {
    errand_status status = begin_body(slot, n, &room);
    if (status != ERRAND_OK)
      return errand__give_up(t, status);
  }
  if (slot->decoder)
    return errand__wire_limit_passed(slot)
               ? errand__give_up(t, ERRAND_LIMIT_BODY_BYTES)
               : decode_body(slot, bytes, n);
  count_body(slot, n);
  if (errand__wire_limit_passed(slot))
    return errand__give_up(t, ERRAND_LIMIT_BODY_BYTES);
  if (discards(t))
    return n;
  if (!open_payload(slot, room) ||
      !errand__payload_append(&t->response.payload, bytes, n))
    return errand__give_up(t, ERRAND_OUT_OF_MEMORY);
  return n;
}

/*
 * Looks for bytes that the server put behind the body into the same TLS record.
 * If there are any, the connection is not reused. libcurl reads no more of a
 * record than a body of known length needs, so such bytes stay in OpenSSL, and
 * would seem to answer the next request. This is the last moment to find them,
 * as the connection has no transfer afterwards. With HTTP/2 such bytes are
 * frames of other streams.
 */
static void look_behind_body(errand__slot *slot) {
  const errand__transfer *t = slot->transfer;
  if (!t->url_parts.secure || t->response.http_major != 1 ||
      t->response.content_length < 0 ||
      t->response.body_taken < t->response.content_length ||
      !errand__openssl_has_unread(slot->easy))
    return;
  curl_easy_setopt(slot->easy, CURLOPT_FORBID_REUSE, 1L);
  slot->single_use = true;
}

size_t errand__on_body(char *bytes, size_t size, size_t count, void *context) {
  errand__slot *slot = context;
  size_t n = size * count;
  size_t taken = take_body(slot, bytes, n);
  if (taken == n && errand__has_head(&slot->transfer->response)) {
    /* Not CURLINFO_SIZE_DOWNLOAD_T: since 8.7 libcurl adds these bytes after
       this callback. */
    slot->transfer->response.body_taken += (int64_t) n;
    look_behind_body(slot);
  }
  return taken;
}
