/* A server of somebody else's, run as a child at a free loopback port. It ends
   when the program does. */
#ifndef ERRAND_TESTS_CHILD_SERVER_H
#define ERRAND_TESTS_CHILD_SERVER_H

#include <stdint.h>
#include <sys/types.h>

/* A port that nobody listens at now; 0 where there is none. */
uint16_t child_server_free_port(void);

/* Runs a program found by PATH, `arguments` ended by NULL, with what it prints
   in a file, and waits until it listens at the port. Returns: its pid, or -1,
   having said why on stderr. */
pid_t child_server_start(const char *const *arguments, uint16_t port,
                         const char *log);
void child_server_stop(pid_t pid);

#endif
