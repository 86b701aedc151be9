#include "transfer/pausing.h"

#include <uv.h>

#include "libcurl/curl_traits.h"
#include "transfer/info.h"

void errand__slot_limit_speed(errand__slot *slot, curl_off_t speed) {
  if (slot->recv_speed == speed)
    return;
  slot->recv_speed = speed;
  curl_easy_setopt(slot->easy, CURLOPT_MAX_RECV_SPEED_LARGE, speed);
}

void errand__slot_unpause(errand__slot *slot) {
  slot->transfer->pause.bits = 0;
  errand__slot_limit_speed(slot, 0);
  if (!errand__curl_does(ERRAND__CURL_KEEPS_PAUSES))
    return;
  /* Setting a limit resets its state (Curl_rlimit_init), and with it the pause.
     curl_easy_pause cannot be used, as it needs a connection. */
  curl_easy_setopt(slot->easy, CURLOPT_MAX_RECV_SPEED_LARGE, (curl_off_t) 0);
  curl_easy_setopt(slot->easy, CURLOPT_MAX_SEND_SPEED_LARGE, (curl_off_t) 0);
}

/* After this time libcurl takes a new stamp of time and size. */
#define STAMP_MS 3000
#define REST_MS 500

/*
 * Slows a transfer down whose response alone is paused: libcurl would read on.
 * A speed limit stops the transfer until its average since libcurl's last stamp
 * is below the limit, which takes half a second, or until the transfer is 3.5 s
 * old. Then libcurl takes a new stamp, and sends and reads at most one buffer a
 * second. So an upload goes on slowly while the response is not read.
 */
static void slow_down(errand__slot *slot, size_t n) {
  const errand__transfer *t = slot->transfer;
  /* libcurl has counted this much or more. */
  int64_t size = t->response.body_taken + (int64_t) n;
  int64_t age = (int64_t) ((uv_hrtime() - t->started_ns) / 1000000);
  int64_t until = (age < STAMP_MS ? STAMP_MS : age) + REST_MS;
  int64_t per_ms = size / until;
  errand__slot_limit_speed(slot, per_ms > 0 ? per_ms * 1000 : 1000);
}

/* Whether libcurl has, or will have, bytes of the request to send. */
static bool has_more_to_send(const errand__slot *slot) {
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

size_t errand__hold_back(errand__slot *slot, size_t n) {
  slot->transfer->pause.bits |= CURLPAUSE_RECV;
  if (errand__curl_does(ERRAND__CURL_READS_ON_WHILE_SENDING) &&
      has_more_to_send(slot))
    slow_down(slot, n);
  slot->agenda->hold(slot);
  return CURL_WRITEFUNC_PAUSE;
}
