/* summary.h - what a mechanism does to words that come with given probabilities.
 *
 * Everything follows from four sums over the outputs y of a word w, with m = min(d(w, y), gamma):
 *
 *     Z = sum a_y exp(-s m)      M = sum m a_y exp(-s m)      B = the part of Z beyond gamma
 *     L = sum ln(a_y) a_y exp(-s m)
 *
 *     N_w = a_w / Z,   E[m] = M / Z,   P(d > gamma) = B / Z,   entropy = ln Z + s M / Z - L / Z.
 *
 * With weights that are all 1, near words are taken one by one, with the exact distances of w's
 * list: they are few, and each of them matters. Those beyond the list come from the profile
 * (profile.h), a sum of 512 terms instead of one a word. It knows how many words are in a cell, but
 * not where. Taking them as evenly spread over it is nearly right where there are many.
 *
 * The profile does not have L. With other weights all sums but B, which is small, come from one
 * pass over all pairs in floating point, with distances of 16 bits (pair_matrix.h).
 *
 * In either case summary.c looks at a sample of words, one output at a time, whether it is right,
 * and otherwise takes all of them like that. */
#ifndef AUDIT_SUMMARY_H
#define AUDIT_SUMMARY_H

#include "audit/profile.h"
#include "index/neighbours.h"
#include "mech/exponent.h"
#include "mech/weights.h"
#include "tem_account.h"

/* The mechanism that is asked about, and the words' probabilities. */
typedef struct summary_source {
    const space *space;
    const neighbour_index *index;
    const exponent *exponent;
    const weights *weights;
    const profile *profile;    /* with the same weights */
    const double *frequencies; /* of the words; they add up to 1 */
} summary_source;

/* The sums Z, M, L, B of one word. */
typedef struct summary_sums {
    double total, moment, logs, beyond;
} summary_sums;

/* One output at a time: a distance for each word. */
summary_sums summary_sum_exactly(const summary_source *source, uint32_t word);

/* What each point of a profile counts for under a mechanism. */
typedef struct summary_factors {
    double total[PROFILE_POINTS], moment[PROFILE_POINTS], beyond[PROFILE_POINTS];
} summary_factors;

void summary_set_factors(const summary_source *source, summary_factors *factors);

/* The word's list one by one, the rest by the profile. For weights that are all 1. */
summary_sums summary_sum_by_profile(const summary_source *source, const summary_factors *factors,
                                    uint32_t word);

/* All words in one pass over all pairs, whatever the weights: sums[w] of each word w.
 * TEM_ERR_MEMORY or TEM_ERR_CANCELLED. */
tem_status summary_sum_all(const summary_source *source, const summary_factors *factors,
                           const tem_run *run, summary_sums *sums, tem_error *error);

/* Fills *out; without with_bayes its `bayes` is NaN. The same for any number of
 * threads. TEM_ERR_MEMORY, TEM_ERR_CANCELLED, TEM_ERR_DAMAGED. */
tem_status summary_make(const summary_source *source, bool with_bayes, const tem_run *run,
                        tem_summary *out, tem_error *error);

/* The sum over outputs y of max over w of f_w P(y | w), f being the frequencies: what an adversary
 * gets right who knows the mechanism and how often each word is used.
 *   log_totals   ln Z(w) of every word
 * The maximum is over all words. TEM_ERR_MEMORY or TEM_ERR_CANCELLED. Cost: for each y the
 * words of its list, and those others that could be better by what the index says. */
tem_status bayes_success(const summary_source *source, const double *log_totals, const tem_run *run,
                         double *success, tem_error *error);

#endif
