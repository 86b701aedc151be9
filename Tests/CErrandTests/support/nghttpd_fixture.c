#include "support/nghttpd_fixture.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/text.h"

static void rest(void) {
  nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static struct sockaddr_in loopback(uint16_t port) {
  return (struct sockaddr_in){.sin_family = AF_INET,
                              .sin_port = htons(port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static uint16_t free_port(void) {
  struct sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool ok = fd >= 0 &&
            bind(fd, (struct sockaddr *) &address, sizeof address) == 0 &&
            getsockname(fd, (struct sockaddr *) &address, &length) == 0;
  if (fd >= 0)
    close(fd);
  return ok ? ntohs(address.sin_port) : 0;
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

int nghttpd_fixture_start(nghttpd_fixture *nghttpd,
                          const nginx_fixture *nginx) {
  char port[8];
  memset(nghttpd, 0, sizeof *nghttpd);
  nghttpd->port = free_port();
  snprintf(port, sizeof port, "%u", nghttpd->port);
  snprintf(nghttpd->log, sizeof nghttpd->log, "%s/nghttpd.log",
           nginx->directory);
  const char *key = nginx_file(nginx, "certs/valid.key");
  const char *certificate = nginx_file(nginx, "certs/valid.pem");
  const char *root = nginx_file(nginx, "www");
  nghttpd->pid = fork();
  if (nghttpd->pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int log = open(nghttpd->log, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    dup2(log, STDOUT_FILENO);
    execlp("nghttpd", "nghttpd", "-v", "--address=127.0.0.1", "-d", root, port,
           key, certificate, (char *) NULL);
    perror("nghttpd");
    _exit(127);
  }
  for (int i = 0; i < 500 && nghttpd->pid > 0; i++) {
    if (listens(nghttpd->port))
      return 0;
    if (waitpid(nghttpd->pid, NULL, WNOHANG) != 0) {
      nghttpd->pid = 0;
      break;
    }
    rest();
  }
  fprintf(stderr, "nghttpd did not start\n");
  nghttpd_fixture_stop(nghttpd);
  return -1;
}

void nghttpd_fixture_stop(nghttpd_fixture *nghttpd) {
  if (nghttpd->pid > 0) {
    kill(nghttpd->pid, SIGKILL);
    waitpid(nghttpd->pid, NULL, 0);
  }
  nghttpd->pid = 0;
}

static int count_in(const char *path, const char *what) {
  int count = 0;
  char *line = NULL;
  size_t capacity = 0;
  FILE *from = fopen(path, "re");
  while (from != NULL && getline(&line, &capacity, from) > 0)
    count += strstr(line, what) != NULL;
  if (from != NULL)
    fclose(from);
  free(line);
  return count;
}

int nghttpd_logged(const nghttpd_fixture *nghttpd, const char *what) {
  int count = 0;
  for (int i = 0; i < 500 && count == 0; i++) {
    count = count_in(nghttpd->log, what);
    if (count == 0)
      rest();
  }
  return count;
}
