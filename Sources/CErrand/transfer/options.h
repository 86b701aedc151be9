/* Options, fixed once created, in the form that the setopt calls need. */
#ifndef ERRAND_TRANSFER_OPTIONS_H
#define ERRAND_TRANSFER_OPTIONS_H

#include <curl/curl.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "include/errand_options.h"
#include "libcurl/trust.h"

struct errand_options {
  _Atomic uint32_t references;
  /* Below 3: the options may share connections, sessions and addresses with any
     other options with the same identity (shared_identity). Other identities
     are unique: 7.88.1 would reuse a connection that was made with another
     client certificate (CVE-2026-8932), and CURLOPT_RESOLVE entries stay in the
     cache of the multi handle. */
  uint64_t identity;
  uint64_t seed;     /* of origin hashes; differs by identity */
  long http_version; /* CURL_HTTP_VERSION_* */
  bool http2;        /* may speak HTTP/2 */
  bool prior_knowledge;
  bool environment_proxy; /* the proxies are those of the environment, one for
                             each scheme */
  bool unix_socket;
  bool ssl_min_1_3;
  bool accept_any_certificate;
  bool accept_any_host_name;
  bool key_log; /* by the environment */
  uint32_t tcp_keepalive_seconds;
  uint32_t idle_connection_seconds;
  /* "Accept-Encoding: ...", or "" if nothing is decoded. It is sent as a field
     of the request, because libcurl itself would decode the codings that are
     set with CURLOPT_ACCEPT_ENCODING. */
  char accept_encoding[64];
  struct curl_slist accept_field; /* the same, as a list with one node */
  /* Copies; NULL if absent. */
  char *ca_file;
  char *client_certificate;
  char *client_key;
  char *client_key_password;
  char *pinned_keys;
  char *proxy_http; /* for http URLs; "" for none */
  char *proxy_https;
  char *proxy_ca_file;
  char *no_proxy;
  char *unix_socket_path;
  char *local_interface; /* with its prefix */
  struct curl_slist *resolve;
  struct curl_slist *connect_to; /* one entry, for all hosts and ports */
  errand__trust *trust;          /* NULL: libcurl reads the roots itself */
  errand_address_policy address_policy;
  errand_address_filter address_filter; /* NULL unless OWN */
  void *address_filter_context;
  void (*address_filter_release)(void *context); /* NULL: not needed */
};

/* The proxy for a scheme, "" for none. */
const char *errand__options_proxy(const errand_options *options, bool secure);

#endif
