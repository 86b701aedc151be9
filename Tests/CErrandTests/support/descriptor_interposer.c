/* For ThreadSanitizer alone. libcurl before 8.2 closes sockets that never
   connected without telling, and the loop then passes a number to epoll_ctl and
   fstat that may be another thread's new descriptor (tsan.supp). TSan takes
   both for reads of that descriptor, and reports the close(2) of its new owner.
   If the loop's thread has done much since, TSan has lost the stack of the
   read, and a suppression by the name of its function does not match. So TSan
   does not note these reads, with any libcurl and of any caller. TSan still
   sees what epoll orders. */
#include <dlfcn.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/stat.h>

#ifdef __SANITIZE_THREAD__

void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);

typedef int (*controller)(int, int, int, struct epoll_event *);
typedef int (*status_reader)(int, struct stat *);

int epoll_ctl(int set, int operation, int fd, struct epoll_event *event) {
  static _Atomic(controller) next;
  controller real = next;
  if (real == NULL)
    next = real = (controller) dlsym(RTLD_NEXT, "epoll_ctl");
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  int result = real(set, operation, fd, event);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  return result;
}

int fstat(int fd, struct stat *status) {
  static _Atomic(status_reader) next;
  status_reader real = next;
  if (real == NULL)
    next = real = (status_reader) dlsym(RTLD_NEXT, "fstat");
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  int result = real(fd, status);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  return result;
}

#endif
