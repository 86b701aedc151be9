/*
 * The smallest server the consumers can ask: runs a command with
 * "http://127.0.0.1:PORT/" appended, answers every request of it with 200 and
 * "hello", and exits as the command does.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const char answer[] = "HTTP/1.1 200 OK\r\n"
                             "Content-Length: 5\r\n"
                             "Connection: close\r\n"
                             "\r\n"
                             "hello";

static void *serve(void *context) {
  int listener = (int) (intptr_t) context;
  for (;;) {
    int fd = accept(listener, NULL, NULL);
    char head[4096];
    size_t length = 0;
    ssize_t got;
    if (fd < 0)
      return NULL;
    head[0] = 0;
    while (length < sizeof head - 1 && strstr(head, "\r\n\r\n") == NULL &&
           (got = read(fd, head + length, sizeof head - 1 - length)) > 0) {
      length += (size_t) got;
      head[length] = 0;
    }
    (void) !write(fd, answer, sizeof answer - 1);
    close(fd);
  }
}

int main(int argc, char **argv) {
  struct sockaddr_in address = {.sin_family = AF_INET};
  socklen_t length = sizeof address;
  pthread_t server;
  char url[64];
  int status;
  char **command = calloc((size_t) argc + 1, sizeof *command);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (argc < 2 || command == NULL || listener < 0 ||
      bind(listener, (struct sockaddr *) &address, sizeof address) != 0 ||
      listen(listener, 16) != 0 ||
      getsockname(listener, (struct sockaddr *) &address, &length) != 0 ||
      pthread_create(&server, NULL, serve, (void *) (intptr_t) listener) != 0) {
    fprintf(stderr, "usage: consumer_server COMMAND [ARGUMENT...]\n");
    return 2;
  }
  snprintf(url, sizeof url, "http://127.0.0.1:%d/", ntohs(address.sin_port));
  memcpy(command, argv + 1, (size_t) (argc - 1) * sizeof *command);
  command[argc - 1] = url;

  pid_t child = fork();
  if (child == 0) {
    execv(command[0], command);
    perror(command[0]);
    _exit(127);
  }
  if (child < 0 || waitpid(child, &status, 0) != child)
    return 2;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
