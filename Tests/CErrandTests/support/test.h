/* cmocka and what it wants included before it. */
#ifndef ERRAND_TESTS_TEST_H
#define ERRAND_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

#endif
