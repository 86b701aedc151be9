#include "histogram.h"

#include <string.h>

static uint32_t cell_of(uint64_t value) {
  uint32_t shift, cell;
  if (value < 2 * BENCH_HISTOGRAM_STEPS)
    return (uint32_t) value;
  shift = 63 - (uint32_t) __builtin_clzll(value) - 7;
  cell = shift * BENCH_HISTOGRAM_STEPS + (uint32_t) (value >> shift);
  return cell < BENCH_HISTOGRAM_CELLS ? cell : BENCH_HISTOGRAM_CELLS - 1;
}

static uint64_t top_of(uint32_t cell) {
  uint32_t shift;
  if (cell < 2 * BENCH_HISTOGRAM_STEPS)
    return cell;
  shift = cell / BENCH_HISTOGRAM_STEPS - 1;
  return (((uint64_t) (cell % BENCH_HISTOGRAM_STEPS + BENCH_HISTOGRAM_STEPS) +
           1)
          << shift) -
         1;
}

void bench_histogram_clear(bench_histogram *histogram) {
  memset(histogram, 0, sizeof *histogram);
  histogram->min = UINT64_MAX;
}

void bench_histogram_record(bench_histogram *histogram, uint64_t nanoseconds) {
  histogram->count += 1;
  histogram->sum += nanoseconds;
  if (nanoseconds < histogram->min)
    histogram->min = nanoseconds;
  if (nanoseconds > histogram->max)
    histogram->max = nanoseconds;
  histogram->cells[cell_of(nanoseconds)] += 1;
}

void bench_histogram_add(bench_histogram *into, const bench_histogram *from) {
  into->count += from->count;
  into->sum += from->sum;
  if (from->min < into->min)
    into->min = from->min;
  if (from->max > into->max)
    into->max = from->max;
  for (uint32_t cell = 0; cell < BENCH_HISTOGRAM_CELLS; cell++)
    into->cells[cell] += from->cells[cell];
}

uint64_t bench_histogram_quantile(const bench_histogram *histogram,
                                  double quantile) {
  uint64_t wanted, seen = 0;
  if (histogram->count == 0)
    return 0;
  wanted = (uint64_t) (quantile * (double) histogram->count + 0.5);
  if (wanted < 1)
    wanted = 1;
  for (uint32_t cell = 0; cell < BENCH_HISTOGRAM_CELLS; cell++) {
    seen += histogram->cells[cell];
    if (seen >= wanted)
      return top_of(cell) < histogram->max ? top_of(cell) : histogram->max;
  }
  return histogram->max;
}
