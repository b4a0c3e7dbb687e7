/* test_near.c - which names a mistyped one may mean: against the definition, on all short strings,
 * and by the mistakes that people make. */
#include "core/near.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static unsigned near_of(const char *typed, const char *name) {
    return near_edits(typed, strlen(typed), name, strlen(name));
}

static void test_mistakes(void **state) {
    (void)state;
    assert_int_equal(near_of("epsilom", "epsilon"), 1);
    assert_int_equal(near_of("espilon", "epsilon"), 1);
    assert_int_equal(near_of("Text", "text"), 0);
    assert_int_equal(near_of("json", "jsonl"), 1);
    assert_int_equal(near_of("eps", "epsilon"), 1); /* its beginning */
    assert_int_equal(near_of("wonderfull", "wonderful"), 1);
    assert_int_equal(near_of("frobnicate", "privatize"), NEAR_NOT);
    assert_int_equal(near_of("ep", "epsilon"), NEAR_NOT);
    assert_int_equal(near_of("x", "y"), NEAR_NOT);
    assert_int_equal(near_of("", ""), NEAR_NOT);
}

/* The recursive definition. */
static unsigned slow_edits(const char *a, size_t i, const char *b, size_t j) {
    if (i == 0 || j == 0)
        return (unsigned)(i + j);
    unsigned best = slow_edits(a, i - 1, b, j) + 1;
    const unsigned others[] = {slow_edits(a, i, b, j - 1) + 1,
                               slow_edits(a, i - 1, b, j - 1) + (a[i - 1] != b[j - 1]),
                               i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]
                                   ? slow_edits(a, i - 2, b, j - 2) + 1
                                   : NEAR_NOT};
    for (int k = 0; k < 3; k++)
        best = others[k] < best ? others[k] : best;
    return best;
}

enum { LONGEST = 5 };

/* String number `number` of all strings over a and b, the shortest first. Returns its length. */
static size_t spell(unsigned number, char text[LONGEST]) {
    size_t length = 0;
    for (number++; number > 1; number >>= 1)
        text[length++] = number & 1 ? 'b' : 'a';
    return length;
}

static void test_definition(void **state) {
    (void)state;
    char a[LONGEST], b[LONGEST];
    const unsigned strings = (1U << (LONGEST + 1)) - 1;
    for (unsigned i = 0; i < strings; i++)
        for (unsigned j = 0; j < strings; j++) {
            const size_t m = spell(i, a), n = spell(j, b);
            const unsigned edits = slow_edits(a, m, b, n);
            const bool begins = m >= 3 && n >= m && memcmp(a, b, m) == 0;
            const unsigned wanted = m > 0 && n > 0 && edits <= ((m > n ? m : n) + 1) / 3 ? edits
                                    : begins                                             ? 1
                                                                                         : NEAR_NOT;
            assert_int_equal(near_edits(a, m, b, n), wanted);
        }
}

static void test_long_names(void **state) {
    (void)state;
    char name[65];
    memset(name, 'a', sizeof name);
    assert_int_equal(near_edits(name, 64, name, 64), 0);
    assert_int_equal(near_edits(name, 64, name, 61), 3);
    assert_int_equal(near_edits(name + 1, 64, name, 65), NEAR_NOT);
    assert_int_equal(near_edits(name, 65, name, 65), NEAR_NOT);
    assert_int_equal(near_edits(name, SIZE_MAX, name, 1), NEAR_NOT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_definition),
        cmocka_unit_test(test_long_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
