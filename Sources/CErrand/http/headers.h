/* The syntax of a request's header block: field lines divided by CRLF. */
#ifndef ERRAND_HTTP_HEADERS_H
#define ERRAND_HTTP_HEADERS_H

#include <stdbool.h>

#include "include/errand_status.h"

/* Facts about a header block. */
typedef struct errand__header_facts {
  size_t count;
  size_t bytes; /* room for the lines as libcurl needs them, with NULs */
  bool content_type;
  bool expect;
  bool accept_encoding;
  bool authorization;
  bool host;
  bool cookie;
  bool content_length;
  uint64_t content_length_value;
} errand__header_facts;

/* Whether the text is a token (RFC 9110 5.6.2). */
bool errand__is_token(const uint8_t *text, size_t length);

/*
 * Checks the block line by line: a token, a colon, and a value without CR, LF,
 * NUL or other controls except tab (RFC 9110 5.5). Transfer-Encoding is
 * refused, as the core does the framing.
 * Thread: any.
 * Returns: OK or INVALID_HEADER.
 */
errand_status errand__headers_check(errand_bytes block,
                                    errand__header_facts *out);

/*
 * Reads one line of the block, and moves the position to the next.
 * Returns: false at the end.
 */
bool errand__headers_next(errand_bytes block, size_t *position,
                          errand_bytes *line);

#endif
