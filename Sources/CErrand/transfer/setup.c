#include "transfer/setup.h"

#include <stdio.h>
#include <string.h>

#include "base/heap.h"
#include "base/mem.h"
#include "libcurl/curl_traits.h"
#include "libcurl/jar.h"
#include "libcurl/process.h"
#include "transfer/body.h"
#include "transfer/feed.h"
#include "transfer/head.h"
#include "transfer/pausing.h"
#include "transfer/source.h"
#include "transfer/tls_context.h"

/* DEFAULT_CONNECT_TIMEOUT of lib/connect.h. */
#define CURL_CONNECT_MS 300000

/* libcurl reads up to 32 KB at once from an HTTP/2 connection. */
#define ROOMY_BUFFER (64L << 10)
/* libcurl borrows this buffer for one read. Bytes of that read which a paused
   response has not taken stay with the response. */
#define BORROWED_BUFFER (128L << 10)
/* libcurl allocates this and a NUL, and the heap returns the buffer that all
   transfers of the loop share. */
#define SHARED_BUFFER ((long) ERRAND__HEAP_SHARED - 1)

/* Keeps the first refusal of a series of calls. */
typedef struct setter {
  CURL *easy;
  CURLcode code;
} setter;

static void number(setter *s, CURLoption option, long value) {
  if (s->code == CURLE_OK)
    s->code = curl_easy_setopt(s->easy, option, value);
}

static void pointer(setter *s, CURLoption option, const void *value) {
  if (s->code == CURLE_OK)
    s->code = curl_easy_setopt(s->easy, option, value);
}

static void text_if(setter *s, CURLoption option, const char *value) {
  if (value)
    pointer(s, option, value);
}

static errand_status result(const setter *s) {
  switch (s->code) {
  case CURLE_OK:
    return ERRAND_OK;
  case CURLE_OUT_OF_MEMORY:
    return ERRAND_OUT_OF_MEMORY;
  case CURLE_UNKNOWN_OPTION:
  case CURLE_NOT_BUILT_IN:
    return ERRAND_UNSUPPORTED_FEATURE;
  default:
    return ERRAND_INVALID_OPTION;
  }
}

static void set_callbacks(setter *s, errand__slot *slot) {
  CURL *easy = s->easy;
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, errand__on_body);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, errand__on_header);
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, errand__on_read);
  curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, errand__on_seek);
  pointer(s, CURLOPT_WRITEDATA, slot);
  pointer(s, CURLOPT_HEADERDATA, slot);
  pointer(s, CURLOPT_READDATA, slot);
  pointer(s, CURLOPT_SEEKDATA, slot);
  pointer(s, CURLOPT_PRIVATE, slot);
  pointer(s, CURLOPT_ERRORBUFFER, slot->error);
}

/* A certificate for nobody, which expired in 2026. From 8.21 on a CAINFO of
   NULL means the built-in bundle. libcurl would parse the bundle for each
   connection, into a store that errand__on_tls_context replaces. Instead it
   parses this certificate. */
static char nobody[] =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBdDCCARmgAwIBAgIUFGUClAAwh80TQso28tYT9Xs0DHswCgYIKoZIzj0EAwIw\n"
    "DzENMAsGA1UEAwwEbm9uZTAeFw0yNjExMjMyMzE1MDVaFw0yNjExMjQyMzE1MDVa\n"
    "MA8xDTALBgNVBAMMBG5vbmUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARZmCT9\n"
    "tAk/dMT9hvSPWpV88CfpM7RpamXoriESAm3+mQ4Ro1mNJJ5j5xo033MuovWJ13mG\n"
    "kpuBCfA6e+YQVLlEo1MwUTAdBgNVHQ4EFgQUfDoTUTv1Jfc6sJy8EUaLeqJ6WQgw\n"
    "HwYDVR0jBBgwFoAUfDoTUTv1Jfc6sJy8EUaLeqJ6WQgwDwYDVR0TAQH/BAUwAwEB\n"
    "/zAKBggqhkjOPQQDAgNJADBGAiEAslhqchFg1/TCpB8bTCgyfNL4Z/6RS8haPMPJ\n"
    "d6KcWCkCIQDDgKV6Tw84o/yfVMnsnAjJUwtYX/XSiRMB9F8BiEu0/A==\n"
    "-----END CERTIFICATE-----\n";

static void set_no_roots(setter *s) {
  if (errand__curl_does(ERRAND__CURL_TAKES_NO_CAPATH)) {
    pointer(s, CURLOPT_CAINFO, NULL);
    return;
  }
  struct curl_blob blob = {nobody, sizeof nobody - 1, CURL_BLOB_NOCOPY};
  if (s->code == CURLE_OK)
    s->code = curl_easy_setopt(s->easy, CURLOPT_CAINFO_BLOB, &blob);
}

static void set_tls(setter *s, const errand_options *o) {
  /* With a CAPATH libcurl trusts the roots of both the bundle and the folder.
     It also does not cache the parsed bundle, so that every connection costs 20
     ms. From 8.21 on NULL means the built-in folder again. */
  const char *folder =
      o->trust || o->ca_file ? NULL : errand__trust_built_in_folder();
  if (folder || errand__curl_does(ERRAND__CURL_TAKES_NO_CAPATH)) {
    pointer(s, CURLOPT_CAPATH, folder);
    if (errand__curl_has(CURL_VERSION_HTTPS_PROXY))
      pointer(s, CURLOPT_PROXY_CAPATH, folder);
  }
  if (o->trust) {
    set_no_roots(s);
    /* libcurl fills the store after the callback and keeps it for the next
       connections of the multi handle, which may need a newer one. */
    number(s, CURLOPT_CA_CACHE_TIMEOUT, 0);
  } else {
    text_if(s, CURLOPT_CAINFO, o->ca_file);
  }
  if (errand__changes_tls_context(o)) {
    pointer(s, CURLOPT_SSL_CTX_DATA, o);
    if (s->code == CURLE_OK)
      s->code = curl_easy_setopt(s->easy, CURLOPT_SSL_CTX_FUNCTION,
                                 errand__on_tls_context);
  }
  text_if(s, CURLOPT_SSLCERT, o->client_certificate);
  text_if(s, CURLOPT_SSLKEY, o->client_key);
  /* Without a password OpenSSL would ask for it at the terminal, on the loop's
     thread. */
  if (o->client_certificate)
    pointer(s, CURLOPT_KEYPASSWD,
            o->client_key_password ? o->client_key_password : "");
  text_if(s, CURLOPT_PINNEDPUBLICKEY, o->pinned_keys);
  number(s, CURLOPT_SSLVERSION,
         o->ssl_min_1_3 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2);
  if (errand__curl_has(CURL_VERSION_HTTPS_PROXY)) {
    text_if(s, CURLOPT_PROXY_CAINFO, o->proxy_ca_file);
    number(s, CURLOPT_PROXY_SSLVERSION, CURL_SSLVERSION_TLSv1_2);
  }
  if (o->accept_any_certificate)
    number(s, CURLOPT_SSL_VERIFYPEER, 0);
  if (o->accept_any_host_name)
    number(s, CURLOPT_SSL_VERIFYHOST, 0);
}

/* The letter that lets a SOCKS proxy look names up: "socks5h", "socks4a". NUL
   for any other scheme, and for a scheme that already has the letter. */
static char name_letter(const char *proxy) {
  if (strncasecmp(proxy, "socks5:", 7) == 0)
    return 'h';
  return strncasecmp(proxy, "socks4:", 7) == 0 ? 'a' : '\0';
}

static void set_proxy(setter *s, const errand__slot *slot, bool secure) {
  const char *proxy = errand__options_proxy(slot->options, secure);
  char letter = slot->proxy_looks_up ? name_letter(proxy) : '\0';
  if (letter == '\0') {
    pointer(s, CURLOPT_PROXY, proxy);
    return;
  }
  size_t size = strlen(proxy) + 2;
  char *url = errand__malloc(size);
  if (!url) {
    if (s->code == CURLE_OK)
      s->code = CURLE_OUT_OF_MEMORY;
    return;
  }
  snprintf(url, size, "%.6s%c%s", proxy, letter, proxy + 6);
  pointer(s, CURLOPT_PROXY, url); /* libcurl copies the text */
  /* The URL may have a password. */
  explicit_bzero(url, size);
  errand__free(url);
}

static void set_network(setter *s, const errand__slot *slot) {
  const errand_options *o = slot->options;
  number(s, CURLOPT_MAXAGE_CONN, (long) o->idle_connection_seconds);
  if (o->tcp_keepalive_seconds) {
    number(s, CURLOPT_TCP_KEEPALIVE, 1);
    number(s, CURLOPT_TCP_KEEPIDLE, (long) o->tcp_keepalive_seconds);
    number(s, CURLOPT_TCP_KEEPINTVL, (long) o->tcp_keepalive_seconds);
  }
  text_if(s, CURLOPT_UNIX_SOCKET_PATH, o->unix_socket_path);
  text_if(s, CURLOPT_INTERFACE, o->local_interface);
  if (o->resolve)
    pointer(s, CURLOPT_RESOLVE, o->resolve);
  if (o->connect_to)
    pointer(s, CURLOPT_CONNECT_TO, o->connect_to);
  /* An empty proxy and a NOPROXY of "*" keep libcurl from reading the
     environment for each request. */
  set_proxy(s, slot, false);
  bool none = !o->proxy_http && !o->proxy_https;
  pointer(s, CURLOPT_NOPROXY, none ? "*" : o->no_proxy ? o->no_proxy : "");
  number(s, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1);
}

static bool uses_socks(const errand_options *o) {
  static const char socks[] = "socks";
  return strncasecmp(errand__options_proxy(o, false), socks, 5) == 0 ||
         strncasecmp(errand__options_proxy(o, true), socks, 5) == 0;
}

errand_status errand__slot_apply_options(errand__slot *slot) {
  const errand_options *o = slot->options;
  setter s = {slot->easy, CURLE_OK};
  number(&s, CURLOPT_NOSIGNAL, 1);
  pointer(&s, CURLOPT_PROTOCOLS_STR,
          errand__curl_has_websocket() ? "http,https,ws,wss" : "http,https");
  pointer(&s, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  number(&s, CURLOPT_PATH_AS_IS, 1);
  /* From 8.3 on the default is 30, and the rounds of Digest count. The core has
     its own limits. */
  number(&s, CURLOPT_MAXREDIRS, -1);
  number(&s, CURLOPT_HTTP_VERSION, o->http_version);
  slot->roomy =
      o->http2 && errand__curl_does(ERRAND__CURL_FORGETS_REST_OF_STREAMS);
  if (slot->roomy)
    number(&s, CURLOPT_BUFFERSIZE, ROOMY_BUFFER);
  slot->buffer_size = CURL_MAX_WRITE_SIZE; /* libcurl's default */
  slot->borrows = errand__curl_does(ERRAND__CURL_BORROWS_BUFFERS);
  slot->shares = !slot->borrows && !uses_socks(o) && errand__heap_may_share() &&
                 errand__curl_uses_heap();
  if (slot->jar) {
    pointer(&s, CURLOPT_SHARE, errand__jar_share(slot->jar));
    pointer(&s, CURLOPT_COOKIEFILE, ""); /* turns the engine on */
  }
  /* Otherwise the removal of a handle that resolves waits for its resolver
     thread. */
  number(&s, CURLOPT_QUICK_EXIT, 1);
  if (o->accept_encoding[0])
    pointer(&s, CURLOPT_HTTPHEADER, &o->accept_field);
  /* The core decodes, not libcurl (http/decode.h). */
  number(&s, CURLOPT_HTTP_CONTENT_DECODING, 0);
  slot->shows_head = errand__curl_does(ERRAND__CURL_KEEPS_FREED_FIELDS);
  if (slot->shows_head)
    number(&s, CURLOPT_HEADER, 1);
  set_callbacks(&s, slot);
  set_tls(&s, o);
  set_network(&s, slot);
  return result(&s);
}

static void set_send(setter *s, errand__slot *slot, errand__transfer *t) {
  CURL *easy = s->easy;
  bool same = slot->send == t->send;
  bool custom = false;
  /* While POSTFIELDS is set, libcurl does not rewind a source when it resends
     the request (readrewind). Setting POSTFIELDS makes the method POST, so it
     is cleared first. */
  if (slot->send == ERRAND__SEND_MEMORY && !same)
    pointer(s, CURLOPT_POSTFIELDS, NULL);
  switch (t->send) {
  case ERRAND__SEND_GET:
    if (!same)
      number(s, CURLOPT_HTTPGET, 1);
    break;
  case ERRAND__SEND_HEAD:
    if (!same) {
      number(s, CURLOPT_HTTPGET, 1); /* clears UPLOAD, NOBODY does not */
      number(s, CURLOPT_NOBODY, 1);
    }
    break;
  case ERRAND__SEND_CUSTOM:
    if (!same)
      number(s, CURLOPT_HTTPGET, 1);
    custom = true;
    break;
  case ERRAND__SEND_MEMORY:
    if (!same) {
      number(s, CURLOPT_HTTPGET, 1); /* clears NOBODY and UPLOAD */
      number(s, CURLOPT_POST, 1);
    }
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                     (curl_off_t) t->upload.body_length);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS,
                     t->upload.body_length ? t->upload.body : "");
    custom = strcmp(t->method, "POST") != 0;
    break;
  case ERRAND__SEND_READ:
    if (!same) {
      number(s, CURLOPT_HTTPGET, 1);
      number(s, CURLOPT_UPLOAD, 1);
    }
    curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE,
                     (curl_off_t) errand__source_length(t->upload.source));
    custom = strcmp(t->method, "PUT") != 0;
    break;
  }
  if (custom)
    pointer(s, CURLOPT_CUSTOMREQUEST, t->method);
  else if (slot->custom_method)
    pointer(s, CURLOPT_CUSTOMREQUEST, NULL);
  slot->custom_method = custom;
  slot->send = t->send;
}

/* The handle keeps user, password, realm and nonce, which curl_easy_reset does
   not clear (CVE-2026-7168). Therefore the handle serves only this request. */
static void set_digest(setter *s, errand__slot *slot,
                       const errand__transfer *t) {
  number(s, CURLOPT_HTTPAUTH, (long) CURLAUTH_DIGEST);
  pointer(s, CURLOPT_USERNAME, t->username);
  pointer(s, CURLOPT_PASSWORD, t->password);
  if (!t->may_http2)
    number(s, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
  slot->single_use = true;
}

/* libcurl does the handshake, as for any upload, and then neither writes nor
   reads frames (CURLWS_RAW_MODE): its checks of frames differ by version. The
   handle serves this request alone. */
static void set_websocket(setter *s, errand__slot *slot) {
  number(s, CURLOPT_WS_OPTIONS, CURLWS_RAW_MODE);
  number(s, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
  number(s, CURLOPT_HTTPPROXYTUNNEL, 1); /* RFC 6455 4.1 */
  slot->single_use = true;
}

static long weight_of(errand_priority priority) {
  switch (priority) {
  case ERRAND_PRIORITY_LOW:
    return 8;
  case ERRAND_PRIORITY_HIGH:
    return 32;
  case ERRAND_PRIORITY_DEFAULT:
    break;
  }
  return 16; /* RFC 7540 5.3.5, and libcurl's default */
}

/* Whether libcurl needs the URL only for the connection and the request line.
   The core does redirects, referers and HSTS itself, and does not ask libcurl
   for the URL. But an HTTP proxy needs the whole URL in the request line, and
   cookies and Digest need the path. */
static bool target_will_do(const errand__slot *slot,
                           const errand__transfer *t) {
  const errand_options *o = slot->options;
  return !slot->jar && !t->username && !o->proxy_http && !o->proxy_https;
}

static void set_url(setter *s, errand__slot *slot, errand__transfer *t,
                    errand__root **root) {
  const char *target =
      target_will_do(slot, t) ? t->url + t->url_parts.target : NULL;
  bool rooted = target && t->url_parts.plain;
  pointer(s, CURLOPT_REQUEST_TARGET, target);
  if (rooted && !*root)
    *root = errand__root_create(&t->url_parts);
  if (!rooted || !*root) {
    if (slot->root)
      pointer(s, CURLOPT_CURLU, NULL);
    pointer(s, CURLOPT_URL, t->url);
    slot->root = 0;
    return;
  }
  if (slot->root != (*root)->serial) {
    /* The URL is set as text too. libcurl uses the text when it resends a
       request (Curl_retry_request), and would otherwise use the text of another
       origin. */
    pointer(s, CURLOPT_URL, (*root)->text);
    pointer(s, CURLOPT_CURLU, (*root)->url);
    slot->root = (*root)->serial;
  }
}

/* libcurl reads the list once (Curl_loadhostpairs). If the share carries only
   cookies, the addresses go to the present multi handle, so the list is set
   again for each multi handle. */
static void set_resolve(setter *s, errand__slot *slot, uint64_t shard) {
  if (!slot->jar || !slot->options->resolve || slot->resolves == shard)
    return;
  pointer(s, CURLOPT_RESOLVE, slot->options->resolve);
  slot->resolves = shard;
}

/* The share also has the addresses of CURLOPT_RESOLVE. */
static void set_share(setter *s, errand__slot *slot, CURLSH *share) {
  if (slot->jar)
    return;
  if (share == slot->share && share)
    return;
  if (!share)
    s->code = CURLE_OUT_OF_MEMORY;
  pointer(s, CURLOPT_SHARE, share);
  if (slot->options->resolve)
    pointer(s, CURLOPT_RESOLVE, slot->options->resolve);
  slot->share = share;
}

/*
 * Before 8.7 libcurl allocates the buffer (data->state.buffer) when a transfer
 * starts and frees it at the end. HTTP/1.1 leaves nothing in the buffer from
 * one call of libcurl to the next. HTTP/2, WebSockets and the SOCKS handshake
 * leave bytes there.
 */
static bool may_share(const errand__slot *slot, const errand__transfer *t) {
  return slot->shares && !t->may_http2 && !errand__is_websocket(t);
}

/* Sets a large buffer if the buffer is borrowed or shared. A response that is
   streamed with less credit than the size of the large buffer gets libcurl's
   buffer of 16 KB. As many bytes as the buffer holds may be in memory beyond
   the credit. */
static void set_buffer(setter *s, errand__slot *slot,
                       const errand__transfer *t) {
  long size = slot->borrows        ? BORROWED_BUFFER
              : may_share(slot, t) ? SHARED_BUFFER
                                   : CURL_MAX_WRITE_SIZE;
  if ((t->flags & ERRAND_REQUEST_STREAM_RESPONSE) && t->response.credit < size)
    size = CURL_MAX_WRITE_SIZE;
  if (slot->buffer_size != size && !slot->roomy && !slot->keeps_buffer) {
    number(s, CURLOPT_BUFFERSIZE, size);
    slot->buffer_size = size;
  }
  /* A stream that ends while its connection has others leaves its buffer with
     the handle (multi_done), and libcurl then refuses another size. */
  slot->keeps_buffer |= t->may_http2 && !slot->borrows;
}

/* The fields of a request that brings none itself. */
static const struct curl_slist *own_fields(const errand__slot *slot) {
  const errand_options *o = slot->options;
  return o->accept_encoding[0] ? &o->accept_field : NULL;
}

/* Before 8.0 libcurl cannot send on a reused HTTP/2 connection in clear text
   (#10634). Therefore each such request gets a separate connection. */
static bool wants_fresh(const errand__slot *slot, const errand__transfer *t) {
  return (t->flags & ERRAND_REQUEST_FRESH_CONNECTION) != 0 ||
         (slot->options->prior_knowledge && !t->url_parts.secure &&
          errand__curl_does(ERRAND__CURL_LOSES_CLEAR_HTTP2));
}

errand_status errand__slot_setup(errand__slot *slot, errand__transfer *t,
                                 CURLSH *share, uint64_t shard,
                                 errand__root **root) {
  setter s = {slot->easy, CURLE_OK};
  errand__slot_unpause(slot);
  set_share(&s, slot, share);
  set_url(&s, slot, t, root);
  set_resolve(&s, slot, shard);
  set_buffer(&s, slot, t);
  if (t->headers || slot->has_headers) {
    pointer(&s, CURLOPT_HTTPHEADER, t->headers ? t->headers : own_fields(slot));
    slot->has_headers = t->headers != NULL;
  }
  if (t->send != ERRAND__SEND_GET || slot->send != ERRAND__SEND_GET)
    set_send(&s, slot, t);
  bool fresh = wants_fresh(slot, t);
  if (fresh != slot->fresh) {
    number(&s, CURLOPT_FRESH_CONNECT, fresh);
    number(&s, CURLOPT_FORBID_REUSE, fresh);
    slot->fresh = fresh;
  }
  /* Only requests that can share a connection wait for one. */
  if (t->may_http2 != slot->pipewait) {
    number(&s, CURLOPT_PIPEWAIT, t->may_http2);
    slot->pipewait = t->may_http2;
  }
  /* libcurl's own limit is 300 s. The option is set only for a longer timeout,
     because libcurl arms a timer for it. */
  long connect_ms =
      t->timeouts.connect > CURL_CONNECT_MS ? (long) t->timeouts.connect : 0;
  if (connect_ms != slot->connect_ms) {
    number(&s, CURLOPT_CONNECTTIMEOUT_MS, connect_ms);
    slot->connect_ms = connect_ms;
  }
  if (t->priority != slot->priority && slot->options->http2) {
    number(&s, CURLOPT_STREAM_WEIGHT, weight_of(t->priority));
    slot->priority = t->priority;
  }
  /* libcurl keeps the host of a Host field for the cookies of the next request
     of the handle (CVE-2026-6276). */
  if (slot->jar && t->own_host)
    slot->single_use = true;
  if (t->username)
    set_digest(&s, slot, t);
  if (errand__is_websocket(t))
    set_websocket(&s, slot);
  if (slot->options->environment_proxy &&
      t->url_parts.secure != slot->secure_proxy) {
    set_proxy(&s, slot, t->url_parts.secure);
    slot->secure_proxy = t->url_parts.secure;
  }
  return result(&s);
}
