#include "transfer/completion.h"

#include <stdio.h>

#include "http/decode.h"
#include "transfer/head.h"
#include "transfer/info.h"
#include "transfer/payload.h"
#include "transfer/wire_limit.h"

/* Whether the body is cut. libcurl before 8.0 takes a lost HTTP/2 connection
   for the end of some of its streams (48cd032623, 544a7f804d). The core relies
   on libcurl only from 8.2 on (ERRAND__CURL_ENDS_CUT_HTTP2_BODIES). */
static bool is_cut(const errand__slot *slot) {
  const errand__transfer *t = slot->transfer;
  if (t->response.http_major != 2 || t->send == ERRAND__SEND_HEAD)
    return false;
  curl_off_t length = errand__info_body_length(slot->easy);
  return length > 0 &&
         (uint64_t) length >
             errand__info_count(slot->easy, CURLINFO_SIZE_DOWNLOAD_T);
}

errand_status errand__check_complete(errand__slot *slot) {
  if (!errand__has_head(&slot->transfer->response))
    return ERRAND_RECEIVE_FAILED;
  if (is_cut(slot))
    return ERRAND_PARTIAL_BODY;
  if (errand__wire_limit_passed(slot))
    return ERRAND_LIMIT_BODY_BYTES;
  if (!slot->decoder || errand__decoder_is_whole(slot->decoder))
    return ERRAND_OK;
  slot->words = errand__decoder_words(slot->decoder);
  return ERRAND_DECODING_FAILED;
}

/* The text for a failure; NULL: there is none. */
static const char *words_of(const errand__slot *slot,
                            const errand_record *record) {
  if (record->status == ERRAND_DECODING_FAILED && slot->words)
    return slot->words;
  if (record->status == ERRAND_ADDRESS_REFUSED)
    return slot->refusal;
  /* If the core gave up, libcurl's text only says that a callback failed. */
  bool ours = slot->transfer->reason != ERRAND_OK &&
              record->status != ERRAND_OUT_OF_DESCRIPTORS;
  return record->curl_code != CURLE_OK && !ours && slot->error[0] ? slot->error
                                                                  : NULL;
}

void errand__complete_payload(errand__slot *slot, bool failed,
                              errand_record *record) {
  errand__transfer *t = slot->transfer;
  const char *text = failed ? words_of(slot, record) : NULL;
  bool trailers = errand__has_head(&t->response) && slot->scratch.length > 0 &&
                  (t->response.payload || errand__head_was_sent(t));
  bool head = !errand__head_was_sent(t) && errand__has_head(&t->response);
  bool ok = true;
  if (!t->response.payload && (text || trailers || head)) {
    if (!head && !trailers)
      slot->scratch.length = 0; /* half a head */
    if (trailers)
      t->response.payload =
          errand__payload_create(NULL, 0, NULL, slot->scratch.length);
    else
      errand__payload_begin(slot, 0);
    ok = t->response.payload != NULL;
  }
  if (ok && trailers)
    ok = errand__payload_set_trailers(&t->response.payload, slot->scratch.bytes,
                                      slot->scratch.length);
  if (ok && text)
    ok = errand__payload_set_text(&t->response.payload, text);
  if (!ok && record->status == ERRAND_OK)
    record->status = ERRAND_OUT_OF_MEMORY;
  record->payload = t->response.payload;
  t->response.payload = NULL;
}

void errand__name_socket(errand__slot *slot, CURLcode code) {
  if (code == CURLE_COULDNT_CONNECT && slot->options->unix_socket)
    snprintf(slot->error, sizeof slot->error,
             "Failed to connect to the socket %s",
             slot->options->unix_socket_path);
}
