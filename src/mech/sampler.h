/* sampler.h - words drawn from the exact law.
 *
 * The law of input w, over all words y:
 *
 *     P(y | w)  proportional to  a_y E_j exp(-r),   x = s min(d(w, y), gamma) = j/8 + r
 *
 * (exponent.h). An unknown word is at distance gamma from every word, and so has
 * P(y) = a_y / A. This is the Truncated Exponential Mechanism: with equal weights, the
 * words beyond gamma together carry the weight that the paper gives to its symbol
 * "bottom", and each of them the same share of it.
 *
 * The draw (sampler.c) uses the list of w's nearest words and the bounds on all the
 * others, whatever their length: the law does not depend on the index. */
#ifndef MECH_SAMPLER_H
#define MECH_SAMPLER_H

#include "mech/envelope.h"
#include "space/space.h"

enum { SAMPLER_GAP_BITS = 10 };

/* Everything a draw depends on, all of it public; and what was worked out for the words
 * that were drawn for (envelope.h). Any number of threads may draw at once,
 * each with its own generator. */
typedef struct sampler {
    const space *space;
    envelopes envelopes;

    /* Most words of the tail are too far away, and that shows before their exponent is
     * known. A word is at level j or beyond if its space_raw exceeds nearer[j]; and where the first
     * bits begin with the 10 bits k it is not kept more than gaps[k] levels
     * above the level of its range. */
    uint64_t nearer[EXP_LEVELS + 2];
    uint16_t gaps[1 << SAMPLER_GAP_BITS];
} sampler;

/* The arguments of envelopes_init, and the space of the index. Free with sampler_free. */
tem_status sampler_init(sampler *m, const space *s, const neighbour_index *index, exponent x,
                        const uint32_t *values, tem_error *error);
void sampler_free(sampler *m);

/* Draws an output for each of `count` words, TEM_NO_WORD being an unknown word. out may be
 * `words` itself. TEM_ERR_DAMAGED if the model contradicts itself: nothing is to be
 * released then, and what out holds is unspecified. */
tem_status sampler_draw(const sampler *m, const uint32_t *words, size_t count, tem_rng *rng,
                        uint32_t *out, tem_error *error);

/* True with probability exp(-fraction / 2^36), exactly; fraction <= 2^36 (Canonne, Kamath,
 * Steinke 2020, algorithm 1). */
bool sampler_bernoulli_exp(uint64_t fraction, tem_rng *rng);

#endif
