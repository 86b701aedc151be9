/* How much of a connection has been read, by the kernel's count. */
#ifndef ERRAND_TRANSFER_TCP_READ_H
#define ERRAND_TRANSFER_TCP_READ_H

#include <stdint.h>

/* Bytes that were read of the TCP connection since it was made; 0 of any other
   socket, and for -1. */
uint64_t errand__tcp_read(int fd);

#endif
