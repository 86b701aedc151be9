/* <linux/tcp.h> has the kernel's struct tcp_info. It clashes with
   <netinet/tcp.h>, whose struct has no tcpi_bytes_received. */
#include "transfer/tcp_read.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

uint64_t errand__tcp_read(int fd) {
  struct tcp_info info = {0};
  socklen_t size = sizeof info;
  int unread = 0;
  if (fd < 0 || getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
      ioctl(fd, FIONREAD, &unread) != 0 || unread < 0)
    return 0;
  uint64_t received = info.tcpi_bytes_received;
  return received > (uint64_t) unread ? received - (uint64_t) unread : 0;
}
