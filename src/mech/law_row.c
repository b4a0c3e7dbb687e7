/* law_row.c - the probabilities of sampler.h's law in double precision. */
#include "mech/law_row.h"

#include <math.h>

/* A sum of many positive terms (Kahan). Its relative error is about 2^-52, for any number of words
 * that a model may have. */
typedef struct long_sum {
    double sum, lost;
} long_sum;

static void add(long_sum *s, double term) {
    const double corrected = term - s->lost, next = s->sum + corrected;
    s->lost = (next - s->sum) - corrected;
    s->sum = next;
}

void law_row(const sampler *form, uint32_t word, double *probabilities) {
    enum { TILE = 256 };
    _Static_assert(EXPONENT_BITS == 36, "one unit of the exponent is 2^36");
    const uint32_t count = form->envelopes.weights.count;
    tem_dist distances[TILE];
    long_sum total = {0, 0};
    for (uint32_t y = 0; y < count; y++) {
        if (y % TILE == 0 && word != TEM_NO_WORD)
            space_distances(form->space, word, y, count - y < TILE ? count - y : TILE, distances);
        const uint64_t x = exponent_at(&form->envelopes.exponent,
                                       word == TEM_NO_WORD ? UINT32_MAX : distances[y % TILE]);
        probabilities[y] = weights_at(&form->envelopes.weights, y) * exp((double)x * -0x1p-36);
        add(&total, probabilities[y]);
    }
    for (uint32_t y = 0; y < count; y++)
        probabilities[y] /= total.sum;
}
