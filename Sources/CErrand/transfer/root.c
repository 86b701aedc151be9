#include "transfer/root.h"

#include <stdatomic.h>
#include <stdio.h>

#include "base/mem.h"

#define AROUND_HOST sizeof "https://:65535/"

static _Atomic uint64_t last_serial;

errand__root *errand__root_create(const errand__url *url) {
  size_t size = url->host_length + AROUND_HOST;
  errand__root *root = errand__malloc(sizeof *root + size);
  if (!root)
    return NULL;
  snprintf(root->text, size, "%s://%.*s:%u/", url->secure ? "https" : "http",
           (int) url->host_length, url->host, (unsigned) url->port);
  root->serial =
      atomic_fetch_add_explicit(&last_serial, 1, memory_order_relaxed) + 1;
  root->url = curl_url();
  if (!root->url ||
      curl_url_set(root->url, CURLUPART_URL, root->text, 0) != CURLUE_OK) {
    errand__root_free(root);
    return NULL;
  }
  return root;
}

void errand__root_free(errand__root *root) {
  if (!root)
    return;
  curl_url_cleanup(root->url);
  errand__free(root);
}
