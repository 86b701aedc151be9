/* The Netscape cookie line: [#HttpOnly_]domain, subdomains, path, secure,
   expires, name, value; divided by tabs. */
#ifndef ERRAND_LIBCURL_COOKIE_LINE_H
#define ERRAND_LIBCURL_COOKIE_LINE_H

#include <stdbool.h>

#include "include/errand_cookies.h"

/* No line that errand__cookie_is_valid accepts is longer. */
#define ERRAND__COOKIE_LINE 8192

/* Finds the fields of a line, which get NULs between them. They point into
   `line`.
   Returns: false if the line is no cookie. */
bool errand__cookie_parse(char *line, errand_cookie *out);

/* Whether libcurl accepts a line with these fields and reads this cookie from
   it. */
bool errand__cookie_is_valid(const errand_cookie *cookie);

/* Writes a line, NUL-terminated, of at most `room` bytes.
   Returns: false if the line does not fit. */
bool errand__cookie_format(const errand_cookie *cookie, char *out, size_t room);

bool errand__cookie_has_expired(const errand_cookie *cookie);

#endif
