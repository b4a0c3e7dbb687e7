/* law.h - the exact law of sampler.h as numbers, to any number of digits.
 *
 * For explanations and tests; no draw depends on it. It looks at every word, not at the
 * index, and so is also what the sampler is compared with. */
#ifndef MECH_LAW_H
#define MECH_LAW_H

#include "mech/sampler.h"

#include <mpfr.h>

struct tem_law {
    uint32_t word; /* TEM_NO_WORD: an unknown one */
    uint32_t count;
    mpfr_t *probabilities; /* count of them */
    tem_dist *distances;
    void *limbs;    /* memory of the probabilities */
    mpfr_t entropy; /* in nats */
};

/* P(y | word) for all words y, each within a relative 10^-digits of the truth; digits 1 to
 * 1000. TEM_ERR_MEMORY. Free with law_free. */
tem_status law_make(const sampler *m, uint32_t word, unsigned digits, tem_law **out,
                    tem_error *error);
void law_free(tem_law *law);

#endif
