#include "libcurl/openssl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool usable;
static int (*pending)(const void *ssl);
static void (*alpn)(const void *ssl, const unsigned char **name,
                    unsigned *length);

static bool find(const char *name, void *function) {
  void *found = dlsym(RTLD_DEFAULT, name);
  memcpy(function, &found, sizeof found); /* POSIX: both have the same size */
  return found != NULL;
}

/* Whether the library that dlsym finds has the version that libcurl names. */
static bool is_same_library(const char *used) {
  const char *(*version)(int) = NULL;
  if (!used || strncmp(used, "OpenSSL/", 8) != 0 ||
      !find("OpenSSL_version", &version))
    return false;
  const char *found = version(0); /* "OpenSSL 3.0.17 1 Jul 2025" */
  size_t length = strcspn(used + 8, " ");
  return strncmp(found, "OpenSSL ", 8) == 0 &&
         strncmp(found + 8, used + 8, length) == 0 && found[8 + length] == ' ';
}

static void look_up(void) {
  usable = is_same_library(curl_version_info(CURLVERSION_NOW)->ssl_version);
  if (!usable)
    return;
  /* NULL if they are absent */
  find("SSL_pending", &pending);
  find("SSL_get0_alpn_selected", &alpn);
}

bool errand__openssl_find(const char *name, void *function) {
  pthread_once(&once, look_up);
  return usable && find(name, function);
}

/* The SSL of the transfer's connection.
   Returns: NULL if there is none. */
static const void *session_of(CURL *easy) {
  const struct curl_tlssessioninfo *session = NULL;
  if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK ||
      !session || session->backend != CURLSSLBACKEND_OPENSSL)
    return NULL;
  return session->internals;
}

bool errand__openssl_has_unread(CURL *easy) {
  pthread_once(&once, look_up);
  const void *ssl = pending ? session_of(easy) : NULL;
  return ssl && pending(ssl) > 0;
}

bool errand__openssl_chose_http1(CURL *easy) {
  pthread_once(&once, look_up);
  const void *ssl = alpn ? session_of(easy) : NULL;
  if (!ssl)
    return false;
  const unsigned char *name = NULL;
  unsigned length = 0;
  alpn(ssl, &name, &length);
  return !name || length != 2 || memcmp(name, "h2", 2) != 0;
}
