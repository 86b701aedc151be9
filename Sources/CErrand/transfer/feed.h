/* The body of a request that comes from a source. */
#ifndef ERRAND_TRANSFER_FEED_H
#define ERRAND_TRANSFER_FEED_H

#include <curl/curl.h>

/* CURLOPT_READFUNCTION and CURLOPT_SEEKFUNCTION; the context is the
   errand__slot. */
size_t errand__on_read(char *bytes, size_t size, size_t count, void *context);
int errand__on_seek(void *context, curl_off_t offset, int origin);

#endif
