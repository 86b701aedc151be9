/*
 * What an origin's URLs begin with, parsed once. libcurl parses a URL for each
 * request, puts it together again and takes it apart: a tenth of all
 * instructions of a small one. A handle that has the root as its CURLOPT_CURLU
 * needs the rest alone, as CURLOPT_REQUEST_TARGET.
 */
#ifndef ERRAND_TRANSFER_ROOT_H
#define ERRAND_TRANSFER_ROOT_H

#include <curl/curl.h>

#include "http/url.h"

typedef struct errand__root {
  uint64_t serial; /* no other has it, before or after; from 1 */
  CURLU *url;
  char text[]; /* "https://host:port/" */
} errand__root;

/*
 * The root of a URL with `plain` set.
 * Owns: the caller frees it with errand__root_free, once no handle that has
 * it is added to a multi handle.
 * Returns: NULL when memory has run out, or libcurl does not take the URL.
 */
errand__root *errand__root_create(const errand__url *url);

void errand__root_free(errand__root *root);

#endif
