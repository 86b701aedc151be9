/* Whose allocator libcurl has. It takes one once in a process, so each case is
   a child of its own. */
#include <CErrand.h>
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/heap.h"
#include "support/test.h"

static size_t hosts; /* allocations by the host's functions */

static void *host_malloc(size_t size) {
  hosts++;
  return malloc(size);
}

static void *host_calloc(size_t count, size_t size) {
  hosts++;
  return calloc(count, size);
}

static void *host_realloc(void *old, size_t size) {
  hosts++;
  return realloc(old, size);
}

static char *host_strdup(const char *string) {
  hosts++;
  return strdup(string);
}

/* Makes the engine start. */
static bool start_engine(void) {
  static const errand_options_init plain;
  errand_options *options = NULL;
  if (errand_options_create(&plain, &options) != ERRAND_OK)
    return false;
  errand_options_release(options);
  return true;
}

/* Whether a block that libcurl frees here is kept by the core's heap. */
static bool uses_own_heap(void) {
  if (!errand__heap_enter(true))
    return false;
  /* Long enough for a block of the heap, also where a sanitizer says exactly
     how large it is. */
  curl_free(curl_easy_escape(NULL, "a b c d e f g h i j", 19));
  bool used = errand__heap_kept() > 0;
  errand__heap_leave();
  return used;
}

static bool by_default(void) {
  return start_engine() && uses_own_heap() &&
         errand_leave_allocator() == ERRAND_INVALID_OPTION;
}

static bool where_the_host_asked(void) {
  return errand_leave_allocator() == ERRAND_OK &&
         errand_leave_allocator() == ERRAND_OK && start_engine() &&
         !uses_own_heap() && errand_leave_allocator() == ERRAND_INVALID_OPTION;
}

/* The host registered OpenSSL's exit handler before the engine started. */
static bool host_began_openssl(void) {
  typedef int (*init_crypto)(uint64_t options, const void *settings);
  union {
    void *pointer;
    init_crypto function;
  } symbol = {dlsym(RTLD_DEFAULT, "OPENSSL_init_crypto")};
  errand_features features = {0};
  /* What OpenSSL_add_all_algorithms() is. */
  if (!symbol.pointer || symbol.function(4 | 8, NULL) != 1)
    return false;
  errand_features_read(&features);
  return !(features.flags & ERRAND_FEATURE_NO_ATEXIT);
}

static bool where_the_host_was_first(void) {
  if (curl_global_init_mem(CURL_GLOBAL_DEFAULT, host_malloc, free, host_realloc,
                           host_strdup, host_calloc) != CURLE_OK ||
      !start_engine())
    return false;
  size_t before = hosts;
  return !uses_own_heap() && hosts > before;
}

static void holds_in_a_child(bool (*holds)(void)) {
  int status = -1;
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0)
    _exit(holds() ? 0 : 1);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

static void the_core_has_its_own(void **state) {
  (void) state;
  holds_in_a_child(by_default);
}

static void a_host_may_ask_for_none(void **state) {
  (void) state;
  holds_in_a_child(where_the_host_asked);
}

static void a_host_that_was_first_keeps_its_own(void **state) {
  (void) state;
  holds_in_a_child(where_the_host_was_first);
  holds_in_a_child(host_began_openssl);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_core_has_its_own),
      cmocka_unit_test(a_host_may_ask_for_none),
      cmocka_unit_test(a_host_that_was_first_keeps_its_own),
  };
  return cmocka_run_group_tests_name("allocator", tests, NULL, NULL);
}
