/* curl_easy_getinfo by type. */
#ifndef ERRAND_TRANSFER_INFO_H
#define ERRAND_TRANSFER_INFO_H

#include <curl/curl.h>
#include <stdint.h>

/* CURLINFO_USED_PROXY, which older headers lack (8.7.0). */
#define ERRAND__INFO_USED_PROXY ((CURLINFO) (CURLINFO_LONG + 66))

/* The value of a CURLINFO_LONG. Returns: 0 if libcurl does not know. */
static inline long errand__info_long(CURL *easy, CURLINFO info) {
  long value = 0;
  curl_easy_getinfo(easy, info, &value);
  return value;
}

/* Bytes or microseconds of a CURLINFO_OFF_T.
   Returns: 0 if libcurl does not know, or if the value is negative. */
static inline uint64_t errand__info_count(CURL *easy, CURLINFO info) {
  curl_off_t value = 0;
  curl_easy_getinfo(easy, info, &value);
  return value > 0 ? (uint64_t) value : 0;
}

/* CURLINFO_CONTENT_LENGTH_DOWNLOAD_T.
   Returns: -1 if there is none. */
static inline curl_off_t errand__info_body_length(CURL *easy) {
  curl_off_t length = -1;
  curl_easy_getinfo(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
  return length;
}

#endif
