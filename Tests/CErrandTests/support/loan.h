/* Parts of uploads that are lent to the core. */
#ifndef TEST_LOAN_H
#define TEST_LOAN_H

#include <stdatomic.h>

#include "include/errand_request.h"

/*
 * Lends a copy of `bytes`. Its release overwrites and frees the copy, so that
 * a later read shows, and counts in `released`.
 * Thread: any.
 */
errand_status test_lend(errand_group *group, uint64_t id, errand_bytes bytes,
                        _Atomic uint64_t *released);

#endif
