/* Found before libc's by libcurl because the executable exports it. Answers
   come from the real function, so that freeaddrinfo fits. */
#include "support/dns_interposer.h"

#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

typedef int (*resolver)(const char *, const char *, const struct addrinfo *,
                        struct addrinfo **);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool released;
static int hanging;
static int calls;
static bool turned;

static bool matches(const char *name, const char *prefix) {
  size_t length = strlen(name);
  return strncmp(name, prefix, strlen(prefix)) == 0 && length > 5 &&
         strcmp(name + length - 5, ".test") == 0;
}

static void hang(void) {
  pthread_mutex_lock(&lock);
  hanging += 1;
  pthread_cond_broadcast(&changed);
  while (!released)
    pthread_cond_wait(&changed, &lock);
  hanging -= 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

static int two(resolver real, const char *service, const struct addrinfo *hints,
               struct addrinfo **out) {
  struct addrinfo *second = NULL;
  int error = real("127.0.0.2", service, hints, out);
  if (error == 0)
    error = real("127.0.0.1", service, hints, &second);
  if (error != 0)
    return error;
  struct addrinfo *last = *out;
  while (last->ai_next != NULL)
    last = last->ai_next;
  last->ai_next = second;
  return 0;
}

static int turn(resolver real, const char *service,
                const struct addrinfo *hints, struct addrinfo **out) {
  pthread_mutex_lock(&lock);
  bool first = !turned;
  turned = true;
  pthread_mutex_unlock(&lock);
  return real(first ? "127.0.0.1" : "127.0.0.2", service, hints, out);
}

int getaddrinfo(const char *node, const char *service,
                const struct addrinfo *hints, struct addrinfo **out) {
  static const char *const prefixes[] = {"hang",  "fail", "again",
                                         "local", "two",  "turn"};
  resolver real = (resolver) dlsym(RTLD_NEXT, "getaddrinfo");
  int found = -1;
  for (int i = 0; node != NULL && i < 6; i++)
    if (matches(node, prefixes[i]))
      found = i;
  if (found < 0)
    return real(node, service, hints, out);
  pthread_mutex_lock(&lock);
  calls += 1;
  pthread_mutex_unlock(&lock);
  switch (found) {
  case 0:
    hang();
    return EAI_AGAIN;
  case 1:
    return EAI_NONAME;
  case 2:
    return EAI_AGAIN;
  case 3:
    return real("127.0.0.1", service, hints, out);
  case 4:
    return two(real, service, hints, out);
  default:
    return turn(real, service, hints, out);
  }
}

void dns_release(void) {
  pthread_mutex_lock(&lock);
  released = true;
  pthread_cond_broadcast(&changed);
  while (hanging > 0)
    pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

void dns_hold(void) {
  pthread_mutex_lock(&lock);
  released = false;
  pthread_mutex_unlock(&lock);
}

int dns_hanging(void) {
  pthread_mutex_lock(&lock);
  int now = hanging;
  pthread_mutex_unlock(&lock);
  return now;
}

int dns_calls(void) {
  pthread_mutex_lock(&lock);
  int now = calls;
  pthread_mutex_unlock(&lock);
  return now;
}
