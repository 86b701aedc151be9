#include "transfer/pausing.h"

#include "libcurl/curl_traits.h"
#include "transfer/info.h"

void errand__slot_rest(errand__slot *slot, bool resting) {
  if (slot->resting == resting)
    return;
  slot->resting = resting;
  slot->rounds_left = slot->rounds_after_upload = 0;
  errand__slot_limit_speed(slot, resting);
}

void errand__slot_limit_speed(errand__slot *slot, bool limited) {
  curl_easy_setopt(slot->easy, CURLOPT_MAX_RECV_SPEED_LARGE,
                   (curl_off_t) (limited ? 1 : 0));
}

void errand__slot_unpause(errand__slot *slot) {
  slot->transfer->pause.bits = 0;
  errand__slot_rest(slot, false);
  if (!errand__curl_does(ERRAND__CURL_KEEPS_PAUSES))
    return;
  /* Setting a limit resets its state (Curl_rlimit_init), and with it the pause.
     curl_easy_pause cannot be used, as it needs a connection. */
  curl_easy_setopt(slot->easy, CURLOPT_MAX_RECV_SPEED_LARGE, (curl_off_t) 0);
  curl_easy_setopt(slot->easy, CURLOPT_MAX_SEND_SPEED_LARGE, (curl_off_t) 0);
}

bool errand__has_more_to_send(const errand__slot *slot) {
  const errand__transfer *t = slot->transfer;
  int64_t length = errand__transfer_upload_length(t);
  if (errand__is_websocket(t))
    return true;
  if (t->send < ERRAND__SEND_MEMORY || t->upload.done)
    return false;
  return length == ERRAND_LENGTH_UNKNOWN ||
         errand__info_count(slot->easy, CURLINFO_SIZE_UPLOAD_T) <
             (uint64_t) length;
}

size_t errand__hold_back(errand__slot *slot) {
  slot->transfer->pause.bits |= CURLPAUSE_RECV;
  if (errand__curl_does(ERRAND__CURL_READS_ON_WHILE_SENDING) &&
      errand__has_more_to_send(slot))
    errand__slot_rest(slot, true);
  slot->agenda->hold(slot);
  return CURL_WRITEFUNC_PAUSE;
}
