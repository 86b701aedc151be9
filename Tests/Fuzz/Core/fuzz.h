/* What the fuzz targets of the core share. */
#ifndef ERRAND_FUZZ_H
#define ERRAND_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* libFuzzer's entry point. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the run, in every build, with the condition that does not hold. */
#define FUZZ_EXPECT(condition)                                                 \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);          \
      abort();                                                                 \
    }                                                                          \
  } while (0)

/* A copy with a NUL behind it, for free(). */
static inline char *fuzz_copy(const uint8_t *data, size_t size) {
  char *copy = malloc(size + 1);
  if (!copy)
    abort();
  if (size > 0)
    memcpy(copy, data, size);
  copy[size] = '\0';
  return copy;
}

#endif
