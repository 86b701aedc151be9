/* Which multi handle a request goes to: kept connections are found again. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "libcurl/curl_traits.h"
#include "support/rig.h"

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define ORIGINS 80 /* more than one multi handle keeps connections */

static errand_options *options_for_names(const test_rig *rig) {
  const char *resolve[ORIGINS];
  char entries[ORIGINS][64];
  errand_options *options = NULL;
  for (int i = 0; i < ORIGINS; i++) {
    snprintf(entries[i], sizeof entries[i], "o%d.test:%u:127.0.0.1", i,
             errand_fault_server_port(rig->server));
    resolve[i] = entries[i];
  }
  errand_options_init with = {.resolve = resolve, .resolve_count = ORIGINS};
  assert_int_equal(errand_options_create(&with, &options), ERRAND_OK);
  return options;
}

/* One multi handle keeps 73 connections; were all origins in it, each would
   close the connection that is needed next. */
static void origins_in_turn_find_their_connections(void **state) {
  test_rig *rig = *state;
  unsigned port = errand_fault_server_port(rig->server);
  errand_options *options = options_for_names(rig);
  RIG_ON(rig, NULL, ERRAND_FAULT_STEP_SEND(OK));
  for (int round = 0; round < 3; round++)
    for (int i = 0; i < ORIGINS; i++) {
      errand_request r =
          rig_request("GET", text("http://o%d.test:%u/", i, port));
      r.options = options;
      rig_expect_response(rig_run(rig, &r), 200, "ok");
    }
  assert_int_equal(rig_counts(rig).connections, ORIGINS);
  errand_options_release(options);
}

/* 7.88.1 gives requests of HTTP/1.1 and of HTTP/2 to one host each other's
   responses where they are in one multi handle. */
static void versions_of_http_are_kept_apart(void **state) {
  test_rig *rig = *state;
  static const errand_http_policy policies[] = {
      ERRAND_HTTP_AUTOMATIC, ERRAND_HTTP_1_1, ERRAND_HTTP_2_TLS};
  RIG_ON(rig, NULL, ERRAND_FAULT_STEP_SEND(OK));
  for (int i = 0; i < 9; i++) {
    errand_options *options = NULL;
    errand_options_init with = {.http_policy = policies[i % 3]};
    assert_int_equal(errand_options_create(&with, &options), ERRAND_OK);
    errand_request r = rig_request("GET", rig_url(rig, "/"));
    r.options = options;
    rig_expect_response(rig_run(rig, &r), 200, "ok");
    errand_options_release(options);
  }
  assert_int_equal(rig_counts(rig).connections, 2);
}

#define BULK 60

typedef struct canceller {
  errand_group *group;
  errand_request *items;
  atomic_int left;
  atomic_bool looks;
} canceller;

/* As soon as an id is there. */
static void *cancel_all(void *context) {
  canceller *c = context;
  bool done[BULK] = {false};
  atomic_store(&c->looks, true);
  while (atomic_load(&c->left) > 0)
    for (int i = 0; i < BULK; i++) {
      uint64_t id = __atomic_load_n(&c->items[i].id, __ATOMIC_ACQUIRE);
      if (done[i] || id == 0)
        continue;
      done[i] = true;
      atomic_fetch_sub(&c->left, 1);
      errand_cancel(c->group, id);
    }
  return NULL;
}

/* The requests of one call go to several loops; one that can be named is in
   the queue of its loop. */
static void an_id_that_is_seen_can_be_cancelled(void **state) {
  test_rig *rig = *state;
  static errand_request items[BULK];
  errand_options *options = options_for_names(rig);
  RIG_ON(rig, NULL, ERRAND_FAULT_STEP(STALL));
  for (int round = 0; round < 200; round++) {
    pthread_t thread;
    canceller c = {.group = rig->group, .items = items, .left = BULK};
    for (int i = 0; i < BULK; i++) {
      items[i] =
          rig_request("GET", text("http://o%d.test:%u/", i,
                                  errand_fault_server_port(rig->server)));
      items[i].options = options;
    }
    assert_int_equal(pthread_create(&thread, NULL, cancel_all, &c), 0);
    while (!atomic_load(&c.looks))
      sched_yield();
    size_t accepted = errand_submit(rig->group, items, BULK);
    assert_int_equal(accepted, BULK);
    rig->accepted += accepted;
    pthread_join(thread, NULL);
    for (int i = 0; i < BULK; i++) {
      const test_result *result = collector_wait(&rig->collector, items[i].id);
      rig_expect_status(result, ERRAND_CANCELLED);
    }
  }
  errand_fault_server_release(rig->server);
  errand_options_release(options);
}

/* From 8.10 on a search compares the connections in use, too: 64 of them cost a
   request a quarter of libcurl's instructions, 32 an eighth. */
static void searches_for_connections_are_short(void **state) {
  test_rig *rig = *state;
  enum { MANY = 48 };
  RIG_ON(rig, "/stall", ERRAND_FAULT_STEP(STALL), ERRAND_FAULT_STEP_SEND(OK));
  uint64_t ids[MANY];
  for (int i = 0; i < MANY; i++) {
    errand_request r = rig_request("GET", rig_url(rig, "/stall"));
    ids[i] = rig_submit(rig, &r);
  }
  rig_await(rig, (errand_fault_counts){.requests = MANY});
  bool compares = errand__curl_does(ERRAND__CURL_COMPARES_BUSY_CONNECTIONS);
  assert_int_equal(rig_stats(rig).multis, compares ? 2 : 1);
  errand_fault_server_release(rig->server);
  for (int i = 0; i < MANY; i++)
    rig_expect_response(collector_wait(&rig->collector, ids[i]), 200, "ok");
}

static int set_up_four_loops(void **state) {
  return rig_set_up_with(state, (errand_group_init){.loops = 4});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST_ONE_LOOP(origins_in_turn_find_their_connections),
      RIG_TEST_ONE_LOOP(versions_of_http_are_kept_apart),
      RIG_TEST_ONE_LOOP(searches_for_connections_are_short),
      cmocka_unit_test_setup_teardown(an_id_that_is_seen_can_be_cancelled,
                                      set_up_four_loops, rig_tear_down),
  };
  return cmocka_run_group_tests_name("affinity", tests, NULL, NULL);
}
