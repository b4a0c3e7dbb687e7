/* summary.h - the effects of a mechanism on words that occur with given probabilities.
 *
 * All effects follow from four sums over the outputs y of a word w, with m = min(d(w, y), gamma):
 *
 *     Z = sum a_y exp(-s m)      M = sum m a_y exp(-s m)      B = the terms of Z with d > gamma
 *     L = sum ln(a_y) a_y exp(-s m)
 *
 *     N_w = a_w / Z,   E[m] = M / Z,   P(d > gamma) = B / Z,   entropy = ln Z + s M / Z - L / Z.
 *
 * If all weights are 0 or 1, near words are added one by one, with the exact distances of w's list:
 * they are few, and each of them matters. The words beyond the list come from the profile
 * (profile.h), which needs 512 terms instead of one term per word. A profile tells how many words
 * are in a cell, but not where in the cell. To assume that they are spread evenly is nearly right
 * where there are many.
 *
 * The profile does not give L. So with other weights all sums come from one pass over all pairs in
 * floating point, with distances of 16 bits (pair_matrix.h).
 *
 * In both cases summary.c computes a sample of words exactly, one output at a time, and compares.
 * If the results do not agree, it computes all words exactly. */
#ifndef AUDIT_SUMMARY_H
#define AUDIT_SUMMARY_H

#include "audit/exposure.h"
#include "audit/profile.h"
#include "index/neighbours.h"
#include "mech/exponent.h"
#include "mech/weights.h"
#include "tem_account.h"

/* The mechanism, and the probabilities of the words. */
typedef struct summary_source {
    const space *space;
    const neighbour_index *index;
    const exponent *exponent;
    const weights *weights;
    const profile *profile;    /* with the same weights; NULL: a weight is above 1 */
    tem_dist reach;            /* no two words are farther apart */
    const double *frequencies; /* one per word; they add up to 1 */
    exposure_group group;      /* the words that self_exposed and support_exposed are about */
} summary_source;

/* The sums Z, M, L, B of one word. */
typedef struct summary_sums {
    double total, moment, logs, beyond;
} summary_sums;

/* Computes the sums of a word one output at a time, from one distance per word of the
 * vocabulary. */
summary_sums summary_sum_exactly(const summary_source *source, uint32_t word);

/* Computes the effects on a word from these sums. */
word_law summary_law_exactly(const summary_source *source, uint32_t word);

/* What one mechanism needs for all words (summary.c): the factors of the points of a profile; and
 * exp(-s d) for a distance d as the product of three values, one for each third of its bits. */
enum { SUMMARY_THIRD_BITS = 11 };
typedef struct summary_factors {
    double total[PROFILE_POINTS], moment[PROFILE_POINTS], beyond[PROFILE_POINTS];
    double thirds[3][1 << SUMMARY_THIRD_BITS];
    uint32_t edge; /* the factors of `beyond` before this point are 0 */
} summary_factors;

void summary_set_factors(const summary_source *source, summary_factors *factors);

/* Computes the sums of a word from its list, word by word, and from the profile beyond it. Only for
 * weights that are all 0 or 1. */
summary_sums summary_sum_by_profile(const summary_source *source, const summary_factors *factors,
                                    uint32_t word);

/* Computes the sums of all words in one pass over all pairs, for any weights. sums[w] receives
 * those of the word w. TEM_ERR_MEMORY or TEM_ERR_CANCELLED. */
tem_status summary_sum_all(const summary_source *source, const tem_run *run, summary_sums *sums,
                           tem_error *error);

/* Computes the effects on every word into `laws`, one per word. TEM_ERR_MEMORY, TEM_ERR_CANCELLED,
 * TEM_ERR_DAMAGED. */
tem_status summary_laws(const summary_source *source, const tem_run *run, word_law *laws,
                        tem_error *error);

/* Computes the effects of the mechanism into *out; without with_bayes, out->bayes is NaN. `laws`
 * receives the effects on every word, one per word, as summary_laws gives them. The result is the
 * same for any number of threads. TEM_ERR_MEMORY, TEM_ERR_CANCELLED, TEM_ERR_DAMAGED. */
tem_status summary_make(const summary_source *source, bool with_bayes, const tem_run *run,
                        word_law *laws, tem_summary *out, tem_error *error);

/* Computes the success of the best guess: the sum over outputs y of max over w of f_w P(y | w),
 * where f are the frequencies. That is how often an attacker is right who knows the mechanism and
 * how often each word is used. The maximum is over all words.
 *   log_totals   ln Z(w) of every word
 * TEM_ERR_MEMORY or TEM_ERR_CANCELLED. Cost: for each y, the words of its list and those other
 * words that could be better by the bounds of the index. */
tem_status bayes_success(const summary_source *source, const double *log_totals, const tem_run *run,
                         double *success, tem_error *error);

#endif
