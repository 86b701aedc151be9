#include "base/longest.h"

#include "support/test.h"

#define SECOND UINT64_C(1000000000)
#define WINDOW ERRAND__LONGEST_WINDOW_NS

static void the_longest_stays(void **state) {
  (void) state;
  errand__longest longest = {0};
  uint64_t now = 100 * WINDOW;
  assert_int_equal(errand__longest_read(&longest, now), 0);
  errand__longest_note(&longest, now, 5);
  errand__longest_note(&longest, now + SECOND, 9);
  errand__longest_note(&longest, now + 2 * SECOND, 7);
  assert_int_equal(errand__longest_read(&longest, now + 2 * SECOND), 9);
  /* A read changes nothing. */
  assert_int_equal(errand__longest_read(&longest, now + 3 * SECOND), 9);
}

static void the_window_before_counts(void **state) {
  (void) state;
  errand__longest longest = {0};
  uint64_t now = 100 * WINDOW;
  errand__longest_note(&longest, now, 9);
  errand__longest_note(&longest, now + WINDOW, 4);
  assert_int_equal(errand__longest_read(&longest, now + WINDOW), 9);
  assert_int_equal(errand__longest_read(&longest, now + 2 * WINDOW - 1), 9);
  assert_int_equal(errand__longest_read(&longest, now + 2 * WINDOW), 4);
  assert_int_equal(errand__longest_read(&longest, now + 3 * WINDOW), 0);
}

/* The place of the window before the last one is used again. */
static void a_shorter_time_of_a_later_window_replaces(void **state) {
  (void) state;
  errand__longest longest = {0};
  uint64_t now = 100 * WINDOW;
  errand__longest_note(&longest, now, 9);
  errand__longest_note(&longest, now + 2 * WINDOW, 3);
  assert_int_equal(errand__longest_read(&longest, now + 2 * WINDOW), 3);
}

static void a_time_is_cut_where_it_is_too_long(void **state) {
  (void) state;
  errand__longest longest = {0};
  uint64_t now = 100 * WINDOW;
  errand__longest_note(&longest, now, 1000 * SECOND);
  assert_int_equal(errand__longest_read(&longest, now), ERRAND__LONGEST_MAX_NS);
  assert_true(ERRAND__LONGEST_MAX_NS > 68 * SECOND);
  /* The number of the window is as it was. */
  errand__longest_note(&longest, now + 2 * WINDOW, 3);
  assert_int_equal(errand__longest_read(&longest, now + 2 * WINDOW), 3);
}

/* Soon after the system's start. */
static void the_first_window_has_no_window_before(void **state) {
  (void) state;
  errand__longest longest = {0};
  assert_int_equal(errand__longest_read(&longest, 0), 0);
  errand__longest_note(&longest, SECOND, 2);
  assert_int_equal(errand__longest_read(&longest, SECOND), 2);
  assert_int_equal(errand__longest_read(&longest, WINDOW), 2);
  assert_int_equal(errand__longest_read(&longest, 2 * WINDOW), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_longest_stays),
      cmocka_unit_test(the_window_before_counts),
      cmocka_unit_test(a_shorter_time_of_a_later_window_replaces),
      cmocka_unit_test(a_time_is_cut_where_it_is_too_long),
      cmocka_unit_test(the_first_window_has_no_window_before),
  };
  return cmocka_run_group_tests_name("longest", tests, NULL, NULL);
}
