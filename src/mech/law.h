/* law.h - the exact law of sampler.h as numbers, to any number of digits.
 *
 * For explanations and tests; no draw depends on it. It looks at every word, not at the
 * index, and so is also what the sampler is compared with. */
#ifndef MECH_LAW_H
#define MECH_LAW_H

#include "mech/sampler.h"
#include "tem_account.h"

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

/* The `count` words nearest to the word of the law, ties by id; count 1 to law->count.
 * TEM_ERR_MEMORY. */
tem_status law_nearest(const tem_law *law, uint32_t *ids, uint32_t count, tem_error *error);

/* exp of the entropy, the effective number of outputs. */
double law_support(const tem_law *law);

/* A number of a law in scientific notation, whatever the locale; digits 1 to TEM_LAW_DIGITS_MAX,
 * 32 bytes more than digits. */
void law_print(mpfr_srcptr value, unsigned digits, char *buffer, size_t buffer_bytes);
void law_print_support(const tem_law *law, unsigned digits, char *buffer, size_t buffer_bytes);

/* The probability of all words but these. TEM_ERR_MEMORY. */
tem_status law_print_outside(const tem_law *law, const uint32_t *ids, size_t count, unsigned digits,
                             char *buffer, size_t buffer_bytes, tem_error *error);

#endif
