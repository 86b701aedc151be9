/*
 * The core's changes to the SSL_CTX of a connection before its handshake: the
 * trusted roots, how far OpenSSL reads ahead, and whether keys are written to
 * the file that SSLKEYLOGFILE names.
 */
#ifndef ERRAND_TRANSFER_TLS_CONTEXT_H
#define ERRAND_TRANSFER_TLS_CONTEXT_H

#include <curl/curl.h>
#include <stdbool.h>

#include "transfer/options.h"

/* Whether connections of these options need errand__on_tls_context.
   Thread: any. */
bool errand__changes_tls_context(const errand_options *options);

/* Whether errand__on_tls_context keeps the keys out of that file.
   Thread: any. */
bool errand__may_stop_key_log(void);

/* A CURLOPT_SSL_CTX_FUNCTION; the context is the errand_options. */
CURLcode errand__on_tls_context(CURL *easy, void *ssl_context, void *options);

#endif
