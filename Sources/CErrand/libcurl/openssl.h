/*
 * OpenSSL's functions, where libcurl uses OpenSSL. libcurl links the library
 * already, so its functions are looked up, not linked.
 */
#ifndef ERRAND_LIBCURL_OPENSSL_H
#define ERRAND_LIBCURL_OPENSSL_H

#include <curl/curl.h>
#include <stdbool.h>

/* Sets *function, a pointer to a function, to that of the name.
   Returns: false where there is none, or where the library at hand is not
   libcurl's.  Thread: any. */
bool errand__openssl_find(const char *name, void *function);

/* Whether OpenSSL holds bytes of the handle's connection that it has decrypted
   and libcurl has not read; false where that cannot be known. In a callback of
   libcurl's. */
bool errand__openssl_has_unread(CURL *easy);

#endif
