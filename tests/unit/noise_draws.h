/* noise_draws.h - draws of the noise mechanisms, and comparisons of them with a distribution.
 *
 * The seeds are fixed: the same numbers in every run. A correct program with a fresh seed fails one
 * comparison with probability at most ALARM, and the tests make fewer than 100. Chi-square: a
 * variable with f degrees of freedom exceeds f + 2 sqrt(f x) + 2x with probability at most exp(-x)
 * (Laurent, Massart). Kolmogorov-Smirnov: P(D > t) <= 2 exp(-2 N t^2).
 * Include it after cmocka.h. */
#ifndef TESTS_NOISE_DRAWS_H
#define TESTS_NOISE_DRAWS_H

#include "rng/rng.h"
#include "slow.h"
#include "tem.h"

#include <math.h>
#include <stdlib.h>

/* A sanitizer run looks for memory errors, so it makes fewer draws. */
enum { DRAWS = SLOW ? 20000 : 200000, SAMPLES = SLOW ? 5000 : 100000, SEED = 20211114 };

#define ALARM 1e-9

/* Compares counts with the probabilities that they should have. A probability of 0 must have no
 * count. Words that are expected fewer than 10 times share a bin; if that one is expected fewer
 * than 10 times as well, it must have fewer than 50 (probability 1e-17 for 10). */
static inline void compare_counts(const uint64_t *counts, const double *law, uint32_t words,
                                  uint64_t draws) {
    double statistic = 0, freedom = -1, rare = 0, rare_expected = 0;
    for (uint32_t y = 0; y < words; y++) {
        const double expected = law[y] * (double)draws, off = (double)counts[y] - expected;
        if (law[y] == 0) {
            assert_int_equal(counts[y], 0);
        } else if (expected < 10) {
            rare += (double)counts[y];
            rare_expected += expected;
        } else {
            statistic += off * off / expected;
            freedom++;
        }
    }
    if (rare_expected >= 10) {
        statistic += (rare - rare_expected) * (rare - rare_expected) / rare_expected;
        freedom++;
    }
    assert_true(rare_expected >= 10 || rare < 50);
    const double x = -log(ALARM), threshold = freedom + 2 * sqrt(freedom * x) + 2 * x;
    if (!(statistic <= threshold))
        fail_msg("chi-square %.1f with %.0f degrees of freedom, above %.1f with probability 1e-9",
                 statistic, freedom, threshold);
}

static inline int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Compares SAMPLES numbers, which it sorts, with a distribution function. */
static inline void compare_samples(double *samples, double (*cdf)(const void *context, double x),
                                   const void *context) {
    double largest = 0;
    qsort(samples, SAMPLES, sizeof *samples, compare_doubles);
    for (int i = 0; i < SAMPLES; i++) {
        const double f = cdf(context, samples[i]);
        largest = fmax(largest, fmax(f - (double)i / SAMPLES, (i + 1.0) / SAMPLES - f));
    }
    const double threshold = sqrt(log(2 / ALARM) / (2.0 * SAMPLES));
    if (!(largest <= threshold))
        fail_msg("distance %.5f of %d samples; above %.5f with probability 1e-9", largest, SAMPLES,
                 threshold);
}

/* Makes a mechanism; name and value: its own number, or NULL. */
static inline tem_status try_mechanism(const tem_model *model, const char *mechanism,
                                       double epsilon, const char *name, double value,
                                       tem_mechanism **out, tem_error *error) {
    const tem_parameter_value numbers[] = {{.name = name, .value = value}, {.name = NULL}};
    const tem_mechanism_options options = {
        .mechanism = mechanism, .epsilon = epsilon, .numbers = numbers, .allow_no_guarantee = 1};
    return tem_mechanism_create(model, &options, out, error);
}

static inline tem_mechanism *make_mechanism(const tem_model *model, const char *mechanism,
                                            double epsilon, const char *name, double value) {
    tem_mechanism *made = NULL;
    tem_error error = {0};
    if (try_mechanism(model, mechanism, epsilon, name, value, &made, &error) != TEM_OK)
        fail_msg("%s: %s", mechanism, error.message);
    return made;
}

/* Draws DRAWS outputs of `word`, in batches of several sizes. */
static inline void count_draws(const tem_mechanism *m, uint32_t word, uint64_t stream,
                               uint64_t *counts) {
    static const size_t sizes[] = {1, 7, 192, 193, 2000};
    uint32_t drawn[2000];
    tem_rng rng;
    rng_init_seeded(&rng, SEED, stream);
    size_t done = 0;
    for (size_t turn = 0; done < DRAWS; turn++) {
        size_t some = sizes[turn % 5];
        some = some < DRAWS - done ? some : DRAWS - done;
        for (size_t i = 0; i < some; i++)
            drawn[i] = word;
        assert_int_equal(tem_mechanism_draw_many(m, &rng, drawn, drawn, some, NULL), TEM_OK);
        for (size_t i = 0; i < some; i++)
            counts[drawn[i]]++;
        done += some;
    }
}

/* Compares the draws of an unknown word with the uniform law over the words that may be outputs. */
static inline void check_unknown(const tem_mechanism *m, const tem_model *model, uint32_t words) {
    uint64_t counts[64] = {0};
    double law[64], outputs = 0;
    assert_true(words <= 64);
    for (uint32_t y = 0; y < words; y++)
        outputs += !tem_model_is_excluded(model, y);
    for (uint32_t y = 0; y < words; y++)
        law[y] = tem_model_is_excluded(model, y) ? 0 : 1 / outputs;
    count_draws(m, TEM_NO_WORD, 99, counts);
    compare_counts(counts, law, words, DRAWS);
}

#endif
