/* A real nghttpd over TLS for a test program, with the frames it sees in a log.
   It ends when the program does. */
#ifndef ERRAND_TESTS_NGHTTPD_FIXTURE_H
#define ERRAND_TESTS_NGHTTPD_FIXTURE_H

#include <stdint.h>
#include <sys/types.h>

#include "support/nginx_fixture.h"

typedef struct nghttpd_fixture {
  pid_t pid;
  uint16_t port;
  char log[160];
} nghttpd_fixture;

/* Serves the files of nginx's directory, with its certificate. Returns: 0, or
   -1, having said why on stderr. */
int nghttpd_fixture_start(nghttpd_fixture *nghttpd,
                          const nginx_fixture *fixture);
void nghttpd_fixture_stop(nghttpd_fixture *nghttpd);

/* Waits, 120 s at most, for a text in the log. Returns: how often it is there,
   0 where it did not come. */
int nghttpd_logged(const nghttpd_fixture *nghttpd, const char *what);

#endif
