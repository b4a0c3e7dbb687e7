/* filter.c - $TEM_TEST_FILTER, a pattern with * and ?, picks the tests of a program to run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

__attribute__((constructor)) static void set_filter(void) {
    const char *pattern = getenv("TEM_TEST_FILTER");
    if (pattern != NULL)
        cmocka_set_test_filter(pattern);
}
