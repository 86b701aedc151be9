/*
 * The common beginning of the URLs of an origin, parsed once.
 *
 * For each request libcurl parses the URL, puts it together again and takes it
 * apart. This takes a tenth of all instructions of a small request. A handle
 * that has the root as its CURLOPT_CURLU needs only the rest, as
 * CURLOPT_REQUEST_TARGET.
 */
#ifndef ERRAND_TRANSFER_ROOT_H
#define ERRAND_TRANSFER_ROOT_H

#include <curl/curl.h>

#include "http/url.h"

typedef struct errand__root {
  uint64_t serial; /* unique in the process, from 1 */
  CURLU *url;
  char text[]; /* "https://host:port/" */
} errand__root;

/*
 * Makes the root of a URL with `plain` set.
 * Owns: the caller frees it with errand__root_free, when no handle that has it
 * is in a multi handle.
 * Returns: NULL when out of memory, or if libcurl does not accept the URL.
 */
errand__root *errand__root_create(const errand__url *url);

void errand__root_free(errand__root *root);

#endif
