/* Facts that OpenSSL knows about a connection: the session and the
   certificates. */
#ifndef ERRAND_LIBCURL_TLS_FACTS_H
#define ERRAND_LIBCURL_TLS_FACTS_H

#include <curl/curl.h>

#include "base/lines.h"

/* Adds the lines from tls-version on (errand_record.h); none if libcurl does
   not use the OpenSSL of the process. Called in a callback of libcurl's, when
   the handshake is over. */
void errand__tls_facts(CURL *easy, errand__lines *lines);

#endif
