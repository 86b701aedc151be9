#include "support/nghttpd_fixture.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/child_server.h"
#include "support/text.h"

static void rest(void) {
  nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static bool start_at_some_port(nghttpd_fixture *nghttpd,
                               const nginx_fixture *fixture) {
  memset(nghttpd, 0, sizeof *nghttpd);
  nghttpd->port = child_server_free_port();
  snprintf(nghttpd->log, sizeof nghttpd->log, "%s/nghttpd.log",
           fixture->directory);
  const char *const arguments[] = {"nghttpd",
                                   "-v",
                                   "--address=127.0.0.1",
                                   "-d",
                                   nginx_file(fixture, "www"),
                                   text("%u", nghttpd->port),
                                   nginx_file(fixture, "certs/valid.key"),
                                   nginx_file(fixture, "certs/valid.pem"),
                                   NULL};
  nghttpd->pid = child_server_start(arguments, nghttpd->port, nghttpd->log);
  return nghttpd->pid > 0;
}

/* The server of another test may take the port first. */
int nghttpd_fixture_start(nghttpd_fixture *nghttpd,
                          const nginx_fixture *fixture) {
  for (int i = 0; i < 5; i++)
    if (start_at_some_port(nghttpd, fixture))
      return 0;
  return -1;
}

void nghttpd_fixture_stop(nghttpd_fixture *nghttpd) {
  child_server_stop(nghttpd->pid);
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
  for (int i = 0; i < 6000 && count == 0; i++) {
    count = count_in(nghttpd->log, what);
    if (count == 0)
      rest();
  }
  return count;
}
