#include "bare_rich.h"
#include "support/rich_fields.h"

#include <stddef.h>

struct curl_slist *bare_rich_set(CURL *easy) {
  struct curl_slist *list = NULL;
  for (size_t i = 0; i < BENCH_RICH_FIELDS; i++) {
    struct curl_slist *longer = curl_slist_append(list, bench_rich_fields[i]);
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
