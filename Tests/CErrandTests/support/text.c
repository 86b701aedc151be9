#include "support/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *text(const char *format, ...) {
  static char texts[32][1024];
  static unsigned next;
  char *into = texts[next++ % 32];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(into, sizeof texts[0], format, arguments);
  va_end(arguments);
  return into;
}

errand_bytes bytes_of(const char *string) {
  return (errand_bytes){.data = (const uint8_t *) string,
                        .length = strlen(string)};
}
