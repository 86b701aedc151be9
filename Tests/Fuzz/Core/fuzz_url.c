/* A URL that the core accepts names, in the core, the host and port that it
   names in libcurl: no third reading between the two. */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fuzz.h"
#include "transfer/url.h"

static void expect_same(const errand__url *ours, const char *text) {
  CURLU *theirs = curl_url();
  char *host = NULL;
  char *port = NULL;
  if (!theirs)
    abort();
  if (curl_url_set(theirs, CURLUPART_URL, text, 0) == CURLUE_OK &&
      curl_url_get(theirs, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
      curl_url_get(theirs, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) ==
          CURLUE_OK) {
    FUZZ_EXPECT(ours->port == strtol(port, NULL, 10));
    /* libcurl writes IPv4 numbers such as 127.1 anew. */
    if (ours->plain && strspn(host, "0123456789.") != strlen(host)) {
      FUZZ_EXPECT(strlen(host) == ours->host_length);
      FUZZ_EXPECT(strncasecmp(host, ours->host, ours->host_length) == 0);
    }
  }
  curl_free(host);
  curl_free(port);
  curl_url_cleanup(theirs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = fuzz_copy(data, size);
  errand__url url;
  errand_bytes bytes = {data, size};
  if (errand__url_parse(bytes, &url) == ERRAND_OK) {
    const char *end = (const char *) data + size;
    FUZZ_EXPECT(url.host_length > 0);
    FUZZ_EXPECT(url.host > (const char *) data &&
                url.host + url.host_length <= end);
    FUZZ_EXPECT(url.length <= size && url.target <= url.length);
    FUZZ_EXPECT(strlen(text) == size);
    text[url.length] = '\0';
    expect_same(&url, text);
    (void) errand__url_origin_hash(&url, 1);
  }
  free(text);
  return 0;
}
