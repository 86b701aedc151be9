/* The bare loop's sockets: libcurl's wishes against one epoll descriptor that
   sits inside one uv_poll_t. */
#ifndef BENCH_BARE_SOCKETS_H
#define BENCH_BARE_SOCKETS_H

#include <curl/curl.h>
#include <stdint.h>
#include <uv.h>

typedef struct bare_socket {
  uint8_t wanted; /* EPOLLIN and EPOLLOUT, as libcurl last asked */
  uint8_t armed;  /* what epoll was last told */
  uint8_t owned;  /* made by our OPENSOCKETFUNCTION */
  CURLM *multi;   /* that it is of, once libcurl wished something */
} bare_socket;

typedef struct bare_sockets {
  int epoll;
  uv_poll_t poll;
  bare_socket *table; /* by descriptor */
  uint32_t capacity;
  uint64_t changes; /* epoll_ctl calls */
  uint64_t actions;
} bare_sockets;

/* One multi handle's part in them. */
typedef struct bare_sockets_of {
  bare_sockets *sockets;
  CURLM *multi;
} bare_sockets_of;

/* Returns: 0, or a negative errno. */
int bare_sockets_init(bare_sockets *sockets, uv_loop_t *loop);
void bare_sockets_close(bare_sockets *sockets);

/* CURLMOPT_SOCKETFUNCTION; the user pointer is a bare_sockets_of. */
int bare_sockets_wish(CURL *easy, curl_socket_t fd, int what, void *context,
                      void *socket);

/* CURLOPT_OPENSOCKETFUNCTION and CURLOPT_CLOSESOCKETFUNCTION; the user pointer
   is the bare_sockets. */
curl_socket_t bare_sockets_open(void *context, curlsocktype purpose,
                                struct curl_sockaddr *address);
int bare_sockets_shut(void *context, curl_socket_t fd);

#endif
