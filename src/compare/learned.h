/* learned.h - an attacker who has learned a mechanism from drawn pairs (tem_compare.h). */
#ifndef COMPARE_LEARNED_H
#define COMPARE_LEARNED_H

#include "audit/accountant.h"
#include "compare/distance_law.h"
#include "tem_compare.h"

/* How often a word gave an output among the pairs. */
typedef struct seen_pair {
    uint32_t word, output, count;
} seen_pair;

struct tem_learned {
    const tem_accountant *accountant;
    const tem_mechanism *mechanism;
    const tem_prior *prior;
    distance_law law;
    double smoothing; /* k */
    double *totals;   /* Z(w) */
    uint32_t *drawn;  /* count(w) */
    /* prior(w) k / ((count(w) + k) Z(w)): times f(d) it is prior(w) P^(y | w) of a pair that was
     * not seen. */
    double *gains;
    uint32_t *by_gain; /* all words, the largest gain first */
    seen_pair *seen;   /* by output, then by word */
    uint64_t seen_count;
    uint64_t *starts; /* the pairs of the output y begin at starts[y]; count + 1 of them */
};

/* As tem_learned_create and so on; the caller has checked the pointers. */
tem_status learned_create(const tem_accountant *accountant, const tem_mechanism *mechanism,
                          const tem_prior *prior, const tem_learned_options *options,
                          const tem_run *run, tem_learned **learned, tem_error *error);
void learned_free(tem_learned *l);
double learned_probability(const tem_learned *l, uint32_t word, uint32_t y);
uint32_t learned_guess(const tem_learned *l, uint32_t y);
tem_status learned_test(const tem_learned *l, uint64_t pairs, uint64_t seed, const tem_run *run,
                        tem_learned_score *score, tem_error *error);
tem_status learned_effects(const tem_learned *l, const tem_run *run, tem_effects *effects,
                           tem_error *error);

/* The interval of Wilson (1927) for `right` of `pairs`, with 95 %. */
void learned_interval(uint64_t right, uint64_t pairs, double *low, double *high);

#endif
