/*
 * Trusted roots, parsed once for all options that name the same file.
 *
 * libcurl keeps a parsed bundle in each multi handle and parses it again in the
 * next, which takes 20 ms on the loop. Here the callers' threads parse it, and
 * each TLS connection gets the same X509_STORE (tls_context.c).
 */
#ifndef ERRAND_LIBCURL_TRUST_H
#define ERRAND_LIBCURL_TRUST_H

#include <stdbool.h>
#include <stdint.h>

typedef struct errand__trust errand__trust;

/*
 * The roots of a PEM bundle; NULL: the built-in ones of libcurl.
 * Thread: any.
 * Owns: *out is one reference, the caller's, for errand__trust_release.
 * Returns: false: out of memory. *out is NULL if libcurl has to find the roots
 * itself: libcurl does not use the OpenSSL of this process, or names no
 * built-in roots.
 */
bool errand__trust_create(const char *file, errand__trust **out);
void errand__trust_release(errand__trust *trust);

/* The built-in folder of roots of libcurl; NULL: there is none, or there is a
   bundle with the same roots.
   Thread: any.
   Owns: a static string. */
const char *errand__trust_built_in_folder(void);

/* Parses the bundle the first time, and again if the file has changed, which is
   checked once a minute. `now_ms` is errand__now_ms().
   Thread: any. */
void errand__trust_prepare(errand__trust *trust, uint64_t now_ms);

/* Makes the SSL_CTX trust the roots.
   Returns: false if the bundle could not be read.
   Thread: any. */
bool errand__trust_give(errand__trust *trust, void *ssl_context);

#endif
