/* What the process holds: threads and descriptors, from /proc/self. */
#ifndef ERRAND_TESTS_PROCESS_H
#define ERRAND_TESTS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct process_usage {
  int threads;
  int descriptors;
} process_usage;

process_usage process_usage_now(void);

/* Waits until no more is held than then: the kernel takes a joined thread out
   of /proc a little after the join, and resolver threads of libcurl end by
   themselves. Returns: whether it came to that; says so on stderr if not. */
bool process_usage_settles(process_usage then, int64_t milliseconds);

/* A monotonic clock in milliseconds. */
int64_t process_milliseconds(void);

#endif
