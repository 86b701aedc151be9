/*
 * Functions of OpenSSL, if libcurl uses OpenSSL. They are looked up and not
 * linked, as libcurl links the library already.
 */
#ifndef ERRAND_LIBCURL_OPENSSL_H
#define ERRAND_LIBCURL_OPENSSL_H

#include <curl/curl.h>
#include <stdbool.h>

/* Sets *function, a pointer to a function, to the function of that name.
   Returns: false if there is none, or if the process has another library than
   libcurl's.
   Thread: any. */
bool errand__openssl_find(const char *name, void *function);

/* Whether OpenSSL has decrypted bytes of the connection that libcurl has not
   read; false if that is not known. Called in a callback of libcurl's. */
bool errand__openssl_has_unread(CURL *easy);

/* Whether the transfer's connection uses TLS and ALPN did not choose HTTP/2;
   false if that is not known. Called in a callback of libcurl's. The URL must
   be https: for other URLs the session may be the one with a proxy. */
bool errand__openssl_chose_http1(CURL *easy);

#endif
