/* Field lines of a response: names, and values that are lists. */
#ifndef ERRAND_HTTP_FIELD_H
#define ERRAND_HTTP_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* Where the value of a field begins. `name` is in lower case, with its colon.
   Returns: 0 if the line is another field, or ends with the colon. */
static inline size_t errand__field_value(const char *line, size_t length,
                                         const char *name) {
  size_t at = strlen(name);
  /* Most lines differ in the first letter, and need no call. */
  if (length <= at || (line[0] | 0x20) != name[0])
    return 0;
  return strncasecmp(line, name, at) == 0 ? at : 0;
}

/* The next item of a list of tokens (RFC 9110 5.6.1) from *at on, which moves
   behind the item.
   Returns: the length of the item, which begins at *start; 0 at the end. */
static inline size_t errand__next_item(const char *value, size_t length,
                                       size_t *at, const char **start) {
  static const char separators[] = " \t\r\n,";
  /* strchr also finds the NUL of `separators`: a NUL divides items too. */
  while (*at < length && strchr(separators, value[*at]))
    ++*at;
  size_t from = *at;
  while (*at < length && !strchr(separators, value[*at]))
    ++*at;
  *start = value + from;
  return *at - from;
}

#endif
