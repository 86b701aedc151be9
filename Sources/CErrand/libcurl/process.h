/* The steps that happen once in a process, before the first group. */
#ifndef ERRAND_LIBCURL_PROCESS_H
#define ERRAND_LIBCURL_PROCESS_H

#include <curl/curl.h>
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

/* What curl_version_info returns for the libcurl that runs.
   Thread: any. */
const curl_version_info_data *errand__curl_info(void);

/* curl_version(), read once, as libcurl writes the text again for each caller.
   Thread: any. */
const char *errand__curl_libraries(void);

/* Whether OpenSSL surely runs no exit handler in this process.
   Thread: any. */
bool errand__process_has_no_atexit(void);

/* Whether SSLKEYLOGFILE was set when the engine started: libcurl then writes
   the keys of TLS connections. Thread: any. */
bool errand__process_had_key_log(void);

/* Whether libcurl allocates from the heap of base/heap.h.  Thread: any. */
bool errand__curl_uses_heap(void);

/* The runtime version of libcurl, 0x075801 for 7.88.1. */
uint32_t errand__curl_version(void);

/* Whether libcurl has a CURL_VERSION_* feature bit. */
bool errand__curl_has(int feature_bit);

/* Whether libcurl has WebSocket, in clear text and over TLS. */
bool errand__curl_has_websocket(void);

/* Whether HTTP/2 is the default: libcurl has it, and its bodies can be trusted
   (8.2 and later). */
bool errand__curl_http2_default(void);

#endif
