/* tally.h - draws of a mechanism against the row of its law, by chi-square. Include it after
 * cmocka.h.
 *
 * The bins come from the law, never from what appeared: a word that is expected BIN_LEAST times or
 * more has a bin of its own, all others of positive probability share one, which joins the least
 * likely of the others if it is expected fewer times. Degrees of freedom: bins less one. A word of
 * probability 0 must not appear at all. A right program with fresh randomness fails one comparison
 * with probability ALARM_EACH; seeds are fixed, so a program either always fails or never. */
#ifndef TESTS_TALLY_H
#define TESTS_TALLY_H

#include "gamma_upper.h"
#include "mech/model_mechanism.h"
#include "slow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if SLOW
enum { TALLY_DRAWS = 20000 };
#else
enum { TALLY_DRAWS = 200000 };
#endif

enum { TALLY_BIN_LEAST = 50 };

#define TALLY_ALARM_EACH 1e-8 /* fewer than 100 comparisons: below 1e-6 for a whole file */

/* Counts of what was drawn, and what is expected by `row`. */
typedef struct tally {
    uint32_t words;
    const double *row;
    uint64_t *counts;
} tally;

/* The word with a bin of its own that is expected least; `words` if there is none. */
static inline uint32_t tally_least(const tally *t) {
    uint32_t least = t->words;
    for (uint32_t y = 0; y < t->words; y++)
        if (t->row[y] * TALLY_DRAWS >= TALLY_BIN_LEAST &&
            (least == t->words || t->row[y] < t->row[least]))
            least = y;
    return least;
}

static inline void tally_check(const tally *t) {
    double square = 0, rare = 0, rare_off = 0;
    unsigned bins = 0;
    for (uint32_t y = 0; y < t->words; y++) {
        const double expected = t->row[y] * TALLY_DRAWS, off = (double)t->counts[y] - expected;
        if (expected == 0 && t->counts[y] > 0)
            fail_msg("word %u was drawn, but its probability is 0", y);
        const bool is_rare = expected < TALLY_BIN_LEAST;
        square += is_rare ? 0 : off * off / expected;
        bins += !is_rare;
        rare += is_rare ? expected : 0;
        rare_off += is_rare ? off : 0;
    }
    const uint32_t least = tally_least(t);
    if (rare > 0 && rare < TALLY_BIN_LEAST && least < t->words) {
        const double expected = t->row[least] * TALLY_DRAWS;
        const double off = (double)t->counts[least] - expected;
        square -= off * off / expected;
        bins--;
        rare += expected;
        rare_off += off;
    }
    if (rare > 0) {
        square += rare_off * rare_off / rare;
        bins++;
    }
    if (bins > 1 && gamma_upper((bins - 1) / 2.0, square / 2) < TALLY_ALARM_EACH)
        fail_msg("chi-square %g with %u degrees of freedom", square, bins - 1);
}

/* Compares TALLY_DRAWS draws for `word`, in batches of several sizes, with its row. */
static inline void tally_draws(const tem_mechanism *m, uint32_t word, uint64_t seed) {
    enum { MOST = 700 };
    static const size_t sizes[] = {1, 7, 255, 256, 257, MOST};
    uint32_t drawn[MOST];
    double *row = calloc(m->count, sizeof *row);
    tally t = {.words = m->count, .row = row, .counts = calloc(m->count, sizeof *t.counts)};
    assert_true(row != NULL && t.counts != NULL);
    assert_int_equal(mechanism_row(m, word, row, NULL), TEM_OK);
    tem_rng rng;
    rng_init_seeded(&rng, seed, word);
    for (size_t done = 0, turn = 0, some = 0; done < TALLY_DRAWS; done += some, turn++) {
        some = sizes[turn % 6] < TALLY_DRAWS - done ? sizes[turn % 6] : TALLY_DRAWS - done;
        for (size_t i = 0; i < some; i++)
            drawn[i] = word;
        assert_int_equal(mechanism_draw(m, &rng, drawn, drawn, some, NULL), TEM_OK);
        for (size_t i = 0; i < some; i++)
            t.counts[drawn[i]]++;
    }
    tally_check(&t);
    free(t.counts);
    free(row);
}

#endif
