#include "support/process.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

/* Entries of a directory, without "." and ".."; `but` fewer. */
static int entries(const char *path, int but) {
  DIR *directory = opendir(path);
  if (directory == NULL)
    return -1;
  int count = 0;
  for (struct dirent *each; (each = readdir(directory)) != NULL;)
    count += each->d_name[0] != '.';
  closedir(directory);
  return count - but;
}

static void *nothing(void *context) {
  return context;
}

static process_usage read_usage(void) {
  return (process_usage){
      .threads = entries("/proc/self/task", 0),
      .descriptors = entries("/proc/self/fd", 1), /* opendir's own */
  };
}

process_usage process_usage_now(void) {
  /* A sanitizer starts a thread of its own with a program's first. */
  pthread_t first;
  if (pthread_create(&first, NULL, nothing, NULL) == 0)
    pthread_join(first, NULL);
  return read_usage();
}

int64_t process_milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool process_usage_settles(process_usage then, int64_t milliseconds) {
  int64_t deadline = process_milliseconds() + milliseconds;
  for (;;) {
    process_usage now = read_usage();
    if (now.threads <= then.threads && now.descriptors <= then.descriptors)
      return true;
    if (process_milliseconds() > deadline) {
      fprintf(stderr, "threads: %d, were %d; descriptors: %d, were %d\n",
              now.threads, then.threads, now.descriptors, then.descriptors);
      return false;
    }
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
}
