#include "base/lines.h"

#include <string.h>

#include "base/mem.h"

#define CAPACITY_FIRST 512u

static bool reserve(errand__lines *lines, size_t extra) {
  size_t needed = lines->length + extra;
  size_t capacity = lines->capacity ? lines->capacity : CAPACITY_FIRST;
  if (lines->failed || needed <= lines->capacity)
    return !lines->failed;
  while (capacity < needed)
    capacity *= 2;
  char *grown = errand__realloc(lines->bytes, capacity);
  if (!grown) {
    lines->failed = true;
    return false;
  }
  lines->bytes = grown;
  lines->capacity = capacity;
  return true;
}

void errand__lines_add(errand__lines *lines, const char *name,
                       const void *value, size_t length) {
  const unsigned char *from = value;
  size_t name_length = strlen(name);
  if (!reserve(lines, name_length + length + sizeof ": \r\n" - 1))
    return;
  char *to = lines->bytes + lines->length;
  memcpy(to, name, name_length);
  to += name_length;
  *to++ = ':';
  *to++ = ' ';
  for (size_t i = 0; i < length; i++)
    *to++ = from[i] < 0x20 || from[i] == 0x7f ? '?' : (char) from[i];
  *to++ = '\r';
  *to++ = '\n';
  lines->length = (size_t) (to - lines->bytes);
}

void errand__lines_add_text(errand__lines *lines, const char *name,
                            const char *value) {
  if (value && value[0])
    errand__lines_add(lines, name, value, strlen(value));
}

void errand__lines_free(errand__lines *lines) {
  errand__free(lines->bytes);
  *lines = (errand__lines){0};
}
