/* Comparing bytes with text. */
#ifndef ERRAND_BASE_BYTES_H
#define ERRAND_BASE_BYTES_H

#include <stdbool.h>
#include <string.h>

#include "include/errand_base.h"

/* Whether the bytes are exactly those of `text`. */
static inline bool errand__bytes_are(errand_bytes bytes, const char *text) {
  return bytes.length == strlen(text) &&
         memcmp(bytes.data, text, bytes.length) == 0;
}

#endif
