#include "transfer/result.h"

#include <string.h>

#include "base/heap.h"
#include "libcurl/curl_traits.h"
#include "transfer/info.h"

/*
 * The status for a TLS alert of the peer, found by OpenSSL's text ("... tlsv13
 * alert certificate required"); ERRAND_OK if there was none. With TLS 1.3 the
 * client's handshake has ended when the server refuses the client's
 * certificate, so the alert comes as an error of sending or receiving. Before
 * any other alert the server may have read the request. TLS_FAILED says that it
 * has not, so this status is only for alerts while the transfer connects.
 */
static errand_status alert_status(const errand__slot *slot) {
  const char *alert = strstr(slot->error, " alert ");
  if (!alert || slot->transfer->response.header_bytes > 0)
    return ERRAND_OK;
  if (strstr(alert, "certificate") || strstr(alert, "unknown ca") ||
      strstr(alert, "access denied"))
    return ERRAND_TLS_CREDENTIALS;
  return errand__is_connecting(slot->transfer) ? ERRAND_TLS_FAILED : ERRAND_OK;
}

static bool used_proxy(const errand__slot *slot) {
  return errand__info_long(slot->easy, ERRAND__INFO_USED_PROXY) != 0;
}

/* A proxy's refusal of CONNECT is CURLE_COULDNT_CONNECT since 8.20, and
   CURLE_RECV_ERROR before. */
static errand_status connect_status(const errand__slot *slot) {
  const errand__transfer *t = slot->transfer;
  if (strstr(slot->error, "CONNECT tunnel failed"))
    return ERRAND_PROXY_FAILED;
  /* No socket was opened: libcurl remembers that the name did not resolve. */
  if (!t->attempt.opened && !t->attempt.address_refused &&
      errand__curl_does(ERRAND__CURL_HIDES_FAILED_NAMES))
    return used_proxy(slot) ? ERRAND_PROXY_FAILED : ERRAND_RESOLVE_FAILED;
  /* If an address was tried and failed, that failure is the reason. */
  return t->attempt.address_refused && !t->attempt.opened
             ? ERRAND_ADDRESS_REFUSED
             : ERRAND_CONNECT_FAILED;
}

/* 7.88.1 reports CURLE_RECV_ERROR for a proxy's refusal of CONNECT, for broken
   chunks and for a reset. */
static errand_status receive_status(const errand__slot *slot) {
  const errand__transfer *t = slot->transfer;
  if (errand__is_connecting(t)) {
    if (errand__info_long(slot->easy, CURLINFO_HTTP_CONNECTCODE) != 0 ||
        errand__options_proxy(slot->options, t->url_parts.secure)[0])
      return ERRAND_PROXY_FAILED;
    return ERRAND_CONNECT_FAILED;
  }
  if (t->phase == ERRAND__SENDING)
    return ERRAND_CONNECTION_LOST;
  if (strstr(slot->error, "Too large response headers"))
    return ERRAND_LIMIT_HEADER_BYTES; /* 300 KB in all, CVE-2023-38039 */
  return strstr(slot->error, "chunk") ? ERRAND_MALFORMED_RESPONSE
                                      : ERRAND_RECEIVE_FAILED;
}

/* 8.21.0 cannot write the URL of an IPv6 literal for an HTTP proxy. */
static bool lacks_ipv6_by_proxy(const errand__slot *slot) {
  const errand__transfer *t = slot->transfer;
  return errand__curl_does(ERRAND__CURL_LACKS_IPV6_BY_PROXY) &&
         !t->url_parts.secure && strstr(t->url, "://[") &&
         errand__options_proxy(slot->options, false)[0];
}

/* With "socks5://" this side resolves the host behind the proxy. */
static errand_status proxy_status(const errand__slot *slot) {
  return errand__info_long(slot->easy, CURLINFO_PROXY_ERROR) ==
                 CURLPX_RESOLVE_HOST
             ? ERRAND_RESOLVE_FAILED
             : ERRAND_PROXY_FAILED;
}

errand_status errand__status_of(const errand__slot *slot, CURLcode code) {
  const errand__transfer *t = slot->transfer;
  if (code != CURLE_OK && t->reason != ERRAND_OK)
    return t->reason;
  errand_status alert = ERRAND_OK;
  if (code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR ||
      code == CURLE_SSL_CONNECT_ERROR)
    alert = alert_status(slot);
  if (alert != ERRAND_OK)
    return alert;
  switch ((int) code) {
  case CURLE_OK:
    return ERRAND_OK;
  case CURLE_URL_MALFORMAT:
    return ERRAND_INVALID_URL;
  case CURLE_UNSUPPORTED_PROTOCOL: /* also an HTTP/0.9 answer */
    return errand__is_connecting(t) ? ERRAND_UNSUPPORTED_SCHEME
                                    : ERRAND_MALFORMED_RESPONSE;
  case CURLE_COULDNT_RESOLVE_PROXY:
    return ERRAND_PROXY_FAILED;
  case CURLE_PROXY:
    return proxy_status(slot);
  case CURLE_COULDNT_RESOLVE_HOST:
    return ERRAND_RESOLVE_FAILED;
  case CURLE_COULDNT_CONNECT:
  case CURLE_INTERFACE_FAILED:
    return connect_status(slot);
  case CURLE_OPERATION_TIMEDOUT:
    return errand__is_connecting(t) ? ERRAND_TIMEOUT_CONNECT
                                    : ERRAND_TIMEOUT_IDLE;
  case CURLE_SSL_CONNECT_ERROR:
  case CURLE_SSL_CIPHER:
  case CURLE_USE_SSL_FAILED:
    return errand__is_connecting(t) ? ERRAND_TLS_FAILED
                                    : ERRAND_CONNECTION_LOST;
  case CURLE_PEER_FAILED_VERIFICATION:
  case CURLE_SSL_ISSUER_ERROR:
  case CURLE_SSL_INVALIDCERTSTATUS:
    return ERRAND_TLS_UNTRUSTED;
  case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
    return ERRAND_TLS_PIN_MISMATCH;
  case CURLE_SSL_CERTPROBLEM:
  case CURLE_SSL_CACERT_BADFILE:
  case CURLE_SSL_CRL_BADFILE:
  case CURLE_SSL_CLIENTCERT:
    return ERRAND_TLS_CREDENTIALS;
  case CURLE_BAD_FUNCTION_ARGUMENT: /* of 8.20, for a key that it cannot open */
    return errand__is_connecting(t) && slot->options->client_certificate
               ? ERRAND_TLS_CREDENTIALS
               : ERRAND_INVALID_OPTION;
  case CURLE_GOT_NOTHING:
    return ERRAND_CONNECTION_LOST;
  case CURLE_SEND_ERROR:
    if (errand__is_connecting(t))
      return connect_status(slot);
    /* HTTP/2 also sends while it receives, for flow control. */
    return t->response.http_major == 2 && errand__has_head(&t->response) &&
                   t->upload.done
               ? receive_status(slot)
               : ERRAND_SEND_FAILED;
  case CURLE_RECV_ERROR:
    return receive_status(slot);
  case CURLE_PARTIAL_FILE:
    return ERRAND_PARTIAL_BODY;
  case CURLE_WEIRD_SERVER_REPLY:
    return ERRAND_MALFORMED_RESPONSE;
  case CURLE_HTTP2:
  case CURLE_HTTP2_STREAM:
    return ERRAND_PROTOCOL_ERROR;
  case CURLE_BAD_CONTENT_ENCODING: /* of a transfer coding; content codings are
                                      the core's and have a reason */
  case CURLE_WRITE_ERROR:
    return ERRAND_DECODING_FAILED;
  case CURLE_READ_ERROR:
    return ERRAND_UPLOAD_FAILED;
  case CURLE_SEND_FAIL_REWIND:
    return ERRAND_UPLOAD_NOT_REPLAYABLE;
  case CURLE_FILESIZE_EXCEEDED:
    return ERRAND_LIMIT_BODY_BYTES;
  case ERRAND__CURLE_TOO_LARGE:
    return ERRAND_LIMIT_HEADER_BYTES;
  case CURLE_OUT_OF_MEMORY:
    /* 7.88.1 reports this code for a header line above 100 KiB. If the program
       has its own allocator for libcurl, the two cases cannot be told apart. */
    if (!errand__is_connecting(t) && !errand__has_head(&t->response) &&
        errand__curl_does(ERRAND__CURL_LACKS_MEMORY_FOR_LONG_LINES) &&
        t->heap_failures == errand__heap_failures())
      return ERRAND_LIMIT_HEADER_BYTES;
    return lacks_ipv6_by_proxy(slot) ? ERRAND_UNSUPPORTED_FEATURE
                                     : ERRAND_OUT_OF_MEMORY;
  case CURLE_NOT_BUILT_IN:
  case CURLE_UNKNOWN_OPTION:
    return ERRAND_UNSUPPORTED_FEATURE;
  default:
    return errand__is_connecting(t) ? ERRAND_CONNECT_FAILED
                                    : ERRAND_RECEIVE_FAILED;
  }
}

/* Writes an address, which is not empty, and the port.
   Returns: the end of the text. */
static char *write_address(char *out, const char *ip, long port) {
  size_t length = strnlen(ip, ERRAND__ADDRESS_MAX - 10);
  bool v6 = memchr(ip, ':', length) != NULL;
  if (v6)
    *out++ = '[';
  memcpy(out, ip, length);
  out += length;
  if (v6)
    *out++ = ']';
  *out++ = ':';
  /* snprintf would cost a tenth of all the work for a request. */
  char digits[8];
  int count = 0;
  do {
    digits[count++] = (char) ('0' + port % 10);
    port /= 10;
  } while (port > 0 && count < 5);
  while (count > 0)
    *out++ = digits[--count];
  return out;
}

void errand__addresses(CURL *easy, char *out) {
  char *ip = NULL;
  long port = 0;
  curl_easy_getinfo(easy, CURLINFO_PRIMARY_IP, &ip);
  if (ip && ip[0]) {
    curl_easy_getinfo(easy, CURLINFO_PRIMARY_PORT, &port);
    out = write_address(out, ip, port);
    ip = NULL;
    curl_easy_getinfo(easy, CURLINFO_LOCAL_IP, &ip);
    if (ip && ip[0]) {
      *out++ = ' ';
      curl_easy_getinfo(easy, CURLINFO_LOCAL_PORT, &port);
      out = write_address(out, ip, port);
    }
  }
  *out = '\0';
}

static uint32_t clamped(uint64_t count) {
  return count < UINT32_MAX ? (uint32_t) count : UINT32_MAX;
}

/* The least number of bytes that the head of a request has. */
static uint64_t least_head(const errand__transfer *t) {
  uint64_t length = 0;
  for (const struct curl_slist *l = t->headers; l; l = l->next)
    length += strlen(l->data) + 2;
  return length;
}

/*
 * The bytes of all heads that libcurl sent. `body`: the bytes of the body.
 * CURLINFO_REQUEST_SIZE is the sum of the bytes that libcurl sent: the heads,
 * and from 8.7 on the body (Curl_xfer_send). Before 8.7 the sum includes the
 * part of a body in memory that was sent in one piece with the head
 * (Curl_buffer_send).
 * Returns: 0: not known.
 */
static uint64_t head_bytes_sent(const errand__slot *slot, uint64_t body) {
  const errand__transfer *t = slot->transfer;
  long size = errand__info_long(slot->easy, CURLINFO_REQUEST_SIZE);
  uint64_t all = size > 0 ? (uint64_t) size : 0;
  bool joined = t->send == ERRAND__SEND_MEMORY && t->response.http_major != 2 &&
                t->upload.body_length < ERRAND__SENT_AT_ONCE;
  if (!joined && !errand__curl_does(ERRAND__CURL_COUNTS_BODIES_WITH_HEADS))
    return all;
  /* `body` counts only the last send, `all` also the sends before it. */
  if (body > 0 && (t->attempt.replayed || t->attempt.sent_body))
    return 0;
  return all >= body + least_head(t) ? all - body : 0;
}

/* libcurl never resets the errno that it reports. Once a connection is ready,
   the errno may be the one of an address that was tried before. After a resend
   both connections may have failed with the same errno. */
static int32_t os_error_of(const errand__slot *slot, CURLcode code) {
  const errand__transfer *t = slot->transfer;
  bool at_socket = t->attempt.replayed &&
                   (code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR);
  long error = errand__info_long(slot->easy, CURLINFO_OS_ERRNO);
  bool stale = !errand__is_connecting(t) && !at_socket &&
               error == t->attempt.stale_error;
  return stale ? 0 : (int32_t) error;
}

void errand__record_fill(const errand__slot *slot, CURLcode code,
                         errand_record *record) {
  errand__transfer *t = slot->transfer;
  CURL *easy = slot->easy;
  record->curl_code = code;
  if (code != CURLE_OK)
    record->os_error = os_error_of(slot, code);
  record->http_status =
      errand__has_head(&t->response) ? t->response.http_status : 0;
  record->http_major = t->response.http_major;
  record->http_minor = t->response.http_minor;
  long connects = errand__info_long(easy, CURLINFO_NUM_CONNECTS);
  if (t->phase >= ERRAND__SENDING && connects == 0)
    record->flags |= ERRAND_RECORD_REUSED;
  if (t->attempt.replayed)
    record->flags |= ERRAND_RECORD_REPLAYED;
  record->resends = t->attempt.resends;
  record->rounds = t->attempt.rounds;
  t->attempt.resends = t->attempt.rounds = 0;
  record->bytes_received = errand__info_count(easy, CURLINFO_SIZE_DOWNLOAD_T);
  if (t->response.codings.count > 0 && record->bytes_received > 0)
    record->flags |= ERRAND_RECORD_DECODED;
  record->bytes_sent = errand__info_count(easy, CURLINFO_SIZE_UPLOAD_T);
  if (t->flags & ERRAND_REQUEST_COUNT_HEADS) {
    record->head_bytes_sent =
        clamped(head_bytes_sent(slot, record->bytes_sent));
    record->head_bytes_received = clamped((uint64_t) t->response.header_bytes);
  }
  errand_timings *timings = &record->timings;
  /* For a reused connection libcurl reports the time to find it. */
  if (!(record->flags & ERRAND_RECORD_REUSED)) {
    timings->resolved = errand__info_count(easy, CURLINFO_NAMELOOKUP_TIME_T);
    timings->connected = errand__info_count(easy, CURLINFO_CONNECT_TIME_T);
    timings->secured = errand__info_count(easy, CURLINFO_APPCONNECT_TIME_T);
  }
  timings->sent = errand__info_count(easy, CURLINFO_PRETRANSFER_TIME_T);
  timings->first_byte = errand__info_count(easy, CURLINFO_STARTTRANSFER_TIME_T);
  timings->total = errand__info_count(easy, CURLINFO_TOTAL_TIME_T);
}
