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

/* Whether that version number is on the deny-list of core-facts section 4. */
bool errand__curl_denied(uint32_t version);

/* Before 8.1.0 (cd1c611b24) a handle that is used again keeps a pointer to the
   last field of its response before, which is freed, and appends a first line
   that begins with a blank to that field (unfold_value). CURLOPT_HEADER has
   libcurl show a line to the write callback before that. */
bool errand__curl_keeps_freed_fields(void);

/* A handle whose request ends while its HEADERS wait in nghttp2 is looked at
   when nghttp2 drops them (on_stream_close): a use after free seen with 7.88.1;
   8.14.1 still asks the handle whether it is a good one. True of all versions
   so far. */
bool errand__curl_keeps_ended_streams(void);

/* Before 8.7.0 (2254551403) that a request is in Digest's round without a body
   is noted in its connection, for all of its streams: with HTTP/2 an upload
   then waits for ever, its own or another's. */
bool errand__curl_shares_first_rounds(void);

/* Before 8.1.0 (744dcf22fa) nothing makes libcurl look at the rest of an HTTP/2
   read whose part for a stream did not fit into the stream's buffer, nor at the
   end of that stream: it waits until the server sends something else. */
bool errand__curl_forgets_rest_of_streams(void);

/* Before 8.4.0 (01d8473b25) the next address is tried when libcurl looks at the
   transfer again, for which it has its happy-eyeballs timer alone: 200 ms. */
bool errand__curl_waits_after_refusal(void);

/* Before 8.0.0 (7c5637b8b4) a kept connection with bytes to read is used for
   the next request, which they seem to answer. */
bool errand__curl_keeps_unclean_connections(void);

/* Whether libcurl has a CURL_VERSION_* feature bit. */
bool errand__curl_has(int feature_bit);

/* Whether HTTP/2 bodies can be trusted by default (8.2 and later). */
bool errand__curl_http2_default(void);

#endif
