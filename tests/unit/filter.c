/* filter.c - $TEM_TEST_FILTER, a pattern with * and ?, selects the tests that a program runs. */
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
