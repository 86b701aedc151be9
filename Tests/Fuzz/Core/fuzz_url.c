/* A URL that the core accepts names, in the core, the host and port that it
   names in libcurl: no third reading between the two. */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fuzz.h"
#include "http/url.h"

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
  errand__url url;
  char host[ERRAND__HOST_ROOM];
  errand_bytes bytes = {data, size};
  if (errand__url_parse(bytes, host, &url) == ERRAND_OK) {
    FUZZ_EXPECT(url.host_length > 0 && url.target <= url.length);
    FUZZ_EXPECT(url.host_at > 0 && url.host_at + url.given_host_length <= size);
    FUZZ_EXPECT(url.respelled || url.length <= size + url.adds_slash);
    char *sent = malloc(url.length + 1);
    if (!sent)
      abort();
    errand__url_write(&url, (const char *) data, sent);
    FUZZ_EXPECT(strlen(sent) == url.length && sent[url.target] == '/');
    FUZZ_EXPECT(url.host > sent &&
                url.host + url.host_length <= sent + url.length);
    expect_same(&url, sent);
    (void) errand__url_origin_hash(&url, 1);
    free(sent);
  }
  return 0;
}
