#include "support/child_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct sockaddr_in loopback(uint16_t port) {
  return (struct sockaddr_in){.sin_family = AF_INET,
                              .sin_port = htons(port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static bool is_free(uint16_t port) {
  struct sockaddr_in address = loopback(port);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool ok =
      fd >= 0 && bind(fd, (struct sockaddr *) &address, sizeof address) == 0;
  if (fd >= 0)
    close(fd);
  return ok;
}

/* Below the ports that the kernel gives to outgoing connections: one of those
   might take it before the server does. nginx-site takes none that ends in 8 or
   9. */
uint16_t child_server_free_port(void) {
  for (int i = 0; i < 100; i++) {
    uint16_t random;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
      break;
    uint16_t port = (uint16_t) (10008 + random / 2 % 2200 * 10 + random % 2);
    if (is_free(port))
      return port;
  }
  return 0;
}

static bool listens(uint16_t port) {
  struct sockaddr_in address = loopback(port);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool ok =
      fd >= 0 && connect(fd, (struct sockaddr *) &address, sizeof address) == 0;
  if (fd >= 0)
    close(fd);
  return ok;
}

static void become(const char *const *arguments, const char *log) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int nothing = open("/dev/null", O_RDONLY);
  int to = open(log, O_CREAT | O_TRUNC | O_WRONLY, 0600);
  dup2(nothing, STDIN_FILENO);
  dup2(to, STDOUT_FILENO);
  execvp(arguments[0], (char *const *) (uintptr_t) arguments);
  perror(arguments[0]);
  _exit(127);
}

pid_t child_server_start(const char *const *arguments, uint16_t port,
                         const char *log) {
  pid_t pid = fork();
  if (pid == 0)
    become(arguments, log);
  for (int i = 0; i < 6000 && pid > 0; i++) {
    if (listens(port))
      return pid;
    if (waitpid(pid, NULL, WNOHANG) != 0) {
      pid = -1;
      break;
    }
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
  }
  fprintf(stderr, "%s did not start\n", arguments[0]);
  child_server_stop(pid);
  return -1;
}

void child_server_stop(pid_t pid) {
  if (pid <= 0)
    return;
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
}
