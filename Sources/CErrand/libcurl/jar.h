/*
 * The jar: a libcurl share handle that carries cookies alone, with real locks,
 * used by easy handles of every loop. Such a handle has no other share (an
 * easy handle has one): it keeps its own TLS sessions and uses its multi
 * handle's addresses. Sharing those across loops in the same share would also
 * share them across identities.
 */
#ifndef ERRAND_LIBCURL_JAR_H
#define ERRAND_LIBCURL_JAR_H

#include <curl/curl.h>
#include <stdbool.h>

#include "include/errand_cookies.h"

typedef struct errand__jar errand__jar;

/*
 * Makes a jar, with what `file` has if it exists; NULL: memory alone.
 * Thread: any.  Owns: *out is the caller's.
 * Returns: OK, OUT_OF_MEMORY, FILE_UNREADABLE.
 */
errand_status errand__jar_create(const char *file, errand__jar **out);

/* No easy handle uses it any more. NULL is fine. */
void errand__jar_destroy(errand__jar *jar);

/* Thread: any. */
CURLSH *errand__jar_share(const errand__jar *jar);

/* From here to the release, a jar that libcurl unlocks on this thread stays
   locked where libcurl reads on (ERRAND__CURL_READS_UNLOCKED_COOKIES). */
void errand__jar_keep_locked(void);
void errand__jar_release(void);
/* NULL: none. */
const char *errand__jar_file(const errand__jar *jar);

/* Netscape lines of all cookies; NULL: there are none. Thread: any.
   Owns: the caller's, for curl_slist_free_all.  Returns: OK, OUT_OF_MEMORY. */
errand_status errand__jar_lines(errand__jar *jar, struct curl_slist **out);

/* A CURLOPT_COOKIELIST order or a Netscape line. Thread: any.
   Returns: OK, OUT_OF_MEMORY. */
errand_status errand__jar_order(errand__jar *jar, const char *order);

/* libcurl keeps the cookie of an empty "Path=" with no path, by which nothing
   replaces it: such cookies get the path "/" here. Thread: any.
   Returns: OK, OUT_OF_MEMORY. */
errand_status errand__jar_give_paths(errand__jar *jar);

#endif
