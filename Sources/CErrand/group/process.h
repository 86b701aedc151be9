/* What is done once per process, before the first group. */
#ifndef ERRAND_GROUP_PROCESS_H
#define ERRAND_GROUP_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "include/errand_status.h"

/*
 * Initialises OpenSSL, libcurl and the fork guard, once.
 * Thread: any.  Returns: OK; SYSTEM if libcurl refuses; FORKED in a child
 * whose parent had started the engine.
 */
errand_status errand__process_start(void);

/* True in a forked child of a process that had started the engine. */
bool errand__process_forked(void);

/* The runtime version of libcurl, 0x075801 for 7.88.1. */
uint32_t errand__curl_version(void);

/* Whether libcurl has a CURL_VERSION_* feature bit. */
bool errand__curl_has(int feature_bit);

/* Whether libcurl has WebSocket, in clear text and over TLS. */
bool errand__curl_has_websocket(void);

/* Whether HTTP/2 bodies can be trusted by default (8.2 and later). */
bool errand__curl_http2_default(void);

#endif
