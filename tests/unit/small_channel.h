/* small_channel.h - a channel over a few words, and its matrix by the law. Include it after
 * cmocka.h. */
#ifndef TESTS_SMALL_CHANNEL_H
#define TESTS_SMALL_CHANNEL_H

#include "mech/law.h"
#include "mech/model_mechanism.h"
#include "pseudo.h"
#include "small_account.h"
#include "small_model.h"
#include "tem_learn.h"

#include <math.h>
#include <string.h>

typedef struct small_channel {
    uint32_t words;
    tem_model *model;
    tem_mechanism *mechanism;
    tem_channel *channel;
    tem_prior *prior; /* Zipf's law */
    double *law;      /* P by law_make: words + 1 rows of `words` numbers */
} small_channel;

static inline double random_share(void) {
    return (double)(random64() >> 11) * 0x1p-53;
}

static inline void *make_zeros(size_t count, size_t size) {
    void *block = calloc(count, size);
    assert_non_null(block);
    return block;
}

static inline double *make_numbers(size_t count) {
    return make_zeros(count, sizeof(double));
}

static inline void copy_laws(small_channel *s) {
    s->law = make_numbers((size_t)(s->words + 1) * s->words);
    for (uint32_t w = 0; w <= s->words; w++) {
        tem_law *law = NULL;
        assert_int_equal(law_make(mechanism_form(s->mechanism), &s->model->space,
                                  w == s->words ? TEM_NO_WORD : w, 20, &law, NULL),
                         TEM_OK);
        for (uint32_t y = 0; y < s->words; y++)
            s->law[(size_t)w * s->words + y] = mpfr_get_d(law->probabilities[y], MPFR_RNDN);
        law_free(law);
    }
}

/* Takes over the model. */
static inline small_channel small_channel_of(tem_model *model, uint32_t words,
                                             tem_mechanism_options options) {
    small_channel s = {.words = words, .model = model};
    s.mechanism = mechanism_of(s.model, options);
    assert_int_equal(tem_channel_create(s.mechanism, NULL, &s.channel, NULL), TEM_OK);
    assert_int_equal(tem_prior_create_zipf(s.model, 1, &s.prior, NULL), TEM_OK);
    copy_laws(&s);
    return s;
}

/* `words` points at random in a square of side 4; weights NULL: all 1. */
static inline small_channel small_channel_make(uint32_t words, tem_mechanism_options options) {
    float *values = make_zeros(2 * (size_t)words, sizeof *values);
    for (uint32_t i = 0; i < 2 * words; i++)
        values[i] = (float)(4 * random_share());
    tem_model *model = small_model(NULL, values, words, 2, TEM_EUCLIDEAN, words);
    free(values);
    return small_channel_of(model, words, options);
}

static inline void small_channel_free(small_channel *s) {
    free(s->law);
    tem_prior_free(s->prior);
    tem_channel_free(s->channel);
    tem_mechanism_free(s->mechanism);
    tem_model_free(s->model);
}

static inline tem_expectation expect_unknown(const small_channel *s, double unknown) {
    return (tem_expectation){.prior = s->prior, .unknown = unknown};
}

static inline void expected_shares(const small_channel *s, double unknown, double *shares) {
    const tem_expectation expected = expect_unknown(s, unknown);
    assert_int_equal(tem_channel_expect(s->channel, &expected, shares, NULL), TEM_OK);
}

/* Draws `count` words from the shares of all inputs, releases them, and adds up the released ones.
 * Both arrays have a row per word, `stride` numbers apart; inputs may be NULL. */
static inline void release_words(const small_channel *s, tem_rng *rng, const double *shares,
                                 uint32_t count, uint32_t stride, double *inputs, double *counts) {
    for (uint32_t k = 0; k < count; k++) {
        double left = random_share();
        uint32_t word = 0, out = 0;
        while (word < s->words && left >= shares[word])
            left -= shares[word++];
        if (inputs != NULL)
            inputs[(size_t)word * stride]++;
        assert_int_equal(tem_mechanism_draw(s->mechanism, rng,
                                            word == s->words ? TEM_NO_WORD : word, &out, NULL),
                         TEM_OK);
        counts[(size_t)out * stride]++;
    }
}

static inline tem_rng *repeatable_rng(uint64_t seed) {
    tem_rng *rng = NULL;
    assert_int_equal(tem_rng_create_insecure(seed, 0, &rng, NULL), TEM_OK);
    return rng;
}

/* Random counts from 0 to 99, about a third of them 0; 0 for words that are never drawn. */
static inline double *random_counts(const small_channel *s, uint32_t groups) {
    double *counts = make_numbers((size_t)s->words * groups);
    for (size_t k = 0; k < (size_t)s->words * groups; k++)
        if (s->law[k / groups] > 0 && random64() % 3 > 0)
            counts[k] = (double)(random64() % 100);
    return counts;
}

static inline void check_near(double found, double truth, double tolerance, const char *what) {
    if (!(fabs(found - truth) <= tolerance))
        fail_msg("%s: %.17g instead of %.17g", what, found, truth);
}

static inline int stop_at_once(void *context, const char *stage, uint64_t done, uint64_t total) {
    (void)context, (void)stage, (void)done, (void)total;
    return 1;
}

#endif
