/*
 * Trusted roots, parsed once for all that name the same file. libcurl keeps a
 * parsed bundle in each multi handle and parses it anew in the next, for 20 ms
 * on the loop; here the callers' threads parse it, and each TLS connection
 * gets the same X509_STORE (tls_context.c).
 */
#ifndef ERRAND_LIBCURL_TRUST_H
#define ERRAND_LIBCURL_TRUST_H

#include <stdbool.h>
#include <stdint.h>

typedef struct errand__trust errand__trust;

/*
 * The roots of a PEM bundle; NULL: those that libcurl was built with.
 * Thread: any.  Owns: one reference, the caller's, for errand__trust_release.
 * Returns: false: out of memory. *out is NULL where libcurl has to read the
 * bundle itself: it does not use the OpenSSL that this process has, or takes
 * an absent file for the built-in one (8.21 on).
 */
bool errand__trust_create(const char *file, errand__trust **out);
void errand__trust_release(errand__trust *trust);

/* The folder of roots that libcurl was built with; NULL: none, or a bundle that
   has the same roots.  Thread: any.  Owns: nothing; good for ever. */
const char *errand__trust_built_in_folder(void);

/* Parses the bundle the first time, and again where the file has changed,
   which is looked at once a minute; by the clock of errand__now_ms.
   Thread: any. */
void errand__trust_prepare(errand__trust *trust, uint64_t now_ms);

/* Has the SSL_CTX trust the roots. Returns: false: the bundle could not be
   read. Thread: any. */
bool errand__trust_give(errand__trust *trust, void *ssl_context);

#endif
