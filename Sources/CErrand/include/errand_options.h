/*
 * Options: how to reach a server, by protocol, TLS, proxy and addresses.
 *
 * Options are created once, never change, and are shared by any number of
 * requests. A group has default options. Requests with the same options object
 * share easy handles and connections, so make one object for each policy, not
 * for each request.
 */
#ifndef ERRAND_OPTIONS_H
#define ERRAND_OPTIONS_H

#include "errand_status.h"

ERRAND_BEGIN_DECLS

typedef struct errand_options errand_options;

typedef enum ERRAND_CLOSED_ENUM errand_http_policy {
  /* HTTP/1.1 on libcurl < 8.2, whose HTTP/2 reports truncated bodies as
     complete (48cd032623). From 8.2 on HTTP/2 over TLS where ALPN agrees on it.
   */
  ERRAND_HTTP_AUTOMATIC ERRAND_SWIFT_NAME("automatic") = 0,
  ERRAND_HTTP_1_1 ERRAND_SWIFT_NAME("http1") = 1,
  /* HTTP/2 over TLS where ALPN agrees on it, HTTP/1.1 in clear text. */
  ERRAND_HTTP_2_TLS ERRAND_SWIFT_NAME("http2OverTLS") = 2,
  /* HTTP/2 without negotiation. In clear text (h2c) each request has a
     connection of its own on libcurl < 8.0, where reuse fails (#10634). */
  ERRAND_HTTP_2_PRIOR_KNOWLEDGE ERRAND_SWIFT_NAME("http2PriorKnowledge") = 3
} errand_http_policy;

typedef enum ERRAND_CLOSED_ENUM errand_tls_version {
  ERRAND_TLS_1_2 ERRAND_SWIFT_NAME("v1_2") = 0, /* the default */
  ERRAND_TLS_1_3 ERRAND_SWIFT_NAME("v1_3") = 1
} errand_tls_version;

typedef enum ERRAND_CLOSED_ENUM errand_proxy_policy {
  ERRAND_PROXY_NONE ERRAND_SWIFT_NAME("none") = 0, /* environment ignored */
  ERRAND_PROXY_URL ERRAND_SWIFT_NAME("url") = 1,
  /* http_proxy, https_proxy, all_proxy, no_proxy, read when options are
     created. */
  ERRAND_PROXY_ENVIRONMENT ERRAND_SWIFT_NAME("environment") = 2
} errand_proxy_policy;

enum {
  ERRAND_ENCODING_GZIP = 1,
  ERRAND_ENCODING_DEFLATE = 2,
  ERRAND_ENCODING_BROTLI = 4,
  ERRAND_ENCODING_ZSTD = 8,
  /* All of the above that this build can decode. */
  ERRAND_ENCODING_ALL = 15
};

/*
 * Zero-initialise, then set what differs: zero is the documented default of
 * every field. Strings are UTF-8 and NUL-terminated. errand_options_create
 * copies them.
 */
typedef struct errand_options_init {
  errand_http_policy http_policy;
  /* Mask of ERRAND_ENCODING_*. It is sent as Accept-Encoding, unless the
     request has such a field. 0: no encoding is asked for, and nothing is
     decoded. Otherwise every coding that this build knows is decoded, whether
     it was asked for or not: also "x-gzip", and up to five codings on top of
     each other (RFC 9110 8.4). Several gzip members or zstd frames are one
     body. A body whose coding is unknown, malformed, or ends too early ends
     with DECODING_FAILED. Bytes behind the end of gzip, deflate and br are
     ignored; a body of no bytes is empty. A zstd window is at most 8 MB (RFC
     9659). A bit that this build lacks is UNSUPPORTED_FEATURE, except within
     ERRAND_ENCODING_ALL. */
  uint32_t encodings;

  /* PEM bundle whose roots alone are trusted; NULL: the built-in bundle of
     libcurl. The thread that first submits an https request parses it, and a
     submitting thread parses it again where the file has changed, which is
     checked once a minute. libcurl reads the bundle itself where it does not
     use OpenSSL, or where the proxy speaks TLS. */
  const char *ERRAND_NULLABLE ca_file;
  /* PEM client certificate and key; the key may be in the certificate file. */
  const char *ERRAND_NULLABLE client_certificate;
  const char *ERRAND_NULLABLE client_key;
  const char *ERRAND_NULLABLE client_key_password;
  /* "sha256//BASE64[;sha256//BASE64...]". Any of the keys may match. */
  const char *ERRAND_NULLABLE pinned_keys;
  errand_tls_version tls_minimum;
  /* Non-zero: accepts any certificate, and then nothing is protected. For tests
     against servers without a valid certificate. */
  int32_t insecure_accept_any_certificate;
  int32_t insecure_accept_any_host_name;

  errand_proxy_policy proxy_policy;
  /* "http://", "https://", "socks4://", "socks4a://", "socks5://" or
     "socks5h://" URL. */
  const char *ERRAND_NULLABLE proxy_url;
  /* Comma-separated hosts that are reached without the proxy. */
  const char *ERRAND_NULLABLE no_proxy;
  /* PEM bundle for the certificate of a proxy that speaks TLS; NULL: the
     built-in bundle of libcurl, whatever ca_file is. Such a proxy has to speak
     TLS 1.2 or later. */
  const char *ERRAND_NULLABLE proxy_ca_file;

  /* "host:port:address[,address]" each. SNI and Host still name the host. */
  const char *ERRAND_NULLABLE const *ERRAND_NULLABLE resolve;
  size_t resolve_count;
  /* "host:port" to connect to in place of the URL's host and port; an IPv6
     address in brackets. SNI, the certificate's name and Host are those of the
     URL (RFC 7838 2.1). Not together with a proxy or a unix_socket_path. */
  const char *ERRAND_NULLABLE connect_to;
  /* Connects to this socket in place of the URL's host. */
  const char *ERRAND_NULLABLE unix_socket_path;
  /* Address to connect from, or an interface that exists when the options are
     created. Not a host name. */
  const char *ERRAND_NULLABLE local_interface;

  /* Seconds until the first probe and between probes; 0: no keep-alive probes.
   */
  uint32_t tcp_keepalive_seconds;
  /* A connection that was idle for longer is not used again. 0: 50 s, less than
     the 60 and 75 s at which common servers close. */
  uint32_t idle_connection_seconds;
} errand_options_init;

/*
 * Checks options and makes them immutable. Files named in them have to be
 * readable.
 * Thread: any.
 * Owns: `init` stays the caller's; *out has one reference, the caller's.
 * Returns: OK; INVALID_OPTION (a value out of its enum, an invalid pin, proxy,
 * resolve entry or connect_to, a missing proxy_url, a local_interface that is
 * neither an address nor exists); FILE_UNREADABLE; OUT_OF_DESCRIPTORS;
 * UNSUPPORTED_FEATURE; OUT_OF_MEMORY; SYSTEM (libcurl could not be
 * initialised); FORKED (in a child of a process that had already started the
 * engine). *out is NULL unless OK.
 */
ERRAND_API errand_status
errand_options_create(const errand_options_init *ERRAND_NONNULL init,
                      errand_options *ERRAND_NULLABLE *ERRAND_NONNULL out);

/* Adds a reference. Thread: any. Returns: `options`. */
ERRAND_API errand_options *ERRAND_NONNULL
errand_options_retain(errand_options *ERRAND_NONNULL options);

/* Drops a reference; NULL is fine. Thread: any. */
ERRAND_API void errand_options_release(errand_options *ERRAND_NULLABLE options);

ERRAND_END_DECLS

#endif
