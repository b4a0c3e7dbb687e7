/* learned.h - an attacker who has learned a mechanism from drawn pairs (tem_compare.h). */
#ifndef COMPARE_LEARNED_H
#define COMPARE_LEARNED_H

#include "audit/accountant.h"
#include "compare/learned_law.h"
#include "tem_compare.h"

struct tem_learned {
    const tem_accountant *accountant;
    const tem_mechanism *mechanism;
    const tem_prior *prior;
    learned_law law;
    /* prior(w) k / ((count(w) + k) Z(w)): times f(d) it is prior(w) P^(y | w) of a pair that was
     * not seen. */
    double *gains;
    uint32_t *by_gain; /* all words, the largest gain first */
};

/* As tem_learned_create and so on; the caller has checked the pointers. */
tem_status learned_create(const tem_accountant *accountant, const tem_mechanism *mechanism,
                          const tem_prior *prior, const tem_learned_options *options,
                          const tem_run *run, tem_learned **learned, tem_error *error);
void learned_free(tem_learned *l);
uint32_t learned_guess(const tem_learned *l, uint32_t y);
tem_status learned_test(const tem_learned *l, uint64_t pairs, uint64_t seed, const tem_run *run,
                        tem_learned_score *score, tem_error *error);
tem_status learned_effects(const tem_learned *l, const tem_run *run, tem_effects *effects,
                           tem_error *error);
#endif
