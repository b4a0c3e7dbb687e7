/* random_ngram.h - random back-off models for tests. Include it after cmocka.h. */
#ifndef TESTS_RANDOM_NGRAM_H
#define TESTS_RANDOM_NGRAM_H

#include "language/ngram.h"
#include "pseudo.h"

#include <math.h>

/* Uniform from 0 to 1. */
static double random_part(void) {
    return (double)(random64() >> 11) * 0x1p-53;
}

/* Fills a table with rows of random successors; some rows are empty and say nothing. What is listed
 * may be less than the back-off weight gives, and back-off weights may be far above 1. */
static void random_rows(const tem_ngram *g, ngram_rows *rows, uint64_t count) {
    uint64_t at = 0;
    assert_true(ngram_rows_alloc(rows, count, count * g->symbols));
    for (uint64_t r = 0; r < count; r++) {
        for (uint32_t s = 0; s < g->symbols && r % 5 != 4; s++)
            if (random_below(3) == 0) {
                rows->ids[at] = s;
                rows->extra[at++] = pow(random_part(), 4) - (random_below(6) == 0 ? 0.01 : 0);
            }
        rows->starts[r + 1] = at;
        if (r % 5 != 4)
            rows->bow[r] = random_below(4) == 0 ? 30 * random_part() : random_part();
    }
}

/* The words without context have p^steepness, p uniform. */
static tem_ngram *random_ngram(const tem_model *model, uint32_t order, double steepness) {
    tem_ngram *g = ngram_make(model);
    assert_non_null(g);
    double sum = 0;
    for (uint32_t s = 0; s < g->symbols; s++)
        sum += g->p[s] = pow(random_part(), steepness) + 1e-15;
    for (uint32_t s = 0; s < g->symbols; s++)
        g->p[s] /= sum;
    if (order >= 2)
        random_rows(g, &g->two, g->symbols);
    if (order >= 3)
        random_rows(g, &g->three, g->two.starts[g->symbols]);
    g->info.order = order;
    return g;
}

#endif
