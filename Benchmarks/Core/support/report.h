/* What a run counted, and the JSON that `errand bench --json` prints too. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdint.h>

#include "histogram.h"

typedef struct bench_totals {
  uint64_t requests;
  uint64_t errors;
  uint64_t bytes;
  uint64_t status[600];
  bench_histogram latency;
} bench_totals;

/* Wall clock and CPU time of the process, at one moment. */
typedef struct bench_moment {
  uint64_t nanoseconds;
  double user;
  double system;
} bench_moment;

uint64_t bench_now(void);
void bench_moment_read(bench_moment *moment);

void bench_totals_clear(bench_totals *totals);
void bench_totals_add(bench_totals *into, const bench_totals *from);
/* `http_status` 0 means that there was no response: an error. */
void bench_totals_record(bench_totals *totals, unsigned http_status,
                         uint64_t bytes, uint64_t nanoseconds);

void bench_report_print(const bench_totals *totals, const bench_moment *from,
                        const bench_moment *to, const char *mode,
                        uint32_t connections, uint32_t loops);

#endif
