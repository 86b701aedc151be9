#include <curl/curl.h>
#include <locale.h>
#include <string.h>

#include "base/mem.h"
#include "include/errand_host.h"
#include "group/process.h"

/* 7.88.1 says OUT_OF_MEMORY of every name that it cannot map. */
static errand_status status_of(CURLUcode code) {
  if (code == CURLUE_OK)
    return ERRAND_OK;
  return code == CURLUE_LACKS_IDN ? ERRAND_UNSUPPORTED_FEATURE
                                  : ERRAND_INVALID_URL;
}

static errand_status map(const char *host, char **out) {
  CURLU *url = curl_url();
  if (!url)
    return ERRAND_OUT_OF_MEMORY;
  CURLUcode code = curl_url_set(url, CURLUPART_HOST, host, 0);
  if (code == CURLUE_OK)
    code = curl_url_get(url, CURLUPART_HOST, out, CURLU_PUNYCODE);
  curl_url_cleanup(url);
  return status_of(code);
}

/* libidn2 reads the name in the thread's locale, which has to be that of the
   loops. */
static errand_status map_utf8(const char *host, char **out) {
  locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t) 0);
  locale_t before = utf8 ? uselocale(utf8) : (locale_t) 0;
  errand_status status = map(host, out);
  if (utf8) {
    uselocale(before);
    freelocale(utf8);
  }
  return status;
}

errand_status errand_host_ascii(errand_bytes host, char *out, size_t capacity) {
  if (capacity > 0)
    out[0] = '\0';
  if (host.length == 0 || !host.data || memchr(host.data, 0, host.length))
    return ERRAND_INVALID_URL;
  errand_status status = errand__process_start();
  if (status != ERRAND_OK)
    return status;
  char *text = errand__malloc(host.length + 1);
  if (!text)
    return ERRAND_OUT_OF_MEMORY;
  memcpy(text, host.data, host.length);
  text[host.length] = '\0';
  char *mapped = NULL;
  status = map_utf8(text, &mapped);
  errand__free(text);
  if (status == ERRAND_OK && strlen(mapped) >= capacity)
    status = ERRAND_INVALID_URL;
  if (status == ERRAND_OK)
    memcpy(out, mapped, strlen(mapped) + 1);
  curl_free(mapped);
  return status;
}
