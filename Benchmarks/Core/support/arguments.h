/* The command line that the C benchmarks share. */
#ifndef BENCH_ARGUMENTS_H
#define BENCH_ARGUMENTS_H

#include <stddef.h>
#include <stdint.h>

typedef struct bench_arguments {
  const char *url;
  const char *method;   /* NULL: GET */
  const char **headers; /* "Name: value" */
  size_t header_count;
  char *body; /* the body file's bytes, or NULL */
  size_t body_length;
  uint32_t concurrency;
  uint32_t loops;
  uint32_t shard; /* requests to a multi handle of the bare loop */
  uint64_t requests;
  uint64_t warmup;
  long buffer_size;
  double rate;           /* requests a second, whatever is answered; 0: none */
  uint64_t tick;         /* of the rate, in nanoseconds; 0: none */
  const char *authority; /* PEM file, or NULL */
  int http2;
  int rich;       /* fields and deadlines set for each request anew */
  int fresh_urls; /* "?n=1", "?n=2", ... so that nothing can be reused */
  int external;
  int stats;
} bench_arguments;

/* Parses, or says on stderr what is wrong and exits with 64 (EX_USAGE). */
void bench_arguments_parse(bench_arguments *arguments, int argc, char **argv);
void bench_arguments_free(bench_arguments *arguments);

#endif
