/* Seeded random numbers: a failing run is repeated with ERRAND_TEST_SEED. */
#ifndef ERRAND_TESTS_RANDOM_H
#define ERRAND_TESTS_RANDOM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct random_source {
  uint64_t state;
} random_source;

/* Returns: ERRAND_TEST_SEED if that is set, else `otherwise`; printed. */
static inline uint64_t random_seed(uint64_t otherwise) {
  const char *set = getenv("ERRAND_TEST_SEED");
  uint64_t seed = set != NULL ? strtoull(set, NULL, 10) : otherwise;
  printf("ERRAND_TEST_SEED=%llu\n", (unsigned long long) seed);
  return seed;
}

/* splitmix64 */
static inline uint64_t random_next(random_source *source) {
  uint64_t z = source->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* 0 ... below - 1 */
static inline uint64_t random_below(random_source *source, uint64_t below) {
  return random_next(source) % below;
}

#endif
