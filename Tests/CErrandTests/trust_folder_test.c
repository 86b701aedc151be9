/* A libcurl with a folder of roots alone, as the interposed curl_version_info
   tells; in a child once more, with a TLS library that is not OpenSSL. */
#include "support/nginx_fixture.h"
#include "support/rig.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool without_openssl;
static char folder[256];
static curl_version_info_data told;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void ask(void) {
  curl_version_info_data *(*real)(CURLversion) = NULL;
  void *found = dlsym(RTLD_NEXT, "curl_version_info");
  memcpy(&real, &found, sizeof found);
  told = *real(CURLVERSION_NOW);
  told.cainfo = NULL;
  told.capath = folder;
  if (without_openssl)
    told.ssl_version = "GnuTLS/3.7.9";
}

curl_version_info_data *curl_version_info(CURLversion version) {
  (void) version;
  pthread_once(&once, ask);
  return &told;
}

static void the_folder_is_trusted(void **state) {
  test_rig *rig = *state;
  rig_expect_response(rig_get(rig, nginx_url(&nginx, NGINX_TLS12, "/12b")), 200,
                      NULL);
  rig_expect_status(rig_get(rig, nginx_url(&nginx, NGINX_SELFSIGNED, "/12b")),
                    ERRAND_TLS_UNTRUSTED);
}

static void a_file_is_trusted_in_its_place(void **state) {
  test_rig *rig = *state;
  errand_options *options = NULL;
  errand_options_init with = {.ca_file =
                                  nginx_file(&nginx, "certs/selfsigned.pem")};
  assert_int_equal(errand_options_create(&with, &options), ERRAND_OK);
  errand_request r = rig_request("GET", nginx_url(&nginx, NGINX_TLS12, "/12b"));
  r.options = options;
  rig_expect_status(rig_run(rig, &r), ERRAND_TLS_UNTRUSTED);
  errand_options_release(options);
}

/* The CA's certificate by the name that OpenSSL looks for (openssl rehash). */
static int set_up(void **state) {
  if (nginx_set_up(state) != 0)
    return -1;
  const char *file = nginx_file(&nginx, "certs/ca.pem");
  FILE *in = fopen(file, "r");
  X509 *root = in ? PEM_read_X509(in, NULL, NULL, NULL) : NULL;
  if (in)
    fclose(in);
  if (!root)
    return -1;
  char link[sizeof folder + 32];
  snprintf(folder, sizeof folder, "%s", nginx_file(&nginx, "roots"));
  snprintf(link, sizeof link, "%s/%08lx.0", folder,
           X509_subject_name_hash(root));
  X509_free(root);
  return mkdir(folder, 0700) == 0 ? symlink(file, link) : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST_ONE_LOOP(the_folder_is_trusted),
      RIG_TEST_ONE_LOOP(a_file_is_trusted_in_its_place),
  };
  fflush(stdout);
  pid_t child = fork();
  if (child < 0)
    return 1;
  without_openssl = child == 0;
  int failed = cmocka_run_group_tests_name(child == 0 ? "without OpenSSL"
                                                      : "with OpenSSL",
                                           tests, set_up, nginx_tear_down);
  int status = 0;
  if (child > 0 && (waitpid(child, &status, 0) != child || status != 0))
    failed += 1;
  return failed;
}
