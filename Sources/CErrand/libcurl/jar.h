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

/* Thread: any but a loop's.  Returns: OK, FILE_UNWRITABLE, OUT_OF_MEMORY. */
errand_status errand__jar_save(errand__jar *jar);

/* Reads cookie lines into a jar; cookie_file.c.  Returns: OK, OUT_OF_MEMORY,
   FILE_UNREADABLE; a file that is not there is OK. */
errand_status errand__jar_load(errand__jar *jar, const char *file);

/* A line's fields; they point into `line`, which is cut up; cookie_line.c.
   Returns: false where it is no cookie. */
bool errand__cookie_parse(char *line, errand_cookie *out);

/* Whether the line of a cookie says what the cookie says, and libcurl will
   take it; cookie_line.c. */
bool errand__cookie_is_valid(const errand_cookie *cookie);

/* The longest line that errand__cookie_is_valid lets through. */
#define ERRAND__COOKIE_LINE 8192

/* A Netscape line, NUL-terminated, of at most `room` bytes.
   Returns: false where it does not fit. */
bool errand__cookie_format(const errand_cookie *cookie, char *out, size_t room);

bool errand__cookie_has_expired(const errand_cookie *cookie);

#endif
