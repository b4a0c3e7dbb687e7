/* word_effects.h - what a mechanism does to words, from the N_w and S_w of each. */
#ifndef COMPARE_WORD_EFFECTS_H
#define COMPARE_WORD_EFFECTS_H

#include "audit/accountant.h"
#include "tem_compare.h"

/* N_w and S_w of one word. */
typedef struct word_effect {
    double self, support;
} word_effect;

/* Sets the medians under the prior and the most exposed word; the guesses become NaN.
 *   of       one per word of the vocabulary
 * Fails with TEM_ERR_MEMORY. */
tem_status word_effects_gather(const tem_accountant *accountant, const tem_prior *prior,
                               const word_effect *of, tem_effects *effects, tem_error *error);

/* As tem_accountant_effects; the caller has checked the pointers and that all are of one model. */
tem_status exact_effects(const tem_accountant *accountant, const tem_mechanism *mechanism,
                         const tem_prior *prior, const tem_run *run, tem_effects *effects,
                         tem_error *error);

#endif
