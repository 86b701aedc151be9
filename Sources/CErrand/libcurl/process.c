#include "libcurl/process.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "libcurl/curl_traits.h"
#include "include/errand_group.h"

/* openssl/crypto.h; stable since 1.1.1c. */
#define OPENSSL_INIT_NO_ATEXIT_BIT 0x00080000u

static pthread_once_t process_once = PTHREAD_ONCE_INIT;
static errand_status process_status = ERRAND_INTERNAL;
static const curl_version_info_data *curl_info;
static const char *curl_libraries;
static bool no_atexit;
static bool uses_heap;
static bool had_key_log;
static _Atomic int forked;

static void in_child(void) {
  atomic_store_explicit(&forked, 1, memory_order_relaxed);
}

/*
 * Keeps OpenSSL from registering its exit handler, which frees memory that loop
 * threads still use. With the handler 80 of 150 exits under load crash (curl
 * #12153). The function is looked up and not linked, as libcurl links libcrypto
 * already. It has no effect after any other initialisation of OpenSSL.
 */
static void keep_openssl_from_atexit(void) {
  typedef int (*init_crypto)(uint64_t options, const void *settings);
  typedef int (*set_functions)(void *, void *, void *);
  union {
    void *pointer;
    init_crypto init;
    set_functions set;
  } init = {dlsym(RTLD_DEFAULT, "OPENSSL_init_crypto")},
    set = {dlsym(RTLD_DEFAULT, "CRYPTO_set_mem_functions")};
  /* This call changes nothing. It fails once OpenSSL has allocated memory, and
     therefore after an initialisation that loaded anything. OpenSSL does not
     report whether such an initialisation registered the handler. */
  bool untouched = set.pointer && set.set(NULL, NULL, NULL) == 1;
  if (init.pointer)
    no_atexit = init.init(OPENSSL_INIT_NO_ATEXIT_BIT, NULL) == 1 && untouched;
}

/* Whether libcurl gets our allocator; decided once. */
typedef enum allocator { UNDECIDED = 0, LEFT_ALONE = 1, DECIDED = 2 } allocator;

static _Atomic int allocator_choice;

errand_status errand_leave_allocator(void) {
  int before = UNDECIDED;
  atomic_compare_exchange_strong(&allocator_choice, &before, LEFT_ALONE);
  return before == DECIDED ? ERRAND_INVALID_OPTION : ERRAND_OK;
}

/* If the host program has initialised libcurl, this only adds to libcurl's
   count of its users. */
static CURLcode start_libcurl(void) {
  if (atomic_exchange(&allocator_choice, DECIDED) == LEFT_ALONE)
    return curl_global_init(CURL_GLOBAL_DEFAULT);
  return curl_global_init_mem(CURL_GLOBAL_DEFAULT, errand__heap_malloc,
                              errand__heap_free, errand__heap_realloc,
                              errand__heap_strdup, errand__heap_calloc);
}

/* A call of curl_global_init_mem after the host program's own initialisation
   succeeds without any effect. If libcurl uses our heap, the heap keeps a block
   that libcurl frees. */
static bool reaches_heap(void) {
  if (!errand__heap_enter(true))
    return false;
  curl_free(curl_easy_escape(NULL, "a b", 0));
  bool reached = errand__heap_kept() > 0;
  errand__heap_leave();
  return reached;
}

static void start(void) {
  curl_info = curl_version_info(CURLVERSION_NOW);
  keep_openssl_from_atexit();
  had_key_log = getenv("SSLKEYLOGFILE") != NULL;
  /* Once, as libcurl writes the text again for each caller. */
  curl_libraries = curl_version();
  if (start_libcurl() != CURLE_OK) {
    process_status = ERRAND_SYSTEM;
    return;
  }
  uses_heap = reaches_heap();
  if (pthread_atfork(NULL, NULL, in_child) != 0) {
    process_status = ERRAND_SYSTEM;
    return;
  }
  process_status = ERRAND_OK;
}

errand_status errand__process_start(void) {
  if (errand__process_forked())
    return ERRAND_FORKED;
  pthread_once(&process_once, start);
  return process_status;
}

bool errand__curl_uses_heap(void) {
  pthread_once(&process_once, start);
  return uses_heap;
}

bool errand__process_had_key_log(void) {
  (void) errand__curl_info();
  return had_key_log;
}

bool errand__process_forked(void) {
  return atomic_load_explicit(&forked, memory_order_relaxed) != 0;
}

const curl_version_info_data *errand__curl_info(void) {
  pthread_once(&process_once, start);
  return curl_info;
}

uint32_t errand__curl_version(void) {
  return errand__curl_info()->version_num;
}

bool errand__curl_has(int feature_bit) {
  return (errand__curl_info()->features & feature_bit) != 0;
}

static bool has_protocol(const char *name) {
  for (const char *const *p = errand__curl_info()->protocols; *p; p++)
    if (strcmp(*p, name) == 0)
      return true;
  return false;
}

bool errand__curl_has_websocket(void) {
  return errand__curl_does(ERRAND__CURL_SPEAKS_WEBSOCKET) &&
         has_protocol("ws") && has_protocol("wss");
}

bool errand__curl_http2_default(void) {
  return !errand__curl_does(ERRAND__CURL_ENDS_CUT_HTTP2_BODIES) &&
         errand__curl_has(CURL_VERSION_HTTP2);
}

const char *errand__curl_libraries(void) {
  (void) errand__curl_info();
  return curl_libraries;
}

bool errand__process_has_no_atexit(void) {
  (void) errand__curl_info();
  return no_atexit;
}
