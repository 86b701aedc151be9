/* Parts of uploads, without a request. */
#include <string.h>

#include "queue/command.h"
#include "support/test.h"
#include "transfer/source.h"

static void count_release(void *context) {
  ++*(int *) context;
}

static void lend_to(errand__source *source, const char *bytes, int *released) {
  errand__order *order =
      errand__order_create(ERRAND__COMMAND_UPLOAD_WRITE, 1, strlen(bytes), 0);
  assert_non_null(order);
  order->bytes = (const uint8_t *) bytes;
  order->release = count_release;
  order->release_context = released;
  assert_int_equal(errand__source_write(source, order), ERRAND_OK);
}

static void expect_read(errand__source *source, size_t size,
                        const char *bytes) {
  char got[16];
  assert_int_equal(errand__source_read(source, got, size), strlen(bytes));
  assert_memory_equal(got, bytes, strlen(bytes));
}

/* A part is lent until its last byte is taken, so it can be sent again from
   its first byte. The source alone, because libcurl 7.88 sends all of a body
   over HTTP/1.1 before it looks whether the server has closed. */
static void a_part_that_was_taken_in_part(void **state) {
  (void) state;
  errand__source *source = NULL;
  int released = 0;
  assert_int_equal(errand__source_create(ERRAND_LENGTH_UNKNOWN, 8, &source),
                   ERRAND_OK);
  lend_to(source, "abcde", &released);
  lend_to(source, "fgh", &released);
  expect_read(source, 3, "abc");
  assert_int_equal(errand__source_take_credit(source), 3);
  assert_true(errand__source_rewind(source));
  expect_read(source, 4, "abcd");
  assert_int_equal(released, 0);
  assert_int_equal(errand__source_take_credit(source), 1); /* not 4 */
  expect_read(source, 3, "efg");
  assert_int_equal(released, 1);
  assert_false(errand__source_rewind(source));
  expect_read(source, 3, "h");
  assert_int_equal(released, 2);
  /* And where it ends in the middle of a part. */
  lend_to(source, "ij", &released);
  expect_read(source, 1, "i");
  assert_int_equal(released, 2);
  errand__source_close(source);
  assert_int_equal(released, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_part_that_was_taken_in_part),
  };
  return cmocka_run_group_tests_name("source", tests, NULL, NULL);
}
