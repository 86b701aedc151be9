/* Latencies in nanoseconds, log-linear: 128 steps a power of two, so that a
   percentile is at most 0.8 % off. One writer at a time. */
#ifndef BENCH_HISTOGRAM_H
#define BENCH_HISTOGRAM_H

#include <stdint.h>

enum {
  BENCH_HISTOGRAM_STEPS = 128,
  BENCH_HISTOGRAM_CELLS = BENCH_HISTOGRAM_STEPS * 40
};

typedef struct bench_histogram {
  uint64_t count;
  uint64_t sum;
  uint64_t min;
  uint64_t max;
  uint64_t cells[BENCH_HISTOGRAM_CELLS];
} bench_histogram;

void bench_histogram_clear(bench_histogram *histogram);
void bench_histogram_record(bench_histogram *histogram, uint64_t nanoseconds);
void bench_histogram_add(bench_histogram *into, const bench_histogram *from);
/* Returns: the largest value of the cell that holds the quantile (0...1),
   never above the maximum; 0 where nothing was recorded. */
uint64_t bench_histogram_quantile(const bench_histogram *histogram,
                                  double quantile);

#endif
