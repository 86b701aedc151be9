#include "base/list.h"
#include "support/test.h"

struct item {
  int value;
  errand__list link;
};

static int value_of(const errand__list *link) {
  return ERRAND__CONTAINER(link, struct item, link)->value;
}

static void expect(errand__list *head, const int *values, size_t count) {
  const errand__list *link = head->next;
  for (size_t i = 0; i < count; i++, link = link->next) {
    assert_ptr_not_equal(link, head);
    assert_int_equal(value_of(link), values[i]);
    assert_ptr_equal(link->prev->next, link);
    assert_ptr_equal(link->next->prev, link);
  }
  assert_ptr_equal(link, head);
}

#define EXPECT(head, ...)                                                      \
  expect(head, (const int[]){__VA_ARGS__}, COUNT_OF(((int[]){__VA_ARGS__})))

static void appends_prepends_removes(void **state) {
  (void) state;
  errand__list head;
  struct item items[4];
  errand__list_init(&head);
  assert_true(errand__list_is_empty(&head));
  for (int i = 0; i < 4; i++) {
    items[i].value = i;
    errand__list_init(&items[i].link);
  }
  errand__list_append(&head, &items[1].link);
  errand__list_append(&head, &items[2].link);
  errand__list_prepend(&head, &items[0].link);
  errand__list_append(&head, &items[3].link);
  EXPECT(&head, 0, 1, 2, 3);
  assert_false(errand__list_is_empty(&head));

  errand__list_remove(&items[2].link);
  EXPECT(&head, 0, 1, 3);
  errand__list_remove(&items[2].link);
  EXPECT(&head, 0, 1, 3);
  errand__list_remove(&items[0].link);
  errand__list_remove(&items[3].link);
  EXPECT(&head, 1);
  errand__list_remove(&items[1].link);
  assert_true(errand__list_is_empty(&head));
}

static void pops_in_order(void **state) {
  (void) state;
  errand__list head;
  struct item items[3];
  errand__list_init(&head);
  assert_null(errand__list_pop(&head));
  for (int i = 0; i < 3; i++) {
    items[i].value = i;
    errand__list_append(&head, &items[i].link);
  }
  for (int i = 0; i < 3; i++)
    assert_int_equal(value_of(errand__list_pop(&head)), i);
  assert_null(errand__list_pop(&head));
}

static void splices(void **state) {
  (void) state;
  errand__list a, b;
  struct item items[4];
  errand__list_init(&a);
  errand__list_init(&b);
  for (int i = 0; i < 4; i++) {
    items[i].value = i;
    errand__list_append(i < 2 ? &a : &b, &items[i].link);
  }
  errand__list_splice(&a, &b);
  EXPECT(&a, 0, 1, 2, 3);
  assert_true(errand__list_is_empty(&b));
  errand__list_splice(&a, &b);
  EXPECT(&a, 0, 1, 2, 3);
  errand__list_splice(&b, &a);
  EXPECT(&b, 0, 1, 2, 3);
  assert_true(errand__list_is_empty(&a));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(appends_prepends_removes),
      cmocka_unit_test(pops_in_order),
      cmocka_unit_test(splices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
