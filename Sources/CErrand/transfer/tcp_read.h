/* How many bytes of a connection have been read, counted by the kernel. */
#ifndef ERRAND_TRANSFER_TCP_READ_H
#define ERRAND_TRANSFER_TCP_READ_H

#include <stdint.h>

/* Returns: the bytes that were read from a TCP connection since it was made; 0
   for any other socket, and for -1. */
uint64_t errand__tcp_read(int fd);

#endif
