#include "transfer/wire_limit.h"

#include "libcurl/curl_traits.h"
#include "transfer/info.h"
#include "transfer/tcp_read.h"

void errand__wire_begin(errand__slot *slot) {
  if (errand__curl_does(ERRAND__CURL_COUNTS_NO_IGNORED_CHUNKS))
    slot->read_with_head = errand__tcp_read(slot->fd);
}

bool errand__wire_limit_passed(const errand__slot *slot) {
  const errand__transfer *t = slot->transfer;
  if (t->response.codings.count == 0 && !errand__is_held(&t->response))
    return t->response.body_bytes > t->limits.body_bytes;
  /* The length of a chunked body that libcurl does not pass on is not known.
     The bytes that were read from the socket are counted instead. They include
     the sizes of the chunks and the overhead of TLS. */
  if (errand__is_held(&t->response) && t->response.content_length < 0 &&
      t->response.http_major == 1 &&
      errand__curl_does(ERRAND__CURL_COUNTS_NO_IGNORED_CHUNKS)) {
    uint64_t now = errand__tcp_read(slot->fd);
    if (now > slot->read_with_head &&
        now - slot->read_with_head > (uint64_t) t->limits.body_bytes)
      return true;
  }
  return errand__info_count(slot->easy, CURLINFO_SIZE_DOWNLOAD_T) >
         (uint64_t) t->limits.body_bytes;
}
