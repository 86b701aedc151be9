/* What a rich request costs libcurl itself: fields and deadlines set for each
   request anew, as a client that takes them per request must. */
#ifndef BENCH_BARE_RICH_H
#define BENCH_BARE_RICH_H

#include <curl/curl.h>

/* Returns: the fields, for curl_slist_free_all when the request has ended;
   NULL: out of memory. */
struct curl_slist *bare_rich_set(CURL *easy);

#endif
