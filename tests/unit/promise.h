/* promise.h - the inequality of the theorem, evaluated. Include it after cmocka.h. */
#ifndef TESTS_PROMISE_H
#define TESTS_PROMISE_H

#include "mech/law.h"
#include "mech/sampler_form.h"
#include "tem_account.h"

#include <mpfr.h>
#include <stdlib.h>

/* ln P(y | w) of the law that is drawn, to 30 digits, then rounded. Row `count`: unknown. */
static inline long double *promise_log_laws(const law_form *form, const space *s) {
    const uint32_t count = s->count;
    enum { BITS_OF_LOG = 200 };
    long double *logs = calloc((size_t)(count + 1) * count, sizeof *logs);
    assert_non_null(logs);
    mpfr_t t;
    mpfr_init2(t, BITS_OF_LOG);
    for (uint32_t w = 0; w <= count; w++) {
        tem_law *law = NULL;
        assert_int_equal(law_make(form, s, w == count ? TEM_NO_WORD : w, 30, &law, NULL), TEM_OK);
        for (uint32_t y = 0; y < count; y++) {
            mpfr_log(t, law->probabilities[y], MPFR_RNDN);
            logs[(size_t)w * count + y] = mpfr_get_ld(t, MPFR_RNDN);
        }
        law_free(law);
    }
    mpfr_clear(t);
    return logs;
}

/* How many triples (w, other, y) break P(y | w) <= exp(epsilon min(d, gamma)) P(y | other), also
 * where one is an unknown word, at the distance gamma; values: weights, NULL: all 1. Logarithms are
 * below 128 and rounded to 64 bits: their difference is off by 2^-57 at most. */
static inline uint64_t promise_count_broken(const space *s, exponent e, const uint32_t *values,
                                            double epsilon) {
    const uint32_t count = s->count;
    sampler m = {.space = s, .envelopes.exponent = e};
    assert_int_equal(weights_init(&m.envelopes.weights, values, count, NULL), TEM_OK);
    const law_form form = sampler_form(&m);
    long double *logs = promise_log_laws(&form, s);
    uint64_t broken = 0;
    for (uint32_t w = 0; w <= count; w++)
        for (uint32_t other = 0; other <= count; other++) {
            const tem_dist d = w == other                     ? 0
                               : w == count || other == count ? e.gamma
                                                              : space_distance(s, w, other);
            const long double allowed =
                (long double)epsilon * (d < e.gamma ? d : e.gamma) / 65536 + 0x1p-55L;
            for (uint32_t y = 0; y < count; y++)
                broken += logs[(size_t)w * count + y] - logs[(size_t)other * count + y] > allowed;
        }
    free(logs);
    weights_free(&m.envelopes.weights);
    return broken;
}

#endif
