/* filter.c - $TEM_TEST_FILTER, a pattern with * and ?, selects the tests that a program runs;
 * $TEM_TEST_SKIP leaves some of them out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

__attribute__((constructor)) static void set_filter(void) {
    const char *pattern = getenv("TEM_TEST_FILTER");
    const char *left_out = getenv("TEM_TEST_SKIP");
    if (pattern != NULL)
        cmocka_set_test_filter(pattern);
    if (left_out != NULL)
        cmocka_set_skip_filter(left_out);
}
