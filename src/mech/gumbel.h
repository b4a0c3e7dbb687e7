/* gumbel.h - truncated Gumbel noise on the distances of a random number of nearest words.
 *
 * Xu, Aggarwal, Feyisetan, Teissier 2021, "Density-Aware Differentially Private Textual
 * Perturbations Using Truncated Gumbel Noise". Let n be the number of words, and Dmin and Dmax the
 * least and the largest distance between two of them. For an input w
 *
 *     k           is drawn from a Poisson distribution of mean log n, truncated to 1 to n,
 *     candidates  are the k words nearest to w, itself included,
 *     noise       is drawn for each from the Gumbel distribution of scale b, truncated to
 *                 [-Dmax, Dmax]: P(noise <= x) is proportional to exp(-exp(-x / b)) less its value
 *                 at -Dmax,
 *     output      is the candidate whose distance from w plus noise is least,
 *
 *     b = 2 Dmax / min(W(2 a Dmax), log(a Dmin)),   a = (epsilon - 2 (1 + log n) / Dmin) / 3,
 *
 * where W is Lambert's function: W(x) exp(W(x)) = x. b is defined if a Dmin > 1, that is for
 * epsilon above (5 + 2 log n) / Dmin, and only if no two words are at one point. tem refuses
 * everything else.
 *
 * Guarantee: none. The paper states P(y | w) <= exp(epsilon d(w,w')) P(y | w'). The number k breaks
 * it, whatever b is: if y is the last of the n words in the order of w', it is a candidate for k =
 * n alone, so P(y | w') <= P(k = n), about exp(-n log n), while P(y | y) >= P(k = 1). Let all
 * distances be nearly D, as in spaces of many dimensions. Then epsilon D is 2 (1 + log n) + 3 a D,
 * so the bound exp(epsilon D) grows like n^2 and not like n^n. For n = 20 words and a D = 1.5 the
 * ratio is above 2 10^9 and the bound below 4 10^5; tests/unit/test_mechanisms_gumbel.c has these
 * words and integrates their law.
 *
 * In floating point it is worse still: tem draws k from 53-bit numbers, and no k whose probability
 * is below 2^-60. So a word beyond the first tens in the order of w never comes out for w.
 *
 * What is not confirmed: the paper's text was not at hand, so the formulas come from accounts of
 * it. They agree on a and on W(2 a Dmax). log(a Dmin) is as in MLDP; another account has
 * log(a Dmax), which gives less noise. Whether k may be 0 is open; MLDP then returns w, which makes
 * P(y | y) larger. So is whether w is among its k nearest words; if it were not, P(w | w) would be
 * 0, which no epsilon bounds.
 *
 * Where tem departs from the paper: it never returns excluded words (the k nearest words are those
 * that may be outputs), replaces unknown words by a uniform word, and takes for Dmax a bound above
 * the largest distance (space_reach). b grows with Dmax, so that is more noise, never less. Dmin
 * is exact.
 *
 * Public code: sjmeis/MLDP (src/mldp_text/mechanisms.py) takes Dmin and Dmax from the distances of
 * one random word instead of all, adds the noise to squared distances if it searches by FAISS, uses
 * W of a negative number where a Dmin <= 0, and returns unknown words unchanged. */
#ifndef MECH_GUMBEL_H
#define MECH_GUMBEL_H

#include "mech/weights.h"

typedef struct gumbel {
    const space *space;
    const neighbour_index *index;
    weights outputs;
    double least, reach;    /* Dmin, and a bound above Dmax */
    double scale;           /* b */
    double first_k;         /* P(k = 1), not yet divided by `all_k` */
    double all_k;           /* the sum of these for all k */
    double mean;            /* log n */
    uint32_t most_k;        /* larger k have a probability below 2^-60 */
    double lowest, highest; /* exp(-exp(-x / b)) at -reach and at reach */
} gumbel;

/* Lambert's function for x > 0. */
double gumbel_lambert(double x);

/* b by the formula above, or 0 if it is not defined. */
double gumbel_scale(double epsilon, double words, double least, double reach);

/* Prepares the draws. outputs as for madlib_init. Fails with TEM_ERR_RANGE if there is only one
 * word, two words are at one point, or b is not defined; TEM_ERR_MEMORY; TEM_ERR_DAMAGED. Free with
 * gumbel_free, also after a failure. */
tem_status gumbel_init(gumbel *g, const space *s, const neighbour_index *index,
                       const uint32_t *outputs, double epsilon, tem_error *error);
void gumbel_free(gumbel *g);

/* The two random numbers of the mechanism. */
uint32_t gumbel_draw_k(const gumbel *g, tem_rng *rng);
double gumbel_draw_noise(const gumbel *g, tem_rng *rng);

/* Draws an output for each of `count` words; `out` may be `words` itself. Fails with
 * TEM_ERR_MEMORY, TEM_ERR_DAMAGED. */
tem_status gumbel_draw(const gumbel *g, const uint32_t *words, size_t count, tem_rng *rng,
                       uint32_t *out, tem_error *error);

#endif
