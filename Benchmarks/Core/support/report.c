#include "report.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

uint64_t bench_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t) time.tv_sec * 1000000000u + (uint64_t) time.tv_nsec;
}

static double seconds_of(struct timeval time) {
  return (double) time.tv_sec + (double) time.tv_usec / 1e6;
}

void bench_moment_read(bench_moment *moment) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  moment->nanoseconds = bench_now();
  moment->user = seconds_of(usage.ru_utime);
  moment->system = seconds_of(usage.ru_stime);
}

void bench_totals_clear(bench_totals *totals) {
  memset(totals, 0, sizeof *totals);
  bench_histogram_clear(&totals->latency);
}

void bench_totals_add(bench_totals *into, const bench_totals *from) {
  into->requests += from->requests;
  into->errors += from->errors;
  into->bytes += from->bytes;
  for (unsigned code = 0; code < 600; code++)
    into->status[code] += from->status[code];
  bench_histogram_add(&into->latency, &from->latency);
}

void bench_totals_record(bench_totals *totals, unsigned http_status,
                         uint64_t bytes, uint64_t nanoseconds) {
  totals->requests += 1;
  totals->bytes += bytes;
  if (http_status == 0 || http_status >= 600)
    totals->errors += 1;
  else
    totals->status[http_status] += 1;
  bench_histogram_record(&totals->latency, nanoseconds);
}

static void print_latency(const bench_histogram *latency) {
  double mean =
      latency->count ? (double) latency->sum / (double) latency->count : 0;
  printf("  \"latency_microseconds\": {\"min\": %.3f, \"mean\": %.3f, "
         "\"p50\": %.3f, \"p90\": %.3f, \"p99\": %.3f, \"p999\": %.3f, "
         "\"max\": %.3f},\n",
         (double) (latency->count ? latency->min : 0) / 1e3, mean / 1e3,
         (double) bench_histogram_quantile(latency, 0.5) / 1e3,
         (double) bench_histogram_quantile(latency, 0.9) / 1e3,
         (double) bench_histogram_quantile(latency, 0.99) / 1e3,
         (double) bench_histogram_quantile(latency, 0.999) / 1e3,
         (double) latency->max / 1e3);
}

/* What a curve of latencies is drawn from: percentile, microseconds. */
static void print_spectrum(const bench_histogram *latency) {
  static const double percentiles[] = {
      0,  10,   20, 30,   40, 50, 60,   70,   75,    80,    85,
      90, 92.5, 95, 97.5, 98, 99, 99.5, 99.9, 99.95, 99.99, 100};
  const char *separator = "";
  printf("  \"latency_spectrum\": [");
  for (size_t i = 0; i < sizeof percentiles / sizeof *percentiles; i++) {
    uint64_t value =
        i == 0 ? (latency->count ? latency->min : 0)
               : bench_histogram_quantile(latency, percentiles[i] / 100);
    printf("%s[%g, %.3f]", separator, percentiles[i], (double) value / 1e3);
    separator = ", ";
  }
  printf("],\n");
}

static void print_status(const uint64_t *status) {
  const char *separator = "";
  printf("  \"status\": {");
  for (unsigned code = 0; code < 600; code++) {
    if (status[code] == 0)
      continue;
    printf("%s\"%u\": %llu", separator, code,
           (unsigned long long) status[code]);
    separator = ", ";
  }
  printf("},\n");
}

/* Not getrusage: its ru_maxrss outlives exec, so that a small program has the
   peak of the one that started it. */
static unsigned long long peak_resident(void) {
  unsigned long long kilobytes = 0;
  char line[128];
  FILE *status = fopen("/proc/self/status", "r");
  if (!status)
    return 0;
  while (fgets(line, sizeof line, status))
    if (sscanf(line, "VmHWM: %llu", &kilobytes) == 1)
      break;
  fclose(status);
  return kilobytes * 1024;
}

void bench_report_print(const bench_totals *totals, const bench_moment *from,
                        const bench_moment *to, const char *mode,
                        uint32_t connections, uint32_t loops) {
  double seconds = (double) (to->nanoseconds - from->nanoseconds) / 1e9;
  double user = to->user - from->user, system = to->system - from->system;
  double requests = totals->requests ? (double) totals->requests : 1;
  printf("{\n  \"requests\": %llu,\n  \"errors\": %llu,\n"
         "  \"seconds\": %.6f,\n  \"requests_per_second\": %.1f,\n"
         "  \"bytes_received\": %llu,\n  \"cpu_user_seconds\": %.6f,\n"
         "  \"cpu_system_seconds\": %.6f,\n"
         "  \"cpu_microseconds_per_request\": %.3f,\n"
         "  \"peak_resident_bytes\": %llu,\n",
         (unsigned long long) totals->requests,
         (unsigned long long) totals->errors, seconds,
         seconds > 0 ? (double) totals->requests / seconds : 0,
         (unsigned long long) totals->bytes, user, system,
         (user + system) * 1e6 / requests, peak_resident());
  print_latency(&totals->latency);
  print_spectrum(&totals->latency);
  print_status(totals->status);
  printf("  \"mode\": \"%s\",\n  \"connections\": %u,\n  \"loops\": %u\n}\n",
         mode, connections, loops);
}
