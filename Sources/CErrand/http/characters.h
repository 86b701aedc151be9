/* Digits of URLs and hosts. */
#ifndef ERRAND_HTTP_CHARACTERS_H
#define ERRAND_HTTP_CHARACTERS_H

#include <stdbool.h>

static inline bool errand__is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* Returns: the value of a hexadecimal digit; -1 for any other character. */
static inline int errand__hex_value(char c) {
  if (errand__is_digit(c))
    return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

#endif
