/* sampler.h - one word drawn from the exact law.
 *
 * The law of input w, over all words y:
 *
 *     P(y | w)  proportional to  a_y E_j exp(-r),   x = s min(d(w, y), gamma) = j/8 + r
 *
 * (exp_table.h). An unknown word is at distance gamma from every word, and so has
 * P(y) = a_y / A. This is the Truncated Exponential Mechanism: with equal weights, the
 * words beyond gamma together carry the weight that the paper gives to its symbol
 * "bottom", and each of them the same share of it.
 *
 * The draw (sampler.c) uses the list of w's nearest words and the bound b on all the
 * others, whatever their length: the law does not depend on the index. */
#ifndef MECH_SAMPLER_H
#define MECH_SAMPLER_H

#include "index/neighbours.h"
#include "mech/exponent.h"
#include "mech/weights.h"
#include "rng/rng.h"
#include "space/space.h"

/* Everything a draw depends on, all of it public and frozen. */
typedef struct sampler {
    const space *space;
    const neighbour_index *index;
    exponent exponent;
    weights weights;
} sampler;

/* Draws the output for `word`, or for an unknown word if it is TEM_NO_WORD.
 * TEM_ERR_DAMAGED if the model contradicts itself: nothing is released then. */
tem_status sampler_draw(const sampler *m, uint32_t word, tem_rng *rng, uint32_t *out,
                        tem_error *error);

/* True with probability exp(-rest / 2^36), exactly; rest <= 2^36 (Canonne, Kamath,
 * Steinke 2020, algorithm 1). */
bool sampler_bernoulli_exp(uint64_t rest, tem_rng *rng);

#endif
