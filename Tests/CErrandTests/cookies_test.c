/* One jar for all loops of a group. */
#include "libcurl/curl_traits.h"
#include "support/rig.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SET(fields)                                                            \
  ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n" fields                          \
                         "Content-Length: 2\r\n\r\nok")
#define HOSTS 8

static errand_options *options; /* hosts of errand.test, at the server */
static char folder[] = "/tmp/errand-cookies-XXXXXX";

static const char *in_folder(const char *name) {
  return text("%s/%s", folder, name);
}

static int make_folder(void **state) {
  (void) state;
  signal(SIGXFSZ, SIG_IGN);
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void) state;
  unlink(in_folder("jar"));
  return rmdir(folder); /* fails where a temporary file was left */
}

static int set_up_with(void **state, errand_group_init init) {
  init.cookies = ERRAND_COOKIES_ON;
  if (rig_set_up_with(state, init) != 0)
    return -1;
  test_rig *rig = *state;
  const char *resolve[HOSTS + 1];
  unsigned port = errand_fault_server_port(rig->server);
  for (int i = 0; i < HOSTS; i++)
    resolve[i] = text("h%d.errand.test:%u:127.0.0.1", i, port);
  resolve[HOSTS] = text("other.test:%u:127.0.0.1", port);
  errand_options_init with = {.resolve = resolve, .resolve_count = HOSTS + 1};
  return errand_options_create(&with, &options) == ERRAND_OK ? 0 : -1;
}

static int set_up(void **state) {
  return set_up_with(state, (errand_group_init){.loops = 2});
}

static int tear_down(void **state) {
  errand_options_release(options);
  return rig_tear_down(state);
}

static errand_request to(test_rig *rig, const char *host, const char *path) {
  errand_request request =
      rig_request("GET", text("http://%s:%u%s", host,
                              errand_fault_server_port(rig->server), path));
  request.options = options;
  return request;
}

/* Runs it; returns the Cookie field that the server saw, "" for none. */
static const char *sent_by(test_rig *rig, errand_request request) {
  static char value[8192];
  errand_fault_request seen = {0};
  size_t index = rig_counts(rig).requests;
  rig_expect_response(rig_run(rig, &request), 200, NULL);
  assert_true(errand_fault_server_request(rig->server, index, &seen));
  const char *field = strstr(seen.head, "\r\nCookie: ");
  snprintf(value, sizeof value, "%s", field ? field + 10 : "");
  value[strcspn(value, "\r")] = '\0';
  return value;
}

static const char *sent_to(test_rig *rig, const char *host, const char *path) {
  return sent_by(rig, to(rig, host, path));
}

static errand_cookie_list *list_of(test_rig *rig) {
  errand_cookie_list *list = NULL;
  assert_int_equal(errand_cookies_list(rig->group, &list), ERRAND_OK);
  return list;
}

static size_t count_of(test_rig *rig) {
  errand_cookie_list *list = list_of(rig);
  size_t count = list->count;
  errand_cookies_free(list);
  return count;
}

static void what_is_set_comes_back(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/set", SET("Set-Cookie: a=1\r\nSet-Cookie: b=2; path=/x\r\n"));
  RIG_ON(rig, NULL, SET(""));
  assert_string_equal(sent_to(rig, "h0.errand.test", "/set"), "");
  assert_string_equal(sent_to(rig, "h0.errand.test", "/"), "a=1");
  assert_string_equal(sent_to(rig, "h0.errand.test", "/x"), "b=2; a=1");
  assert_string_equal(sent_to(rig, "h1.errand.test", "/x"), "");
  errand_request without = to(rig, "h0.errand.test", "/");
  without.flags = ERRAND_REQUEST_NO_COOKIES;
  assert_string_equal(sent_by(rig, without), "");
  errand_request own = to(rig, "h0.errand.test", "/");
  own.headers = bytes_of("Cookie: mine=1\r\n");
  assert_string_equal(sent_by(rig, own), "mine=1");
  errand_request deaf = to(rig, "h3.errand.test", "/set");
  deaf.flags = ERRAND_REQUEST_NO_COOKIES;
  sent_by(rig, deaf);
  assert_string_equal(sent_to(rig, "h3.errand.test", "/"), "");
}

static void domains_and_expiry(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/set",
         SET("Set-Cookie: all=1; domain=errand.test; path=/\r\n"
             "Set-Cookie: evil=1; domain=other.test; path=/\r\n"
             "Set-Cookie: suffix=1; domain=test; path=/\r\n"
             "Set-Cookie: safe=1; secure; path=/\r\n"
             "Set-Cookie: hidden=1; HttpOnly; path=/; Max-Age=100\r\n"));
  RIG_ON(rig, "/unset",
         SET("Set-Cookie: all=; domain=errand.test; path=/; Max-Age=0\r\n"));
  RIG_ON(rig, "/past",
         SET("Set-Cookie: hidden=2; path=/; Expires=Thu, 01 Jan 1970 00:00:09 "
             "GMT\r\n"));
  RIG_ON(rig, NULL, SET(""));
  sent_to(rig, "h0.errand.test", "/set");
  assert_string_equal(sent_to(rig, "h1.errand.test", "/"), "all=1");
  assert_string_equal(sent_to(rig, "other.test", "/"), "");
  const char *own = sent_to(rig, "h0.errand.test", "/");
  assert_non_null(strstr(own, "all=1"));
  assert_non_null(strstr(own, "hidden=1"));
  assert_null(strstr(own, "safe"));
  errand_cookie_list *list = list_of(rig);
  for (size_t i = 0; i < list->count; i++) {
    const errand_cookie *c = &list->cookies[i];
    bool all = strcmp(c->name, "all") == 0;
    bool hidden = strcmp(c->name, "hidden") == 0;
    assert_true(all || hidden);
    assert_string_equal(c->domain, all ? "errand.test" : "h0.errand.test");
    assert_int_equal(c->flags,
                     all ? ERRAND_COOKIE_SUBDOMAINS : ERRAND_COOKIE_HTTP_ONLY);
    assert_true(all ? c->expires == 0 : c->expires > time(NULL) + 50);
  }
  assert_int_equal(list->count, 2);
  errand_cookies_free(list);
  sent_to(rig, "h1.errand.test", "/unset");
  sent_to(rig, "h0.errand.test", "/past");
  assert_string_equal(sent_to(rig, "h0.errand.test", "/"), "");
  assert_int_equal(count_of(rig), 0);
}

static void loops_and_identities_share_the_jar(void **state) {
  test_rig *rig = *state;
  unsigned loops = 0;
  RIG_ON(rig, "/set", SET("Set-Cookie: a=1; domain=errand.test; path=/\r\n"));
  RIG_ON(rig, NULL, SET(""));
  sent_to(rig, "h0.errand.test", "/set");
  for (int i = 0; i < HOSTS; i++) {
    errand_request request = to(rig, text("h%d.errand.test", i), "/");
    size_t index = rig_counts(rig).requests;
    rig_run(rig, &request);
    errand_fault_request seen;
    assert_true(errand_fault_server_request(rig->server, index, &seen));
    assert_non_null(strstr(seen.head, "\r\nCookie: a=1\r\n"));
    loops |= 1u << (request.id & 63);
  }
  assert_int_equal(loops, 3);
}

static void groups_do_not(void **state) {
  test_rig *rig = *state;
  test_collector apart; /* ids are of a group */
  collector_init(&apart);
  errand_group_init init = {.cookies = ERRAND_COOKIES_ON,
                            .allow_denied_library = 1,
                            .on_records = collector_on_records,
                            .context = &apart};
  errand_group *other = NULL;
  RIG_ON(rig, "/set", SET("Set-Cookie: a=1; path=/\r\n"));
  RIG_ON(rig, NULL, SET(""));
  sent_to(rig, "h0.errand.test", "/set");
  assert_int_equal(errand_group_create(&init, &other), ERRAND_OK);
  errand_request request = to(rig, "h0.errand.test", "/");
  size_t index = rig_counts(rig).requests;
  assert_int_equal(errand_submit(other, &request, 1), 1);
  collector_wait(&apart, request.id);
  errand_fault_request seen;
  assert_true(errand_fault_server_request(rig->server, index, &seen));
  assert_null(strstr(seen.head, "Cookie"));
  errand_group_destroy(other);
  collector_destroy(&apart);
  assert_string_equal(sent_to(rig, "h0.errand.test", "/"), "a=1");
}

static void a_host_field_is_of_its_request_alone(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/set", SET("Set-Cookie: a=1; path=/\r\n"));
  RIG_ON(rig, NULL, SET(""));
  errand_request request = to(rig, "h0.errand.test", "/set");
  request.headers = bytes_of("Host: h1.errand.test\r\n");
  sent_by(rig, request);
  assert_string_equal(sent_to(rig, "h0.errand.test", "/"), "");
  assert_string_equal(sent_to(rig, "h1.errand.test", "/"), "a=1");
}

static void set_list_and_clear(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, NULL, SET(""));
  errand_cookie cookie = {.name = "n",
                          .value = "v w",
                          .domain = "h0.errand.test",
                          .path = "/p",
                          .expires = time(NULL) + 1000};
  assert_int_equal(errand_cookies_set(rig->group, &cookie), ERRAND_OK);
  cookie.name = "s";
  cookie.value = "";
  cookie.expires = 0;
  assert_int_equal(errand_cookies_set(rig->group, &cookie), ERRAND_OK);
  assert_int_equal(count_of(rig), 2);
  assert_non_null(strstr(sent_to(rig, "h0.errand.test", "/p/q"), "n=v w"));
  assert_string_equal(sent_to(rig, "h0.errand.test", "/"), "");
  assert_int_equal(errand_cookies_clear(rig->group, 1), ERRAND_OK);
  errand_cookie_list *list = list_of(rig);
  assert_int_equal(list->count, 1);
  assert_string_equal(list->cookies[0].name, "n");
  assert_string_equal(list->cookies[0].value, "v w");
  assert_string_equal(list->cookies[0].path, "/p");
  errand_cookies_free(list);
  cookie.name = "n";
  cookie.expires = 1; /* removes it */
  assert_int_equal(errand_cookies_set(rig->group, &cookie), ERRAND_OK);
  assert_int_equal(count_of(rig), 0);
  assert_string_equal(sent_to(rig, "h0.errand.test", "/p"), "");
  cookie.expires = 0;
  assert_int_equal(errand_cookies_set(rig->group, &cookie), ERRAND_OK);
  assert_int_equal(errand_cookies_clear(rig->group, 0), ERRAND_OK);
  assert_int_equal(count_of(rig), 0);
  assert_int_equal(errand_cookies_save(rig->group), ERRAND_INVALID_OPTION);
}

/* curl keeps "Path=" as an empty text, which means "/". */
static void an_empty_path(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/a/set", SET("Set-Cookie: e=1; Path=; Max-Age=1000\r\n"));
  RIG_ON(rig, NULL, SET(""));
  /* The default path, by RFC 6265 5.2.4. */
  bool root = errand__curl_does(ERRAND__CURL_KEEPS_EMPTY_PATHS);
  sent_to(rig, "h0.errand.test", "/a/set");
  assert_string_equal(sent_to(rig, "h0.errand.test", "/a/b"), "e=1");
  assert_string_equal(sent_to(rig, "h0.errand.test", "/b"), root ? "e=1" : "");
  errand_cookie_list *list = list_of(rig);
  assert_int_equal(list->count, 1);
  assert_string_equal(list->cookies[0].path, root ? "/" : "/a");
  /* As it is listed, so it is replaced and removed. */
  errand_cookie changed = list->cookies[0];
  changed.value = "2";
  assert_int_equal(errand_cookies_set(rig->group, &changed), ERRAND_OK);
  assert_string_equal(sent_to(rig, "h0.errand.test", "/a/b"), "e=2");
  changed.expires = 1;
  assert_int_equal(errand_cookies_set(rig->group, &changed), ERRAND_OK);
  assert_int_equal(count_of(rig), 0);
  assert_string_equal(sent_to(rig, "h0.errand.test", "/a/b"), "");
  errand_cookies_free(list);
}

/* As curl matches by it, also once it was saved. */
static void a_path_in_quotes(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/set",
         SET("Set-Cookie: a=1; Path=\"/p\"\r\nSet-Cookie: b=1; Path=\"/p;\"\r\n"
             "Set-Cookie: c=1; Path=p\r\n"));
  RIG_ON(rig, NULL, SET(""));
  sent_to(rig, "h0.errand.test", "/set");
  errand_cookie_list *list = list_of(rig);
  assert_int_equal(list->count, 3);
  for (size_t i = 0; i < list->count; i++) {
    bool is_root = list->cookies[i].name[0] == 'c';
    assert_string_equal(list->cookies[i].path, is_root ? "/" : "/p");
  }
  errand_cookies_free(list);
}

static void wrong_cookies(void **state) {
  test_rig *rig = *state;
  const errand_cookie good = {
      .name = "n", .value = "v", .domain = "a.test", .path = "/"};
  errand_cookie wrong[10];
  for (int i = 0; i < 10; i++)
    wrong[i] = good;
  wrong[0].name = "";
  wrong[1].name = "a=b";
  wrong[2].value = "a\tb";
  wrong[3].value = "a\r\nb";
  wrong[4].domain = "";
  wrong[5].domain = "#HttpOnly_a";
  wrong[6].path = "p";
  wrong[7].name = "__Host-a"; /* must be secure */
  wrong[8].expires = -1;
  wrong[9].value = NULL;
  for (int i = 0; i < 10; i++)
    assert_int_equal(errand_cookies_set(rig->group, &wrong[i]),
                     ERRAND_INVALID_ARGUMENT);
  assert_int_equal(count_of(rig), 0);
  assert_int_equal(errand_cookies_set(rig->group, &good), ERRAND_OK);
}

static void nothing_without_a_jar(void **state) {
  test_rig *rig = *state;
  errand_cookie_list *list;
  RIG_ON(rig, "/", SET("Set-Cookie: a=1; path=/\r\n"));
  rig_get(rig, rig_url(rig, "/"));
  rig_get(rig, rig_url(rig, "/"));
  errand_fault_request seen;
  assert_true(errand_fault_server_request(rig->server, 1, &seen));
  assert_null(strstr(seen.head, "Cookie"));
  assert_int_equal(errand_cookies_list(rig->group, &list),
                   ERRAND_INVALID_OPTION);
  assert_int_equal(errand_cookies_clear(rig->group, 0), ERRAND_INVALID_OPTION);
  assert_int_equal(errand_cookies_save(rig->group), ERRAND_INVALID_OPTION);
  errand_group_init init = {.cookie_file = "x",
                            .allow_denied_library = 1,
                            .on_records = collector_on_records,
                            .context = &rig->collector};
  errand_group *group = NULL;
  assert_int_equal(errand_group_create(&init, &group), ERRAND_INVALID_OPTION);
  init.cookies = ERRAND_COOKIES_ON;
  init.cookie_file = folder; /* no regular file */
  assert_int_equal(errand_group_create(&init, &group), ERRAND_FILE_UNREADABLE);
}

static int set_up_file(void **state) {
  return set_up_with(
      state, (errand_group_init){.loops = 2, .cookie_file = in_folder("jar")});
}

static void a_file_is_written(void **state) {
  test_rig *rig = *state;
  struct stat info;
  RIG_ON(rig, "/set",
         SET("Set-Cookie: a=1; path=/; Max-Age=1000; HttpOnly\r\n"
             "Set-Cookie: b=2; domain=errand.test; path=/\r\n"));
  sent_to(rig, "h0.errand.test", "/set");
  assert_int_equal(errand_cookies_save(rig->group), ERRAND_OK);
  assert_int_equal(stat(in_folder("jar"), &info), 0);
  assert_int_equal(info.st_mode & 0777, 0600);
  /* A disk that is full leaves the old file as it was. */
  struct rlimit before, small;
  getrlimit(RLIMIT_FSIZE, &before);
  small = before;
  small.rlim_cur = 10;
  setrlimit(RLIMIT_FSIZE, &small);
  errand_status status = errand_cookies_save(rig->group);
  setrlimit(RLIMIT_FSIZE, &before);
  assert_int_equal(status, ERRAND_FILE_UNWRITABLE);
  off_t size = info.st_size;
  assert_int_equal(stat(in_folder("jar"), &info), 0);
  assert_int_equal(info.st_size, size);
  /* What is set now is saved by the end of the group. */
  errand_cookie late = {
      .name = "late", .value = "3", .domain = "h0.errand.test", .path = "/"};
  assert_int_equal(errand_cookies_set(rig->group, &late), ERRAND_OK);
}

static void a_file_is_read(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, NULL, SET(""));
  assert_int_equal(count_of(rig), 3);
  const char *sent = sent_to(rig, "h0.errand.test", "/");
  assert_non_null(strstr(sent, "a=1"));
  assert_non_null(strstr(sent, "b=2"));
  assert_non_null(strstr(sent, "late=3"));
  assert_string_equal(sent_to(rig, "h1.errand.test", "/"), "b=2");
  errand_cookies_clear(rig->group, 0);
  /* For the next test: lines that are none, and one that is. */
  errand_cookies_save(rig->group);
}

static int set_up_odd_file(void **state) {
  FILE *to = fopen(in_folder("jar"), "w");
  fprintf(to, "ALL\nSet-Cookie: x=1\n# comment\n\n\t\t\t\na\tb\n"
              "h0.errand.test\tFALSE\t/\tFALSE\t1\told\t1\n"
              "h0.errand.test\tFALSE\t\tFALSE\t0\trooted\t1\n"
              "h0.errand.test\tFALSE\t/\tFALSE\t0\tgood\t1\r\nSESS\n");
  for (int i = 0; i < 4999; i++) /* an end that looks like a cookie */
    fputc('x', to);
  fprintf(to, "h1.errand.test\tFALSE\t/\tFALSE\t0\tlong\t1\n");
  fclose(to);
  return set_up_file(state);
}

static void odd_lines_are_passed_over(void **state) {
  test_rig *rig = *state;
  errand_cookie_list *list = list_of(rig);
  assert_int_equal(list->count, 2);
  for (size_t i = 0; i < list->count; i++) {
    bool rooted = strcmp(list->cookies[i].name, "rooted") == 0;
    assert_true(rooted || strcmp(list->cookies[i].name, "good") == 0);
    assert_string_equal(list->cookies[i].path, "/");
  }
  errand_cookies_free(list);
}

static void *meddle(void *context) {
  test_rig *rig = context;
  errand_cookie cookie = {
      .name = "m", .value = "1", .domain = "errand.test", .path = "/"};
  for (int i = 0; i < 200; i++) {
    cookie.expires = i % 3 ? 0 : 1;
    errand_cookies_set(rig->group, &cookie);
    errand_cookie_list *list = NULL;
    if (errand_cookies_list(rig->group, &list) == ERRAND_OK)
      errand_cookies_free(list);
    if (i % 20 == 0)
      errand_cookies_clear(rig->group, i % 40 == 0);
    if (i % 50 == 0)
      errand_cookies_save(rig->group);
  }
  return NULL;
}

static void everybody_at_once(void **state) {
  test_rig *rig = *state;
  enum { COUNT = 400 };
  static errand_request requests[COUNT];
  pthread_t threads[2];
  RIG_ON(rig, NULL,
         SET("Set-Cookie: a=1; domain=errand.test; path=/\r\n"
             "Set-Cookie: b=2; path=/\r\n"));
  for (int i = 0; i < COUNT; i++) {
    requests[i] = to(rig, text("h%d.errand.test", i % HOSTS), "/");
    requests[i].flags = i % 5 == 0 ? ERRAND_REQUEST_NO_COOKIES : 0;
  }
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, meddle, rig);
  for (int i = 0; i < COUNT; i++)
    rig_submit(rig, &requests[i]);
  for (int i = 0; i < COUNT; i++)
    rig_expect_response(collector_wait(&rig->collector, requests[i].id), 200,
                        "ok");
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define FILE_TEST(name, set_up)                                                \
  cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(what_is_set_comes_back),
      TEST(domains_and_expiry),
      TEST(loops_and_identities_share_the_jar),
      TEST(groups_do_not),
      TEST(a_host_field_is_of_its_request_alone),
      TEST(set_list_and_clear),
      TEST(an_empty_path),
      TEST(a_path_in_quotes),
      TEST(wrong_cookies),
      RIG_TEST(nothing_without_a_jar),
      FILE_TEST(a_file_is_written, set_up_file),
      FILE_TEST(a_file_is_read, set_up_file),
      FILE_TEST(odd_lines_are_passed_over, set_up_odd_file),
      FILE_TEST(everybody_at_once, set_up_file),
  };
  return cmocka_run_group_tests_name("cookies", tests, make_folder,
                                     remove_folder);
}
