/* sampler.h - draws words from the exact law.
 *
 * For the input word w the law over all words y is
 *
 *     P(y | w)  proportional to  a_y E_j exp(-r),   x = s min(d(w, y), gamma) = j/8 + r
 *
 * (exponent.h). An unknown word is at distance gamma from every word, so its law is P(y) = a_y / A.
 * This is the Truncated Exponential Mechanism: with equal weights, the words beyond gamma together
 * have the weight that the paper gives to its symbol "bottom", and each of them has the same part
 * of that weight.
 *
 * A draw (sampler.c) uses the list of w's nearest words, and bounds for all words outside the list,
 * which are called the tail. The law does not depend on the index: it is the same for lists of any
 * length. */
#ifndef MECH_SAMPLER_H
#define MECH_SAMPLER_H

#include "mech/envelope.h"
#include "space/space.h"

enum { SAMPLER_GAP_BITS = 10 };

/* All that a draw depends on, which is public; and the thresholds of the words drawn for so far
 * (envelope.h). Any number of threads may draw at the same time, each with its own generator. */
typedef struct sampler {
    const space *space;
    envelopes envelopes;

    /* Two tables that reject most words of the tail before their distance is known
     * (docs/PRIVACY.md, "The draw has this law", step 4). A word whose space_raw exceeds nearer[j]
     * is at level j or beyond. If the 64 random bits that decide about a word begin with the 10
     * bits k, the sampler rejects the word if it is more than gaps[k] levels beyond the level at
     * the bound of its range. */
    uint64_t nearer[EXP_LEVELS + 2];
    uint16_t gaps[1 << SAMPLER_GAP_BITS];
} sampler;

/* Makes a sampler over the space of the index. The other arguments and the failures are those of
 * envelopes_init. Free with sampler_free. */
tem_status sampler_init(sampler *m, const space *s, const neighbour_index *index, exponent x,
                        const uint32_t *values, tem_error *error);
void sampler_free(sampler *m);

/* Draws an output for each of `count` words; TEM_NO_WORD stands for an unknown word. `out` may be
 * `words` itself. Fails with TEM_ERR_DAMAGED if the model contradicts itself: then `out` holds
 * unspecified ids, and the caller must not release any of them. */
tem_status sampler_draw(const sampler *m, const uint32_t *words, size_t count, tem_rng *rng,
                        uint32_t *out, tem_error *error);

/* Returns true with probability exp(-fraction / 2^36), exactly; fraction <= 2^36 (Canonne, Kamath,
 * Steinke 2020, algorithm 1). */
bool sampler_bernoulli_exp(uint64_t fraction, tem_rng *rng);

#endif
