/* Lines "name: value" CRLF in one growing block. */
#ifndef ERRAND_BASE_LINES_H
#define ERRAND_BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* Zero-initialise. */
typedef struct errand__lines {
  char *bytes; /* not NUL-terminated; NULL while there is no line */
  size_t length;
  size_t capacity;
  bool failed; /* memory has run out; nothing is added any more */
} errand__lines;

/* Adds a line. A control character of the value becomes a '?'. */
void errand__lines_add(errand__lines *lines, const char *name,
                       const void *value, size_t length);

/* The same with a NUL-terminated value. NULL and "" add nothing. */
void errand__lines_add_text(errand__lines *lines, const char *name,
                            const char *value);

/* Frees the block. */
void errand__lines_free(errand__lines *lines);

#endif
