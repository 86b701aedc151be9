/*
 * Options: how to reach a server, with its protocol, TLS, proxy and addresses.
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
     complete (48cd032623). From 8.2 on: HTTP/2 over TLS if ALPN negotiates it.
   */
  ERRAND_HTTP_AUTOMATIC ERRAND_SWIFT_NAME("automatic") = 0,
  ERRAND_HTTP_1_1 ERRAND_SWIFT_NAME("http1") = 1,
  /* HTTP/2 over TLS if ALPN negotiates it, HTTP/1.1 in clear text. */
  ERRAND_HTTP_2_TLS ERRAND_SWIFT_NAME("http2OverTLS") = 2,
  /* HTTP/2 without negotiation. On libcurl < 8.0, where reuse fails (#10634),
     each request in clear text (h2c) has its own connection. */
  ERRAND_HTTP_2_PRIOR_KNOWLEDGE ERRAND_SWIFT_NAME("http2PriorKnowledge") = 3
} errand_http_policy;

typedef enum ERRAND_CLOSED_ENUM errand_tls_version {
  ERRAND_TLS_1_2 ERRAND_SWIFT_NAME("v1_2") = 0, /* the default */
  ERRAND_TLS_1_3 ERRAND_SWIFT_NAME("v1_3") = 1
} errand_tls_version;

/* Whether the keys of TLS connections are written to the file that the
   environment variable SSLKEYLOGFILE names. Anyone who has this file can read
   all traffic. libcurl opens the file for appending when the process first
   initialises libcurl, whatever is set here. */
typedef enum ERRAND_CLOSED_ENUM errand_key_log {
  ERRAND_KEY_LOG_OFF ERRAND_SWIFT_NAME("off") = 0, /* nothing is written */
  ERRAND_KEY_LOG_ENVIRONMENT ERRAND_SWIFT_NAME("environment") = 1
} errand_key_log;

typedef enum ERRAND_CLOSED_ENUM errand_proxy_policy {
  ERRAND_PROXY_NONE ERRAND_SWIFT_NAME("none") = 0, /* environment ignored */
  ERRAND_PROXY_URL ERRAND_SWIFT_NAME("url") = 1,
  /* http_proxy, https_proxy, all_proxy, no_proxy, read when options are
     created. */
  ERRAND_PROXY_ENVIRONMENT ERRAND_SWIFT_NAME("environment") = 2
} errand_proxy_policy;

/* The address that a connection goes to. */
typedef struct errand_address {
  int32_t family;    /* AF_INET, AF_INET6, AF_UNIX; AF_UNSPEC: not known */
  uint16_t port;     /* host byte order, 0 for AF_UNIX */
  uint8_t bytes[16]; /* network order; 4 used for AF_INET, 0 for AF_UNIX */
  uint8_t is_open;   /* 1: the request has just connected to the address */
} errand_address;

/* Room for the reason of an address filter, with its NUL. */
#define ERRAND_REASON_MAX 96

/*
 * Runs on a loop thread, first before every connect, and then before a request
 * is sent on a new or reused connection, with the address of the peer. So it
 * runs twice for a request that connects, the second time with `is_open`. A
 * result other than 0 forbids the address. If that happens before a connect,
 * the next address of the host is tried. If it happens to a reused connection,
 * a new connection is made, once. If every address of the host was refused, the
 * request ends with ADDRESS_REFUSED. Its text has the first of these addresses
 * and the reason that the function wrote to `reason`. `reason` has
 * ERRAND_REASON_MAX bytes and is empty before the call. `tag` is the tag of the
 * request. The function must be fast and must not block. For a request through
 * a proxy, the address is the proxy's. With a filter, a SOCKS proxy resolves
 * the host names, even with "socks5://" and "socks4://": otherwise libcurl
 * would look them up, and the filter would not see the address.
 */
typedef int (*errand_address_filter)(
    void *ERRAND_NULLABLE context, uint64_t tag,
    const errand_address *ERRAND_NONNULL address, char *ERRAND_NONNULL reason);

/* Which filter judges the addresses of connections. */
typedef enum ERRAND_CLOSED_ENUM errand_address_policy {
  /* The filter of the group, if it has one. */
  ERRAND_ADDRESSES_GROUP ERRAND_SWIFT_NAME("group") = 0,
  /* No filter. */
  ERRAND_ADDRESSES_ANY ERRAND_SWIFT_NAME("any") = 1,
  /* The filter of the options. */
  ERRAND_ADDRESSES_OWN ERRAND_SWIFT_NAME("own") = 2
} errand_address_policy;

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
     request has such a field. 0: no encoding is requested, and nothing is
     decoded. Otherwise every coding that this build knows is decoded, whether
     it was requested or not. This includes "x-gzip", and up to five codings on
     top of each other (RFC 9110 8.4). Several gzip members or zstd frames are
     one body. If the coding of a body is unknown, malformed, or ends too early,
     the request ends with DECODING_FAILED. Bytes after the end of gzip, deflate
     and br are ignored. A body of no bytes is an empty body, not an error. A
     zstd window is at most 8 MB (RFC 9659). A bit whose coding this build lacks
     is refused with UNSUPPORTED_FEATURE, except as part of ERRAND_ENCODING_ALL.
   */
  uint32_t encodings;

  /* PEM bundle: only its roots are trusted. NULL: the built-in bundle of
     libcurl. The thread that first submits an https request parses the bundle.
     A submitting thread parses it again if the file has changed, which is
     checked once a minute. libcurl reads the bundle itself if it does not use
     OpenSSL, or if the proxy speaks TLS. */
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
  /* OFF is a promise. If it cannot be kept, because SSLKEYLOGFILE was set when
     the engine started and libcurl does not use the OpenSSL of the process, the
     options are refused with UNSUPPORTED_FEATURE. An OpenSSL that was built to
     obey the variable itself (3.5, enable-sslkeylog) is not detected. */
  errand_key_log key_log;

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
  /* "host:port" to connect to instead of the URL's host and port; an IPv6
     address in brackets. SNI, the certificate's name and Host are those of the
     URL (RFC 7838 2.1). Not together with a proxy or a unix_socket_path. */
  const char *ERRAND_NULLABLE connect_to;
  /* Connects to this socket instead of the URL's host. */
  const char *ERRAND_NULLABLE unix_socket_path;
  /* Address to connect from, or an interface that exists when the options are
     created. Not a host name. */
  const char *ERRAND_NULLABLE local_interface;

  /* Seconds until the first probe and between probes; 0: no keep-alive probes.
   */
  uint32_t tcp_keepalive_seconds;
  /* A connection that was idle for longer is not reused. 0: 50 s, less than the
     60 and 75 s after which common servers close idle connections. If no
     request is sent for a while, and a server closes one idle connection,
     others may be closed with it. */
  uint32_t idle_connection_seconds;

  /* Options with ANY or OWN share no connections with other options. */
  errand_address_policy address_policy;
  /* Only for OWN, which requires a filter. */
  errand_address_filter ERRAND_NULLABLE address_filter;
  void *ERRAND_NULLABLE address_filter_context;
  /* Called once with the context when the last reference to the options is
     dropped. This may happen on any thread, including a loop thread. It must
     not block. NULL: not needed. */
  void (*ERRAND_NULLABLE address_filter_release)(void *ERRAND_NULLABLE context);
} errand_options_init;

/*
 * Checks options and makes them immutable. Files named in them have to be
 * readable.
 * Thread: any.
 * Owns: `init` stays the caller's; *out has one reference, the caller's. The
 * options take over the context of an address_filter, if the result is OK.
 * Returns: OK; INVALID_OPTION (a value out of its enum, an invalid pin, proxy,
 * resolve entry or connect_to, a missing proxy_url, a local_interface that is
 * neither an address nor exists, an address_filter that is missing or does not
 * belong to the policy); FILE_UNREADABLE; OUT_OF_DESCRIPTORS;
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
