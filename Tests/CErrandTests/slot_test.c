/* Timeout: 240 s */
/* Pooled easy handles: what they bring to another multi handle, and how many
   there are. */
#include "libcurl/curl_traits.h"
#include "support/dns_interposer.h"
#include "support/rig.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <unistd.h>

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define IDLE_MAX 512 /* ERRAND__IDLE_SLOTS_MAX */

typedef CURL *(*init_function)(void);
typedef void (*cleanup_function)(CURL *);

static _Atomic int made;
static _Atomic int live;
static _Atomic int most;

/* libcurl makes a handle of its own for each multi handle. */
static bool called_by_the_core(void *caller) {
  Dl_info core, other;
  return dladdr(&made, &core) != 0 && dladdr(caller, &other) != 0 &&
         core.dli_fbase == other.dli_fbase;
}

/* Both are found before libcurl's, as the executable exports them. */
CURL *curl_easy_init(void) {
  if (called_by_the_core(__builtin_return_address(0))) {
    made++;
    int now = ++live;
    if (now > most)
      most = now;
  }
  return ((init_function) dlsym(RTLD_NEXT, "curl_easy_init"))();
}

void curl_easy_cleanup(CURL *easy) {
  if (called_by_the_core(__builtin_return_address(0)))
    live--;
  ((cleanup_function) dlsym(RTLD_NEXT, "curl_easy_cleanup"))(easy);
}

static int set_up_cookies(void **state) {
  return rig_set_up_with(
      state, (errand_group_init){.loops = 1, .cookies = ERRAND_COOKIES_ON});
}

static void await_no_multi(test_rig *rig) {
  int64_t start = process_milliseconds();
  while (rig_stats(rig).multis > 0) {
    assert_true(process_milliseconds() - start < 150000);
    usleep(20000);
  }
}

/* With a jar the addresses are those of the multi handle, and the handle
   outlives that. */
static void overrides_outlive_the_multi_handle(void **state) {
  test_rig *rig = *state;
  const errand_fault_step steps[] = {
      ERRAND_FAULT_STEP(READ_HEAD), ERRAND_FAULT_STEP_SEND(OK),
      ERRAND_FAULT_STEP(STALL), ERRAND_FAULT_STEP(CLOSE)};
  assert_int_equal(
      errand_fault_server_on_connection(rig->server, 0, steps, COUNT_OF(steps)),
      0);
  unsigned port = errand_fault_server_port(rig->server);
  const char *entry = text("fail.test:%u:127.0.0.1", port);
  errand_options_init init = {.resolve = &entry, .resolve_count = 1};
  errand_options *options = NULL;
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  errand_request request =
      rig_request("GET", text("http://fail.test:%u/", port));
  request.options = options;
  int asked = dns_calls();
  int before = made;
  for (int i = 0; i < 2; i++) {
    rig_expect_response(rig_run(rig, &request), 200, "ok");
    /* Not before: libcurl would close it by itself, and the multi handle
       without a connection would stay as long as any. */
    errand_fault_server_release(rig->server);
    await_no_multi(rig);
    errand_fault_server_hold(rig->server);
  }
  errand_options_release(options);
  assert_int_equal(dns_calls(), asked);
  assert_int_equal(made - before, 1); /* so it is the same handle */
}

static void run_with(test_rig *rig, errand_options *options) {
  errand_request request = rig_request("GET", rig_url(rig, "/"));
  request.options = options;
  rig_expect_response(rig_run(rig, &request), 200, "ok");
}

/* Options that differ and share a realm, as they share connections. */
static errand_options *of_its_own(uint32_t number) {
  errand_options_init init = {.tcp_keepalive_seconds = 1 + number};
  errand_options *options = NULL;
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  return options;
}

static void options_in_turn_find_their_handles(void **state) {
  test_rig *rig = *state;
  errand_options *options[20];
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  for (uint32_t i = 0; i < COUNT_OF(options); i++)
    options[i] = of_its_own(i);
  int before = made;
  for (size_t i = 0; i < 10 * COUNT_OF(options); i++)
    run_with(rig, options[i % COUNT_OF(options)]);
  for (size_t i = 0; i < COUNT_OF(options); i++)
    errand_options_release(options[i]);
  assert_int_equal(made - before, COUNT_OF(options));
}

/* Also between two ticks of a second. */
static void handles_that_nobody_finds_are_few(void **state) {
  test_rig *rig = *state;
  enum { ROUNDS = 100, AT_ONCE = 20 };
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  int before = most = live;
  for (uint32_t i = 0; i < ROUNDS; i++) {
    for (uint32_t j = 0; j < AT_ONCE; j++) {
      errand_request request = rig_request("GET", rig_url(rig, "/"));
      request.options = of_its_own(i * AT_ONCE + j);
      rig_submit(rig, &request);
      errand_options_release(request.options);
    }
    collector_wait_completions(&rig->collector, rig->accepted);
  }
  if (most - before > IDLE_MAX + 2 * AT_ONCE)
    fail_msg("%d handles at once", most - before);
}

/* The response is paused as it waits for its upload's end, for want of credit.
   libcurl 8.18.0 would hold the next transfer of the handle, before its
   connection. */
static void a_pause_ends_with_its_transfer(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  int before = made;
  for (int i = 0; i < 10; i++) {
    errand_request first = rig_request("POST", rig_url(rig, "/"));
    first.flags = ERRAND_REQUEST_STREAM_RESPONSE;
    first.response_credit = 1;
    first.body_kind = ERRAND_BODY_STREAM;
    first.body_length = ERRAND_LENGTH_UNKNOWN;
    first.upload_credit = 1000;
    first.timeout_total = 90000;
    uint64_t id = rig_submit(rig, &first);
    collector_wait_chunks(&rig->collector, id, 1);
    if (!errand__curl_does(ERRAND__CURL_KEEPS_PAUSES))
      errand_grant(rig->group, id, 100); /* others end it after its pause */
    errand_upload_finish(rig->group, id);
    rig_expect_status(collector_wait(&rig->collector, id), ERRAND_OK);
    errand_request second = rig_request("GET", rig_url(rig, "/"));
    second.flags = ERRAND_REQUEST_FRESH_CONNECTION;
    second.timeout_total = 90000;
    rig_expect_response(rig_run(rig, &second), 200, "ok");
  }
  assert_int_equal(made - before, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(overrides_outlive_the_multi_handle,
                                      set_up_cookies, rig_tear_down),
      RIG_TEST_ONE_LOOP(options_in_turn_find_their_handles),
      RIG_TEST_ONE_LOOP(handles_that_nobody_finds_are_few),
      RIG_TEST_ONE_LOOP(a_pause_ends_with_its_transfer),
  };
  return cmocka_run_group_tests_name("slot", tests, NULL, NULL);
}
