#include "transfer/tls_context.h"

#include <pthread.h>

#include "libcurl/curl_traits.h"
#include "libcurl/openssl.h"

/* openssl/ssl.h: the macro SSL_CTX_set_read_ahead makes this call. */
#define CONTROL_READ_AHEAD 41

typedef void (*key_log_callback)(const void *ssl, const char *line);

static pthread_once_t once = PTHREAD_ONCE_INIT;
/* NULL: not OpenSSL */
static long (*control)(void *ssl_context, int command, long number,
                       void *pointer);
static void (*set_key_log)(void *ssl_context, key_log_callback callback);

static void look_up(void) {
  if (!errand__openssl_find("SSL_CTX_ctrl", &control))
    control = NULL;
  if (!errand__openssl_find("SSL_CTX_set_keylog_callback", &set_key_log))
    set_key_log = NULL;
}

bool errand__may_stop_key_log(void) {
  pthread_once(&once, look_up);
  return set_key_log != NULL;
}

/* Whether OpenSSL must be kept from reading ahead. Bytes that it has read ahead
   do not show at the socket. They may be frames of another HTTP/2 stream, which
   libcurl leaves there when one stream ends, or bytes behind an HTTP/1.1
   response, which would seem to answer the next request. */
static bool must_not_read_ahead(void) {
  pthread_once(&once, look_up);
  return control && errand__curl_does(ERRAND__CURL_READS_AHEAD);
}

bool errand__changes_tls_context(const errand_options *options) {
  return options->trust || must_not_read_ahead() ||
         (!options->key_log && errand__may_stop_key_log());
}

CURLcode errand__on_tls_context(CURL *easy, void *ssl_context, void *context) {
  const errand_options *options = context;
  (void) easy;
  if (must_not_read_ahead())
    control(ssl_context, CONTROL_READ_AHEAD, 0, NULL);
  /* If SSLKEYLOGFILE is set, libcurl has just set its own callback. Unsetting
     the variable instead would race with every getenv of the process. */
  if (!options->key_log && errand__may_stop_key_log())
    set_key_log(ssl_context, NULL);
  if (options->trust && !errand__trust_give(options->trust, ssl_context))
    return CURLE_SSL_CACERT_BADFILE;
  return CURLE_OK;
}
