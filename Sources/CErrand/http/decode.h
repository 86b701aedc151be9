/*
 * Decodes content codings (RFC 9110 8.4): gzip, deflate, br and zstd, also
 * several on top of each other.
 *
 * libcurl's own decoders do not notice a body that ends too early, and do not
 * read a second gzip member (RFC 1952 2.2). They also produce everything that
 * one read decodes to, however much that is.
 */
#ifndef ERRAND_HTTP_DECODE_H
#define ERRAND_HTTP_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/errand_status.h"

typedef enum errand__coding {
  ERRAND__CODING_GZIP = 0,
  ERRAND__CODING_DEFLATE = 1,
  ERRAND__CODING_BROTLI = 2,
  ERRAND__CODING_ZSTD = 3,
  ERRAND__CODING_UNKNOWN = 4
} errand__coding;

/* libcurl's limit too (MAX_ENCODE_STACK). */
#define ERRAND__CODINGS_MAX 5

/* The codings of Content-Encoding, in the order in which they were applied. */
typedef struct errand__codings {
  uint8_t count; /* above the maximum: there are too many to decode */
  uint8_t list[ERRAND__CODINGS_MAX];
} errand__codings;

/* Adds the codings that a field value lists. "identity" is left out. */
void errand__codings_add(errand__codings *codings, const char *value,
                         size_t length);

/* Whether this build decodes the coding. */
bool errand__coding_is_known(errand__coding coding);

/* Writes the names and run-time versions of the libraries that decode here,
   such as "zlib/1.2.13 brotli/1.0.9 zstd/1.5.4". */
void errand__coding_libraries(char *out, size_t size);

typedef struct errand__decoder errand__decoder;

/*
 * Thread: loop.
 * Owns: the caller frees with errand__decoder_free.
 * Returns: OK and *out; OUT_OF_MEMORY; DECODING_FAILED for an unknown coding or
 * too many of them, and *words says which.
 */
errand_status errand__decoder_create(const errand__codings *codings,
                                     errand__decoder **out, const char **words);
void errand__decoder_free(errand__decoder *decoder);

/* Bytes to read, and room to fill. Both shrink from the front. */
typedef struct errand__input {
  const uint8_t *at;
  size_t left;
} errand__input;
typedef struct errand__room {
  uint8_t *at;
  size_t left;
} errand__room;

/*
 * Decodes until the room is full or the input is used up. If room is left, the
 * input gives no more bytes.
 * Returns: OK; DECODING_FAILED for a malformed body; OUT_OF_MEMORY.
 */
errand_status errand__decoder_run(errand__decoder *decoder,
                                  errand__input *input, errand__room *room);

/*
 * Finds out whether this input gives more bytes while there is no room for
 * them. This decodes one byte, which the next run writes first.
 * Returns: like errand__decoder_run.
 */
errand_status errand__decoder_look(errand__decoder *decoder,
                                   errand__input *input, bool *more);

/* Whether the body may end here: every coding has come to its end. */
bool errand__decoder_is_whole(const errand__decoder *decoder);

/* What is wrong, as a static string; NULL: nothing is known to be wrong. */
const char *errand__decoder_words(const errand__decoder *decoder);

#endif
