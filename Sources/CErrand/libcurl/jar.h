/*
 * The jar: a libcurl share handle that carries only cookies, with locks. Easy
 * handles of every loop use it.
 *
 * An easy handle has only one share. Therefore a handle with a jar keeps its
 * own TLS sessions and uses the addresses of its multi handle. If the share had
 * sessions and addresses too, it would give them to requests of all identities.
 */
#ifndef ERRAND_LIBCURL_JAR_H
#define ERRAND_LIBCURL_JAR_H

#include <curl/curl.h>
#include <stdbool.h>

#include "include/errand_cookies.h"

typedef struct errand__jar errand__jar;

/*
 * Makes a jar, with the cookies of `file` if it exists; NULL: in memory only.
 * Thread: any.
 * Owns: *out is the caller's.
 * Returns: OK, OUT_OF_MEMORY, FILE_UNREADABLE.
 */
errand_status errand__jar_create(const char *file, errand__jar **out);

/* No easy handle may use the jar any more. NULL is fine. */
void errand__jar_destroy(errand__jar *jar);

/* Thread: any. */
CURLSH *errand__jar_share(const errand__jar *jar);

/* Between these two calls, a jar that libcurl unlocks on this thread stays
   locked, if this libcurl reads the jar after that
   (ERRAND__CURL_READS_UNLOCKED_COOKIES). */
void errand__jar_keep_locked(void);
void errand__jar_release(void);
/* The file of the jar; NULL: none. */
const char *errand__jar_file(const errand__jar *jar);

/* All cookies as Netscape lines; NULL: there are none.
   Thread: any.
   Owns: the caller's, for curl_slist_free_all.
   Returns: OK, OUT_OF_MEMORY. */
errand_status errand__jar_lines(errand__jar *jar, struct curl_slist **out);

/* Carries out a CURLOPT_COOKIELIST order, or adds the cookie of a Netscape
   line.
   Thread: any.
   Returns: OK, OUT_OF_MEMORY. */
errand_status errand__jar_order(errand__jar *jar, const char *order);

/* Gives cookies without a path the path "/". libcurl keeps the cookie of an
   empty "Path=" without a path, and a new cookie then does not replace it.
   Thread: any.
   Returns: OK, OUT_OF_MEMORY. */
errand_status errand__jar_give_paths(errand__jar *jar);

#endif
