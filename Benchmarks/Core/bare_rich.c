#include "bare_rich.h"

#include <stddef.h>

static const char *const fields[] = {
    "Accept: text/plain",
    "Accept-Language: en, de;q=0.8",
    "User-Agent: bench/1.0",
    "Authorization: Bearer 0123456789abcdef0123456789abcdef",
    "X-Request-ID: 3f2c8a7e-1b5d-4c9a-8e6f-0a1b2c3d4e5f",
    "X-Client-Version: 1.2.3",
    "X-Tenant: tenant-42",
    "Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
};

struct curl_slist *bare_rich_set(CURL *easy) {
  struct curl_slist *list = NULL;
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    struct curl_slist *longer = curl_slist_append(list, fields[i]);
    if (longer == NULL) {
      curl_slist_free_all(list);
      return NULL;
    }
    list = longer;
  }
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, 10000L);
  curl_easy_setopt(easy, CURLOPT_SERVER_RESPONSE_TIMEOUT, 30L);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 60000L);
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, 60L);
  return list;
}
