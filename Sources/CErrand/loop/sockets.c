#include "loop/sockets.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/open_error.h"
#include "libcurl/curl_traits.h"
#include "libcurl/openssl.h"
#include "loop/address_filter.h"
#include "loop/admission.h"
#include "loop/descriptors.h"
#include "loop/report.h"
#include "loop/shard.h"
#include "transfer/body.h"
#include "transfer/connection.h"
#include "transfer/deadline.h"
#include "transfer/info.h"

/* Whether libcurl found the kept connection dead after it had sent the request
   on it, and is about to resend the request (Curl_retry_request). */
static bool sends_again(const errand__transfer *t) {
  return t->attempt.connected &&
         t->response.header_bytes == t->attempt.ready_header_bytes;
}

static curl_socket_t on_open(void *context, curlsocktype purpose,
                             struct curl_sockaddr *address) {
  errand__slot *slot = context;
  errand__loop *loop = slot->realm->loop;
  /* CONNECT_FAILED would say that the request was never sent. */
  if (sends_again(slot->transfer) && (slot->transfer->attempt.round_replayed ||
                                      !errand__may_replay(slot->transfer))) {
    slot->transfer->reason = ERRAND_CONNECTION_LOST;
    return CURL_SOCKET_BAD;
  }
  if (purpose == CURLSOCKTYPE_IPCXN && !errand__may_connect(slot, address))
    return CURL_SOCKET_BAD;
  /* The connection before, if any, is given up. */
  slot->fd = -1;
  slot->transfer->attempt.opened = true;
  errand__deadline_reconnect(&loop->agenda, slot->transfer);
  /* libcurl before 8.19 opens sockets that exec inherits. */
  int fd = socket(address->family, address->socktype | SOCK_CLOEXEC,
                  address->protocol);
  if (fd < 0 && errand__lacks_descriptors(errno))
    errand__descriptors_refused(loop, slot->transfer, errno);
  if (fd >= 0 && !errand__fd_opened(&loop->fds, fd, slot->shard)) {
    close(fd);
    slot->transfer->reason = ERRAND_OUT_OF_MEMORY;
    return CURL_SOCKET_BAD;
  }
  if (slot->transfer->may_http2)
    errand__fd_set_may_speak(&loop->fds, fd, true);
  return fd;
}

static int on_close(void *context, curl_socket_t fd) {
  errand__loop *loop = context;
  errand__fd_closing(&loop->fds, fd);
  return close(fd);
}

/* libcurl answers the challenge that has come. Nothing of that response belongs
   to the next, not even its trailers, which libcurl passes on. */
static void another_round(errand__slot *slot) {
  errand__transfer *t = slot->transfer;
  t->phase = ERRAND__SENDING;
  errand__response_next_round(&t->response);
  errand__slot_drop_decoder(slot);
  t->attempt.round_replayed = false;
  slot->scratch.length = 0;
}

/* Whether the connection may be of HTTP/2. With prior knowledge HTTP/2 needs no
   ALPN. */
static bool may_be_http2(const errand__slot *slot) {
  const errand__transfer *t = slot->transfer;
  return t->may_http2 &&
         (!t->url_parts.secure || slot->options->prior_knowledge ||
          !errand__openssl_chose_http1(slot->easy));
}

/* libcurl is about to send the request, and has sent it before. */
static void count_resend(errand__attempt *attempt, bool again) {
  uint8_t *count = again ? &attempt->resends : &attempt->rounds;
  if (*count < UINT8_MAX)
    ++*count;
}

static int on_ready(void *context, char *remote, char *local, int remote_port,
                    int local_port) {
  errand__slot *slot = context;
  errand__transfer *t = slot->transfer;
  errand__loop *loop = slot->realm->loop;
  (void) remote, (void) local, (void) remote_port;
  /* The reason why other addresses could not be used does not matter any more.
   */
  t->reason = ERRAND_OK;
  t->attempt.address_refused = t->attempt.reconnecting = false;
  /* libcurl starts a request over if RST_STREAM asks for HTTP/1.1, and if the
     first round of another stream's Digest misleads it (end_of_head in head.c).
     That must not happen after a HEAD record, nor if the request has a response
     and must not be sent twice. */
  bool answered = errand__has_head(&t->response) &&
                  t->response.http_status < 300 && !t->upload.left_out;
  if (t->phase == ERRAND__RECEIVING &&
      (t->response.head_reported || (answered && !errand__may_replay(t)))) {
    t->reason = ERRAND_PROTOCOL_ERROR;
    return CURL_PREREQFUNC_ABORT;
  }
  bool again = sends_again(t);
  bool opened = t->attempt.opened;
  /* Not before 8.2, where libcurl closes sockets that never connected without a
     report. */
  if (opened && errand__curl_does(ERRAND__CURL_READS_AT_ONCE))
    errand__fd_connected(&loop->fds, slot->fd);
  if (opened && t->may_http2)
    errand__shard_connected(slot->shard);
  t->attempt.opened = false;
  if (opened)
    t->attempt.stale_error =
        (uint16_t) errand__info_long(slot->easy, CURLINFO_OS_ERRNO);
  /* The connection is a kept one. libcurl reports its socket when it waits for
     the connection, which may be after a pause. The socket of an earlier round
     may be a different one. */
  if (!opened)
    slot->fd = -1;
  /* A request is resent at most once (RFC 9110 9.2.2). Each round of an
     authentication counts as a separate request. */
  if (again && (t->attempt.round_replayed || !errand__may_replay(t))) {
    t->reason = ERRAND_CONNECTION_LOST;
    return CURL_PREREQFUNC_ABORT;
  }
  /* Another kept connection may be dead too: errand__collect gives the request
     a new one. HTTP/2 streams share a connection, and a stream that one
     connection refused may use the next, also if that one is of HTTP/1.1
     (HTTP_1_1_REQUIRED). So the connection before this one decides. */
  if (again && !opened && !t->attempt.http2) {
    t->attempt.wants_fresh = true;
    return CURL_PREREQFUNC_ABORT;
  }
  if ((t->flags & ERRAND_REQUEST_REPORT_CONNECTION) &&
      (opened || again || !t->attempt.connected ||
       (uint16_t) local_port != t->attempt.local_port) &&
      !errand__connection_report(slot, !opened)) {
    t->reason = ERRAND_OUT_OF_MEMORY;
    return CURL_PREREQFUNC_ABORT;
  }
  if ((t->flags & ERRAND_REQUEST_REPORT_EVENTS) && !t->attempt.connected &&
      !errand__report_event(loop, t, ERRAND_RECORD_SENT)) {
    t->reason = ERRAND_OUT_OF_MEMORY;
    return CURL_PREREQFUNC_ABORT;
  }
  if (t->attempt.connected)
    count_resend(&t->attempt, again);
  t->attempt.replayed |= again;
  t->attempt.round_replayed |= again;
  t->attempt.sent_body |= t->attempt.connected && !t->upload.left_out &&
                          t->send >= ERRAND__SEND_MEMORY;
  t->attempt.connected = true;
  t->attempt.http2 = may_be_http2(slot);
  t->attempt.local_port = (uint16_t) local_port;
  t->attempt.ready_header_bytes = t->response.header_bytes;
  t->sent_ms = t->activity_ms = loop->agenda.now_ms;
  /* The first round of Digest goes without the body. */
  bool asking = t->username && t->response.header_bytes == 0;
  t->upload.left_out = asking && t->send >= ERRAND__SEND_CUSTOM;
  t->upload.done =
      asking || errand__is_websocket(t) ||
      (!t->upload.source && t->upload.body_length <= ERRAND__SENT_AT_ONCE);
  if (t->phase == ERRAND__RECEIVING)
    another_round(slot);
  if (t->phase == ERRAND__CONNECTING) {
    t->phase = ERRAND__SENDING;
    errand__origin_connected(loop, t);
  }
  /* libcurl starts unpaused when it begins to connect, even for a resend, but
     keeps a pause that was set while it connects. So the pause is set once
     more, after the callbacks of this turn. */
  bool asked = t->pause.bits != 0;
  t->pause.bits = asked ? ERRAND__PAUSE_UNKNOWN : 0;
  t->upload.starved = t->upload.peer_gone = false;
  if (asked || t->pause.asked || t->pause.out_of_credit)
    errand__agenda_review(&loop->agenda, t);
  errand__deadline_set(&loop->agenda, t);
  return CURL_PREREQFUNC_OK;
}

/* The same with an address filter. The connection may be a kept one, made for
   another request, or at a time when the filter still allowed its address. */
static int on_ready_to_ask(void *context, char *remote, char *local,
                           int remote_port, int local_port) {
  errand__slot *slot = context;
  errand__transfer *t = slot->transfer;
  if (errand__may_send(slot, remote, remote_port))
    return on_ready(context, remote, local, remote_port, local_port);
  /* The host may have other addresses, so errand__collect gives the request a
     new connection. That happens once, and while nothing was sent. */
  bool may_leave = !t->attempt.opened && !t->attempt.left_connection &&
                   !t->attempt.connected;
  t->attempt.wants_fresh = t->attempt.left_connection = may_leave;
  if (!may_leave)
    t->reason = ERRAND_ADDRESS_REFUSED;
  return CURL_PREREQFUNC_ABORT;
}

bool errand__sockets_attach(errand__slot *slot) {
  CURL *easy = slot->easy;
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION,
                   errand__has_address_filter(slot) ? on_ready_to_ask
                                                    : on_ready);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_close);
  return curl_easy_setopt(easy, CURLOPT_PREREQDATA, slot) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, slot) == CURLE_OK &&
         /* libcurl copies this into the connection, which outlives the slot. */
         curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, slot->realm->loop) ==
             CURLE_OK;
}
