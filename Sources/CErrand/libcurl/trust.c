#include "libcurl/trust.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "libcurl/process.h"
#include "libcurl/openssl.h"

/* openssl/x509_vfy.h. libcurl sets these on its own store. */
#define VERIFY_TRUSTED_FIRST 0x8000ul
#define VERIFY_PARTIAL_CHAIN 0x80000ul

typedef struct functions {
  void *(*store_new)(void);
  void (*store_free)(void *store);
  int (*store_load)(void *store, const char *file, const char *folder);
  int (*store_set_flags)(void *store, unsigned long flags);
  void (*set1_cert_store)(void *ssl_context, void *store);
  void (*clear_errors)(void);
} functions;

/* A file is checked again after this time, as package updates replace it under
   the same name. */
#define LOOK_AGAIN_MS 60000

struct errand__trust {
  _Atomic uint32_t references;
  _Atomic uint64_t look_ms; /* when to check the file; 0: not read yet */
  pthread_mutex_t parsing;  /* held by callers while a file is read */
  struct stat seen;         /* of the file in `store` */
  pthread_mutex_t taking;   /* held by callers and loops for a moment */
  void *store;              /* NULL: not readable so far */
  char *file;               /* NULL: there is no built-in one */
  char *folder;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool usable;
static functions openssl;
/* The built-in roots, while any options use them. `lock` guards it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static errand__trust *built_in;

static void look_up(void) {
  usable =
      errand__openssl_find("X509_STORE_new", &openssl.store_new) &&
      errand__openssl_find("X509_STORE_free", &openssl.store_free) &&
      errand__openssl_find("X509_STORE_load_locations", &openssl.store_load) &&
      errand__openssl_find("X509_STORE_set_flags", &openssl.store_set_flags) &&
      errand__openssl_find("SSL_CTX_set1_cert_store",
                           &openssl.set1_cert_store) &&
      errand__openssl_find("ERR_clear_error", &openssl.clear_errors);
}

static void dispose(errand__trust *trust) {
  if (trust->store)
    openssl.store_free(trust->store);
  pthread_mutex_destroy(&trust->parsing);
  pthread_mutex_destroy(&trust->taking);
  errand__free(trust->file);
  errand__free(trust->folder);
  errand__free(trust);
}

static errand__trust *make(const char *file, const char *folder) {
  errand__trust *trust = errand__calloc(1, sizeof *trust);
  if (!trust)
    return NULL;
  atomic_init(&trust->references, 1);
  pthread_mutex_init(&trust->parsing, NULL);
  pthread_mutex_init(&trust->taking, NULL);
  if ((file && !(trust->file = errand__strdup(file))) ||
      (folder && !(trust->folder = errand__strdup(folder)))) {
    dispose(trust); /* no release, as the caller may hold the lock */
    return NULL;
  }
  return trust;
}

const char *errand__trust_built_in_folder(void) {
  const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
  bool known = info->age >= CURLVERSION_SEVENTH;
  /* A folder beside a bundle has the same roots, which would be read one by
     one. */
  return known && !info->cainfo ? info->capath : NULL;
}

static bool use_built_in(errand__trust **out) {
  const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
  const char *file = info->age >= CURLVERSION_SEVENTH ? info->cainfo : NULL;
  const char *folder = errand__trust_built_in_folder();
  if (!file && !folder)
    return true; /* libcurl uses OpenSSL's default, or none */
  pthread_mutex_lock(&lock);
  if (built_in)
    atomic_fetch_add_explicit(&built_in->references, 1, memory_order_relaxed);
  else
    built_in = make(file, folder);
  *out = built_in;
  pthread_mutex_unlock(&lock);
  return *out != NULL;
}

bool errand__trust_create(const char *file, errand__trust **out) {
  *out = NULL;
  pthread_once(&once, look_up);
  if (!usable)
    return true;
  if (!file)
    return use_built_in(out);
  *out = make(file, NULL);
  return *out != NULL;
}

void errand__trust_release(errand__trust *trust) {
  if (!trust)
    return;
  pthread_mutex_lock(&lock);
  bool last = atomic_fetch_sub_explicit(&trust->references, 1,
                                        memory_order_acq_rel) == 1;
  if (last && built_in == trust)
    built_in = NULL;
  pthread_mutex_unlock(&lock);
  if (last)
    dispose(trust);
}

static void *parse(const errand__trust *trust) {
  void *store = openssl.store_new();
  if (!store)
    return NULL;
  openssl.store_set_flags(store, VERIFY_TRUSTED_FIRST | VERIFY_PARTIAL_CHAIN);
  bool ok = openssl.store_load(store, trust->file, trust->folder) == 1;
  openssl.clear_errors(); /* this thread may use OpenSSL itself */
  if (ok)
    return store;
  openssl.store_free(store);
  return NULL;
}

static bool is_unchanged(const struct stat *a, const struct stat *b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
         a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
         a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* If the file cannot be read any more, the roots stay as they were. */
static void read_again(errand__trust *trust) {
  struct stat now;
  if (stat(trust->file ? trust->file : trust->folder, &now) != 0 ||
      (trust->store && is_unchanged(&now, &trust->seen)))
    return;
  void *store = parse(trust);
  if (!store)
    return;
  trust->seen = now;
  pthread_mutex_lock(&trust->taking);
  void *old = trust->store;
  trust->store = store;
  pthread_mutex_unlock(&trust->taking);
  if (old)
    openssl.store_free(old); /* connections have references */
}

void errand__trust_prepare(errand__trust *trust, uint64_t now_ms) {
  if (now_ms < atomic_load_explicit(&trust->look_ms, memory_order_acquire))
    return;
  pthread_mutex_lock(&trust->parsing);
  if (now_ms >= atomic_load_explicit(&trust->look_ms, memory_order_relaxed)) {
    read_again(trust);
    if (trust->store)
      atomic_store_explicit(&trust->look_ms, now_ms + LOOK_AGAIN_MS,
                            memory_order_release);
  }
  pthread_mutex_unlock(&trust->parsing);
}

bool errand__trust_give(errand__trust *trust, void *ssl_context) {
  pthread_mutex_lock(&trust->taking);
  if (trust->store)
    openssl.set1_cert_store(ssl_context, trust->store);
  bool ok = trust->store != NULL;
  pthread_mutex_unlock(&trust->taking);
  return ok;
}
