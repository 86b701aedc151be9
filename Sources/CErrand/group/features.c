#include <pthread.h>
#include <uv.h>

#include "libcurl/curl_traits.h"
#include "libcurl/process.h"
#include "http/decode.h"
#include "include/errand_stats.h"

#define ERRAND_VERSION "0.1.0"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char coding_libraries[96];

static void write_coding_libraries(void) {
  errand__coding_libraries(coding_libraries, sizeof coding_libraries);
}

void errand_features_read(errand_features *out) {
  static const struct {
    int curl;
    uint32_t errand;
  } bits[] = {
      {CURL_VERSION_HTTP2, ERRAND_FEATURE_HTTP2},
      {CURL_VERSION_IDN, ERRAND_FEATURE_IDN},
      {CURL_VERSION_UNIX_SOCKETS, ERRAND_FEATURE_UNIX_SOCKETS},
      {CURL_VERSION_SSL, ERRAND_FEATURE_TLS},
      {CURL_VERSION_HTTPS_PROXY, ERRAND_FEATURE_HTTPS_PROXY},
  };
  const curl_version_info_data *curl = errand__curl_info();
  out->curl_version_number = curl->version_num;
  out->flags = 0;
  pthread_once(&once, write_coding_libraries);
  for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++)
    if (curl->features & bits[i].curl)
      out->flags |= bits[i].errand;
  if (errand__coding_is_known(ERRAND__CODING_GZIP))
    out->flags |= ERRAND_FEATURE_GZIP;
  if (errand__coding_is_known(ERRAND__CODING_BROTLI))
    out->flags |= ERRAND_FEATURE_BROTLI;
  if (errand__coding_is_known(ERRAND__CODING_ZSTD))
    out->flags |= ERRAND_FEATURE_ZSTD;
  if (errand__curl_http2_default())
    out->flags |= ERRAND_FEATURE_HTTP2_DEFAULT;
  if (errand__curl_denied(curl->version_num))
    out->flags |= ERRAND_FEATURE_DENIED;
  if (errand__curl_has_websocket())
    out->flags |= ERRAND_FEATURE_WEBSOCKET;
  if (errand__process_has_no_atexit())
    out->flags |= ERRAND_FEATURE_NO_ATEXIT;
#ifndef NDEBUG
  out->flags |= ERRAND_FEATURE_DEBUG;
#endif
  out->curl_version = curl->version;
  out->tls_version = curl->ssl_version ? curl->ssl_version : "none";
  out->uv_version = uv_version_string();
  out->errand_version = ERRAND_VERSION;
  out->curl_libraries = errand__curl_libraries();
  out->coding_libraries = coding_libraries;
}
