#include "libcurl/openssl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool usable;
static int (*pending)(const void *ssl);

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
  if (usable)
    find("SSL_pending", &pending); /* NULL if it is absent */
}

bool errand__openssl_find(const char *name, void *function) {
  pthread_once(&once, look_up);
  return usable && find(name, function);
}

bool errand__openssl_has_unread(CURL *easy) {
  const struct curl_tlssessioninfo *session = NULL;
  pthread_once(&once, look_up);
  if (!pending ||
      curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK ||
      !session || session->backend != CURLSSLBACKEND_OPENSSL ||
      !session->internals)
    return false;
  return pending(session->internals) > 0;
}
