/* A blocking client of plain bytes, for tests of the servers themselves. */
#ifndef ERRAND_TESTS_WIRE_H
#define ERRAND_TESTS_WIRE_H

#include <stddef.h>
#include <stdint.h>

/* Connects to loopback. Returns: a descriptor, or -1 with errno. Every read
   gives up after 150 s. */
int wire_connect(uint16_t port);
int wire_connect_unix(const char *path);
/* Starts connecting and does not wait for it. */
int wire_start_connect(uint16_t port);

/* Sends all of the text. Returns: 0, or -1 with errno. */
int wire_send(int fd, const char *text);

/* Reads until the peer closes, `size - 1` bytes came or `until` was seen
   (NULL: ignored); ends what was read with NUL. Returns: the bytes read, or
   -1 with errno. */
long wire_read(int fd, char *into, size_t size, const char *until);

#endif
