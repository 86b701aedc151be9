/*
 * Counts calls to the C library, for LD_PRELOAD: what a request allocates and
 * which system calls it makes, where no tracer is at hand. Each count is
 * written to the file that ERRAND_CALLS names when the process exits. Calls
 * within the C library itself do not come by here.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define COUNTED(X)                                                             \
  X(malloc)                                                                    \
  X(calloc)                                                                    \
  X(realloc)                                                                   \
  X(aligned)                                                                   \
  X(poll)                                                                      \
  X(epoll_ctl)                                                                 \
  X(epoll_wait) X(sigaction) X(wake) X(write) X(read) X(send) X(recv)

#define ENUMERATOR(name) CALL_##name,
enum { COUNTED(ENUMERATOR) CALLS };
#define TEXT(name) #name,
static const char *const names[] = {COUNTED(TEXT)};
static atomic_ullong counts[CALLS];

static void count(int call) {
  atomic_fetch_add_explicit(&counts[call], 1, memory_order_relaxed);
}

static void *real(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (found == NULL)
    _exit(1);
  return found;
}

/* dlsym itself may call calloc: the C library's own names need no look-up. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t number, size_t size);
extern void *__libc_realloc(void *pointer, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size) {
  count(CALL_malloc);
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  count(CALL_calloc);
  return __libc_calloc(number, size);
}

void *realloc(void *pointer, size_t size) {
  count(CALL_realloc);
  return __libc_realloc(pointer, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  count(CALL_aligned);
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  count(CALL_aligned);
  *result = __libc_memalign(alignment, size);
  return *result == NULL ? 12 : 0;
}

#define FORWARD(result, name, call, parameters, arguments)                     \
  result name parameters {                                                     \
    static _Atomic(void *) known;                                              \
    void *function = atomic_load(&known);                                      \
    if (function == NULL) {                                                    \
      function = real(#name);                                                  \
      atomic_store(&known, function);                                          \
    }                                                                          \
    count(call);                                                               \
    return ((result(*) parameters) function) arguments;                        \
  }

FORWARD(int, poll, CALL_poll, (struct pollfd * fds, nfds_t n, int timeout),
        (fds, n, timeout))
FORWARD(int, epoll_ctl, CALL_epoll_ctl,
        (int epoll, int operation, int fd, struct epoll_event *event),
        (epoll, operation, fd, event))
FORWARD(int, epoll_wait, CALL_epoll_wait,
        (int epoll, struct epoll_event *events, int n, int timeout),
        (epoll, events, n, timeout))
FORWARD(int, epoll_pwait, CALL_epoll_wait,
        (int epoll, struct epoll_event *events, int n, int timeout,
         const sigset_t *mask),
        (epoll, events, n, timeout, mask))
FORWARD(int, sigaction, CALL_sigaction,
        (int number, const struct sigaction *action, struct sigaction *old),
        (number, action, old))
FORWARD(ssize_t, read, CALL_read, (int fd, void *bytes, size_t n),
        (fd, bytes, n))
FORWARD(ssize_t, send, CALL_send,
        (int fd, const void *bytes, size_t n, int options),
        (fd, bytes, n, options))
FORWARD(ssize_t, recv, CALL_recv, (int fd, void *bytes, size_t n, int options),
        (fd, bytes, n, options))

/* Eight bytes are what an eventfd takes: a loop is woken. */
ssize_t write(int fd, const void *bytes, size_t n) {
  static _Atomic(void *) known;
  void *function = atomic_load(&known);
  if (function == NULL) {
    function = real("write");
    atomic_store(&known, function);
  }
  count(n == 8 ? CALL_wake : CALL_write);
  return ((ssize_t(*)(int, const void *, size_t)) function)(fd, bytes, n);
}

__attribute__((destructor)) static void report(void) {
  const char *path = getenv("ERRAND_CALLS");
  int fd = path == NULL
               ? -1
               : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0)
    return;
  for (int call = 0; call < CALLS; call++)
    dprintf(fd, "%s %llu\n", names[call], atomic_load(&counts[call]));
  close(fd);
}
