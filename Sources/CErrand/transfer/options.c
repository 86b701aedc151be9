#include "transfer/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "libcurl/process.h"
#include "http/decode.h"
#include "transfer/options_check.h"
#include "transfer/tls_context.h"

#define DEFAULT_IDLE_CONNECTION_SECONDS 50

const char *errand__options_proxy(const errand_options *options, bool secure) {
  const char *proxy = secure ? options->proxy_https : options->proxy_http;
  return proxy ? proxy : "";
}

static bool copy(char **to, const char *from) {
  if (!from)
    return true;
  *to = errand__strdup(from);
  return *to != NULL;
}

static errand_status set_http(errand_options *o, errand_http_policy policy) {
  bool has_http2 = errand__curl_has(CURL_VERSION_HTTP2);
  switch (policy) {
  case ERRAND_HTTP_AUTOMATIC:
    o->http2 = errand__curl_http2_default();
    o->http_version = o->http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1;
    return ERRAND_OK;
  case ERRAND_HTTP_1_1:
    o->http_version = CURL_HTTP_VERSION_1_1;
    return ERRAND_OK;
  case ERRAND_HTTP_2_TLS:
    o->http_version = CURL_HTTP_VERSION_2TLS;
    o->http2 = true;
    return has_http2 ? ERRAND_OK : ERRAND_UNSUPPORTED_FEATURE;
  case ERRAND_HTTP_2_PRIOR_KNOWLEDGE:
    o->http_version = CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
    o->http2 = true;
    o->prior_knowledge = true;
    return has_http2 ? ERRAND_OK : ERRAND_UNSUPPORTED_FEATURE;
  }
  return ERRAND_INVALID_OPTION;
}

static errand_status set_encodings(errand_options *o, uint32_t mask) {
  static const struct {
    uint32_t bit;
    errand__coding coding;
    const char *name;
  } table[] = {
      {ERRAND_ENCODING_GZIP, ERRAND__CODING_GZIP, "gzip"},
      {ERRAND_ENCODING_DEFLATE, ERRAND__CODING_DEFLATE, "deflate"},
      {ERRAND_ENCODING_BROTLI, ERRAND__CODING_BROTLI, "br"},
      {ERRAND_ENCODING_ZSTD, ERRAND__CODING_ZSTD, "zstd"},
  };
  const char *before = "Accept-Encoding: ";
  size_t used = 0;
  if (mask & ~(uint32_t) ERRAND_ENCODING_ALL)
    return ERRAND_INVALID_OPTION;
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    if (!(mask & table[i].bit))
      continue;
    if (!errand__coding_is_known(table[i].coding)) {
      if (mask == ERRAND_ENCODING_ALL)
        continue;
      return ERRAND_UNSUPPORTED_FEATURE;
    }
    used += (size_t) snprintf(o->accept_encoding + used,
                              sizeof o->accept_encoding - used, "%s%s", before,
                              table[i].name);
    before = ", ";
  }
  o->accept_field.data = o->accept_encoding;
  return ERRAND_OK;
}

static errand_status set_tls(errand_options *o, const errand_options_init *in) {
  if (in->tls_minimum != ERRAND_TLS_1_2 && in->tls_minimum != ERRAND_TLS_1_3)
    return ERRAND_INVALID_OPTION;
  o->ssl_min_1_3 = in->tls_minimum == ERRAND_TLS_1_3;
  o->accept_any_certificate = in->insecure_accept_any_certificate != 0;
  o->accept_any_host_name = in->insecure_accept_any_host_name != 0;
  if (in->key_log != ERRAND_KEY_LOG_OFF &&
      in->key_log != ERRAND_KEY_LOG_ENVIRONMENT)
    return ERRAND_INVALID_OPTION;
  o->key_log = in->key_log == ERRAND_KEY_LOG_ENVIRONMENT;
  if (!o->key_log && errand__process_had_key_log() &&
      !errand__may_stop_key_log())
    return ERRAND_UNSUPPORTED_FEATURE;
  if (in->pinned_keys && !errand__check_pins(in->pinned_keys))
    return ERRAND_INVALID_OPTION;
  if (in->client_key && !in->client_certificate)
    return ERRAND_INVALID_OPTION;
  errand_status readable = errand__check_readable(in->ca_file);
  if (readable == ERRAND_OK)
    readable = errand__check_readable(in->client_certificate);
  if (readable == ERRAND_OK)
    readable = errand__check_readable(in->client_key);
  if (readable != ERRAND_OK)
    return readable;
  bool copied = copy(&o->ca_file, in->ca_file) &&
                copy(&o->client_certificate, in->client_certificate) &&
                copy(&o->client_key, in->client_key) &&
                copy(&o->client_key_password, in->client_key_password) &&
                copy(&o->pinned_keys, in->pinned_keys);
  return copied ? ERRAND_OK : ERRAND_OUT_OF_MEMORY;
}

static const char *environment(const char *lower, const char *upper) {
  const char *value = getenv(lower);
  if ((!value || !*value) && upper)
    value = getenv(upper);
  return value && *value ? value : NULL;
}

/* A proxy of curl's environment variables may lack a scheme: "host:port" is
   http. */
static errand_status set_environment_proxy(char **to, const char *value) {
  if (!value)
    return ERRAND_OK;
  if (strstr(value, "://")) {
    if (!errand__check_proxy(value))
      return ERRAND_INVALID_OPTION;
    return copy(to, value) ? ERRAND_OK : ERRAND_OUT_OF_MEMORY;
  }
  static const char scheme[] = "http://";
  size_t length = strlen(value) + 1;
  *to = errand__malloc(sizeof scheme - 1 + length);
  if (!*to)
    return ERRAND_OUT_OF_MEMORY;
  memcpy(*to, scheme, sizeof scheme - 1);
  memcpy(*to + sizeof scheme - 1, value, length);
  return errand__check_proxy(*to) ? ERRAND_OK : ERRAND_INVALID_OPTION;
}

static errand_status set_proxy(errand_options *o,
                               const errand_options_init *in) {
  errand_status readable = errand__check_readable(in->proxy_ca_file);
  if (readable != ERRAND_OK)
    return readable;
  if (!copy(&o->proxy_ca_file, in->proxy_ca_file))
    return ERRAND_OUT_OF_MEMORY;
  switch (in->proxy_policy) {
  case ERRAND_PROXY_NONE:
    return in->proxy_url ? ERRAND_INVALID_OPTION : ERRAND_OK;
  case ERRAND_PROXY_URL:
    if (!in->proxy_url || !errand__check_proxy(in->proxy_url))
      return ERRAND_INVALID_OPTION;
    return copy(&o->proxy_http, in->proxy_url) &&
                   copy(&o->proxy_https, in->proxy_url) &&
                   copy(&o->no_proxy, in->no_proxy)
               ? ERRAND_OK
               : ERRAND_OUT_OF_MEMORY;
  case ERRAND_PROXY_ENVIRONMENT: {
    const char *all = environment("all_proxy", "ALL_PROXY");
    /* HTTP_PROXY is not read: a CGI server sets it from a "Proxy" field. */
    const char *http = environment("http_proxy", NULL);
    const char *https = environment("https_proxy", "HTTPS_PROXY");
    const char *none = environment("no_proxy", "NO_PROXY");
    o->environment_proxy = true;
    errand_status status =
        set_environment_proxy(&o->proxy_http, http ? http : all);
    if (status == ERRAND_OK)
      status = set_environment_proxy(&o->proxy_https, https ? https : all);
    if (status == ERRAND_OK &&
        !copy(&o->no_proxy, in->no_proxy ? in->no_proxy : none))
      status = ERRAND_OUT_OF_MEMORY;
    return status;
  }
  }
  return ERRAND_INVALID_OPTION;
}

static errand_status set_interface(errand_options *o, const char *name) {
  if (!name)
    return ERRAND_OK;
  const char *prefix = errand__interface_prefix(name);
  if (!prefix)
    return ERRAND_INVALID_OPTION;
  size_t size = strlen(prefix) + strlen(name) + 1;
  o->local_interface = errand__malloc(size);
  if (!o->local_interface)
    return ERRAND_OUT_OF_MEMORY;
  snprintf(o->local_interface, size, "%s%s", prefix, name);
  return ERRAND_OK;
}

static errand_status set_connect_to(errand_options *o,
                                    const errand_options_init *in) {
  if (!in->connect_to)
    return ERRAND_OK;
  /* libcurl cannot do it through an HTTPS proxy (KNOWN_BUGS). */
  if (!errand__check_connect_to(in->connect_to) || in->unix_socket_path ||
      in->proxy_policy != ERRAND_PROXY_NONE)
    return ERRAND_INVALID_OPTION;
  size_t size = sizeof "::" + strlen(in->connect_to);
  char *entry = errand__malloc(size);
  if (!entry)
    return ERRAND_OUT_OF_MEMORY;
  snprintf(entry, size, "::%s", in->connect_to);
  o->connect_to = curl_slist_append(NULL, entry);
  errand__free(entry);
  return o->connect_to ? ERRAND_OK : ERRAND_OUT_OF_MEMORY;
}

static errand_status set_network(errand_options *o,
                                 const errand_options_init *in) {
  if (in->unix_socket_path &&
      (in->unix_socket_path[0] == '\0' || strlen(in->unix_socket_path) > 107))
    return ERRAND_INVALID_OPTION; /* sockaddr_un.sun_path */
  if (in->tcp_keepalive_seconds > 86400 || in->idle_connection_seconds > 86400)
    return ERRAND_INVALID_OPTION;
  for (size_t i = 0; i < in->resolve_count; i++) {
    if (!in->resolve || !in->resolve[i] ||
        !errand__check_resolve(in->resolve[i]))
      return ERRAND_INVALID_OPTION;
    struct curl_slist *longer = curl_slist_append(o->resolve, in->resolve[i]);
    if (!longer)
      return ERRAND_OUT_OF_MEMORY;
    o->resolve = longer;
  }
  errand_status status = set_connect_to(o, in);
  if (status != ERRAND_OK)
    return status;
  o->unix_socket = in->unix_socket_path != NULL;
  o->tcp_keepalive_seconds = in->tcp_keepalive_seconds;
  o->idle_connection_seconds = in->idle_connection_seconds
                                   ? in->idle_connection_seconds
                                   : DEFAULT_IDLE_CONNECTION_SECONDS;
  return copy(&o->unix_socket_path, in->unix_socket_path)
             ? set_interface(o, in->local_interface)
             : ERRAND_OUT_OF_MEMORY;
}

/* The context is taken over last, when nothing can fail any more. */
static errand_status set_addresses(errand_options *o,
                                   const errand_options_init *in) {
  switch (in->address_policy) {
  case ERRAND_ADDRESSES_GROUP:
  case ERRAND_ADDRESSES_ANY:
  case ERRAND_ADDRESSES_OWN:
    if ((in->address_policy == ERRAND_ADDRESSES_OWN) !=
        (in->address_filter != NULL))
      return ERRAND_INVALID_OPTION;
    o->address_policy = in->address_policy;
    o->address_filter = in->address_filter;
    if (in->address_filter) {
      o->address_filter_context = in->address_filter_context;
      o->address_filter_release = in->address_filter_release;
    }
    return ERRAND_OK;
  }
  return ERRAND_INVALID_OPTION;
}

/* Whether no other options may use the connections of these options. They may
   not if these options have certificates, keys, addresses or paths, a key log,
   an address policy other than the group's, or a proxy, whose URL may have
   credentials. */
static bool needs_identity(const errand_options *o) {
  return o->address_policy != ERRAND_ADDRESSES_GROUP || o->ca_file ||
         o->client_certificate || o->pinned_keys || o->accept_any_certificate ||
         o->accept_any_host_name || o->key_log || o->resolve || o->connect_to ||
         o->unix_socket_path || o->local_interface || o->proxy_http ||
         o->proxy_https;
}

/* Sets nothing if the proxy speaks TLS. libcurl uses the same callback for the
   roots of such a proxy, and these are the roots of proxy_ca_file. */
static errand_status set_trust(errand_options *o) {
  static const char tls[] = "https:";
  bool proxy =
      strncasecmp(errand__options_proxy(o, false), tls, sizeof tls - 1) == 0 ||
      strncasecmp(errand__options_proxy(o, true), tls, sizeof tls - 1) == 0;
  if (proxy || o->accept_any_certificate)
    return ERRAND_OK;
  return errand__trust_create(o->ca_file, &o->trust) ? ERRAND_OK
                                                     : ERRAND_OUT_OF_MEMORY;
}

/* The identity of options that share connections with others. There is one for
   each version of HTTP, because 7.88.1 mixes up the responses of HTTP/1.1 and
   HTTP/2 requests to one host in one multi handle. 0: the version that
   ERRAND_HTTP_AUTOMATIC means. */
static uint64_t shared_identity(const errand_options *o) {
  if (o->prior_knowledge)
    return 2;
  return o->http2 == errand__curl_http2_default() ? 0 : 1;
}

static errand_status fill(errand_options *o, const errand_options_init *init) {
  static _Atomic uint64_t next_identity = 3;
  errand_status status = set_http(o, init->http_policy);
  if (status == ERRAND_OK)
    status = set_encodings(o, init->encodings);
  if (status == ERRAND_OK)
    status = set_tls(o, init);
  if (status == ERRAND_OK)
    status = set_proxy(o, init);
  if (status == ERRAND_OK)
    status = set_network(o, init);
  if (status == ERRAND_OK)
    status = set_trust(o);
  if (status == ERRAND_OK)
    status = set_addresses(o, init);
  if (status == ERRAND_OK)
    o->identity =
        needs_identity(o)
            ? atomic_fetch_add_explicit(&next_identity, 1, memory_order_relaxed)
            : shared_identity(o);
  o->seed = o->identity * 0x9e3779b97f4a7c15u;
  return status;
}

errand_status errand_options_create(const errand_options_init *init,
                                    errand_options **out) {
  *out = NULL;
  errand_status status = errand__process_start();
  if (status != ERRAND_OK)
    return status;
  errand_options *o = errand__calloc(1, sizeof *o);
  if (!o)
    return ERRAND_OUT_OF_MEMORY;
  atomic_init(&o->references, 1);
  status = fill(o, init);
  if (status != ERRAND_OK) {
    errand_options_release(o);
    return status;
  }
  *out = o;
  return ERRAND_OK;
}

errand_options *errand_options_retain(errand_options *options) {
  atomic_fetch_add_explicit(&options->references, 1, memory_order_relaxed);
  return options;
}

/* Passwords are not left in freed memory. */
static void free_secret(char *secret) {
  if (secret)
    explicit_bzero(secret, strlen(secret));
  errand__free(secret);
}

void errand_options_release(errand_options *o) {
  if (!o ||
      atomic_fetch_sub_explicit(&o->references, 1, memory_order_acq_rel) != 1)
    return;
  errand__free(o->ca_file);
  errand__free(o->client_certificate);
  errand__free(o->client_key);
  free_secret(o->client_key_password);
  errand__free(o->pinned_keys);
  free_secret(o->proxy_http);
  free_secret(o->proxy_https);
  errand__free(o->proxy_ca_file);
  errand__free(o->no_proxy);
  errand__free(o->unix_socket_path);
  errand__free(o->local_interface);
  curl_slist_free_all(o->resolve);
  curl_slist_free_all(o->connect_to);
  errand__trust_release(o->trust);
  if (o->address_filter_release)
    o->address_filter_release(o->address_filter_context);
  errand__free(o);
}
