#include "transfer/tls_context.h"

#include <pthread.h>

#include "libcurl/curl_traits.h"
#include "libcurl/openssl.h"

/* openssl/ssl.h: the macro SSL_CTX_set_read_ahead makes this call. */
#define CONTROL_READ_AHEAD 41

static pthread_once_t once = PTHREAD_ONCE_INIT;
static long (*control)(void *ssl_context, int command, long number,
                       void *pointer); /* NULL: not OpenSSL */

static void look_up(void) {
  if (!errand__openssl_find("SSL_CTX_ctrl", &control))
    control = NULL;
}

/* Whether OpenSSL must be kept from reading ahead. Bytes that it has read ahead
   do not show at the socket: frames of another HTTP/2 stream, which libcurl
   leaves there when one stream ends, or bytes behind an HTTP/1.1 response,
   which would seem to answer the next request. */
static bool must_not_read_ahead(void) {
  pthread_once(&once, look_up);
  return control && errand__curl_does(ERRAND__CURL_READS_AHEAD);
}

bool errand__changes_tls_context(const errand_options *options) {
  return options->trust || must_not_read_ahead();
}

CURLcode errand__on_tls_context(CURL *easy, void *ssl_context, void *context) {
  const errand_options *options = context;
  (void) easy;
  if (must_not_read_ahead())
    control(ssl_context, CONTROL_READ_AHEAD, 0, NULL);
  if (options->trust && !errand__trust_give(options->trust, ssl_context))
    return CURLE_SSL_CACERT_BADFILE;
  return CURLE_OK;
}
