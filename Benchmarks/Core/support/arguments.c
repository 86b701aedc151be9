#include "arguments.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 64 };

static void usage(const char *program, const char *problem) {
  fprintf(stderr,
          "%s: %s\n"
          "usage: %s URL [-c CONCURRENCY] [-n REQUESTS] [-w WARM-UP]\n"
          "  [-H 'Name: value']... [--method M] [--body-file FILE]\n"
          "  [--http2] [--cacert FILE] [--fresh-urls] [--buffer-size BYTES]\n"
          "  [--rich] [--rate REQUESTS_A_SECOND [--tick MICROSECONDS]]\n"
          "  [--stats]; bare_loop: [--shard REQUESTS_TO_A_HANDLE];\n"
          "  core_bench: [--loops N] [--external]\n",
          program, problem, program);
  exit(EXIT_USAGE);
}

static uint64_t number(const char *program, const char *text, uint64_t low,
                       uint64_t high) {
  char *end;
  unsigned long long value;
  errno = 0;
  value = strtoull(text, &end, 10);
  if (errno != 0 || end == text || *end != 0 || *text == '-' || value < low ||
      value > high)
    usage(program, "a number is malformed or out of range");
  return value;
}

static double rate_of(const char *program, const char *text) {
  char *end;
  double value = strtod(text, &end);
  if (end == text || *end != 0 || !(value >= 0.001 && value <= 1e7))
    usage(program, "a rate is 0.001 to 10,000,000 requests a second");
  return value;
}

static char *read_file(const char *program, const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  char *bytes = NULL;
  long size;
  if (file == NULL)
    usage(program, "the body file cannot be opened");
  if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 &&
      fseek(file, 0, SEEK_SET) == 0)
    bytes = malloc((size_t) size + 1);
  if (bytes == NULL || fread(bytes, 1, (size_t) size, file) != (size_t) size)
    usage(program, "the body file cannot be read");
  fclose(file);
  *length = (size_t) size;
  return bytes;
}

void bench_arguments_parse(bench_arguments *arguments, int argc, char **argv) {
  enum {
    METHOD = 1000,
    BODY,
    HTTP2,
    AUTHORITY,
    RICH,
    SHARD,
    RATE,
    TICK,
    FRESH,
    BUFFER,
    LOOPS,
    EXTERNAL,
    STATS
  };
  static const struct option options[] = {
      {"method", required_argument, NULL, METHOD},
      {"body-file", required_argument, NULL, BODY},
      {"http2", no_argument, NULL, HTTP2},
      {"cacert", required_argument, NULL, AUTHORITY},
      {"rich", no_argument, NULL, RICH},
      {"shard", required_argument, NULL, SHARD},
      {"rate", required_argument, NULL, RATE},
      {"tick", required_argument, NULL, TICK},
      {"fresh-urls", no_argument, NULL, FRESH},
      {"buffer-size", required_argument, NULL, BUFFER},
      {"loops", required_argument, NULL, LOOPS},
      {"external", no_argument, NULL, EXTERNAL},
      {"stats", no_argument, NULL, STATS},
      {NULL, 0, NULL, 0}};
  int option;
  memset(arguments, 0, sizeof *arguments);
  arguments->concurrency = 64;
  arguments->requests = 100000;
  arguments->loops = 1;
  arguments->shard = 64;
  arguments->warmup = UINT64_MAX;
  arguments->headers = calloc((size_t) argc, sizeof *arguments->headers);
  if (arguments->headers == NULL)
    usage(argv[0], "out of memory");
  while ((option = getopt_long(argc, argv, "c:n:w:H:", options, NULL)) != -1) {
    switch (option) {
    case 'c':
      arguments->concurrency = (uint32_t) number(argv[0], optarg, 1, 1000000);
      break;
    case 'n':
      arguments->requests = number(argv[0], optarg, 1, UINT64_MAX / 4);
      break;
    case 'w':
      arguments->warmup = number(argv[0], optarg, 0, UINT64_MAX / 4);
      break;
    case 'H':
      arguments->headers[arguments->header_count++] = optarg;
      break;
    case METHOD:
      arguments->method = optarg;
      break;
    case BODY:
      free(arguments->body);
      arguments->body = read_file(argv[0], optarg, &arguments->body_length);
      break;
    case HTTP2:
      arguments->http2 = 1;
      break;
    case AUTHORITY:
      arguments->authority = optarg;
      break;
    case RICH:
      arguments->rich = 1;
      break;
    case SHARD:
      arguments->shard = (uint32_t) number(argv[0], optarg, 1, 1000000);
      break;
    case RATE:
      arguments->rate = rate_of(argv[0], optarg);
      break;
    case TICK:
      arguments->tick = number(argv[0], optarg, 1, 1000000) * 1000;
      break;
    case FRESH:
      arguments->fresh_urls = 1;
      break;
    case BUFFER:
      arguments->buffer_size = (long) number(argv[0], optarg, 1024, 524288);
      break;
    case LOOPS:
      arguments->loops = (uint32_t) number(argv[0], optarg, 1, 64);
      break;
    case EXTERNAL:
      arguments->external = 1;
      break;
    case STATS:
      arguments->stats = 1;
      break;
    default:
      usage(argv[0], "unknown option");
    }
  }
  if (optind != argc - 1)
    usage(argv[0], "exactly one URL is needed");
  arguments->url = argv[optind];
  if (arguments->warmup == UINT64_MAX)
    arguments->warmup = arguments->requests / 20;
}

void bench_arguments_free(bench_arguments *arguments) {
  free(arguments->headers);
  free(arguments->body);
}
