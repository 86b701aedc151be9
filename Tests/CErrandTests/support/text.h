/* Formatted text without an owner. */
#ifndef ERRAND_TESTS_TEXT_H
#define ERRAND_TESTS_TEXT_H

#include <errand_base.h>

/* Good until the 32nd next call; at most 1,023 bytes. For the main thread. */
const char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));

errand_bytes bytes_of(const char *string);

#endif
