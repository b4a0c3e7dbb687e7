/* law.h - the probabilities of a law, to any number of digits.
 *
 * The probabilities serve explanations and tests; no draw depends on them. The computation looks at
 * every word and does not use the index, so tests compare the sampler with it. */
#ifndef MECH_LAW_H
#define MECH_LAW_H

#include "mech/law_form.h"
#include "space/space.h"
#include "tem_account.h"

#include <mpfr.h>

struct tem_law {
    uint32_t word; /* TEM_NO_WORD: an unknown word */
    uint32_t count;
    mpfr_t *probabilities; /* one per word */
    tem_dist *distances;
    void *limbs;    /* memory of the probabilities and of the entropy */
    mpfr_t entropy; /* in nats */
};

/* Computes P(y | word) for all words y of the space, each with a relative error of at most
 * 10^-digits; digits: 1 to 1000. An unknown word is at distance gamma from every word, or at
 * UINT32_MAX where the form has no gamma. Fails with TEM_ERR_MEMORY. Free with law_free. */
tem_status law_make(const law_form *form, const space *s, uint32_t word, unsigned digits,
                    tem_law **out, tem_error *error);

/* The same with other weights, one per word, not all 0: those of a position (context_weights). */
tem_status law_make_weighed(const law_form *form, const uint64_t *values, const space *s,
                            uint32_t word, unsigned digits, tem_law **out, tem_error *error);

/* Makes the law of `word` from probabilities that were computed otherwise, one per word. An unknown
 * word is at distance UINT32_MAX from every word. Fails with TEM_ERR_MEMORY. */
tem_status law_make_from_row(const space *s, uint32_t word, const double *row, tem_law **out,
                             tem_error *error);
void law_free(tem_law *law);

/* Sets `ids` to the `count` words nearest to the word of the law, nearest first; the lower id wins
 * a tie. count: 1 to law->count. Fails with TEM_ERR_MEMORY. */
tem_status law_nearest(const tem_law *law, uint32_t *ids, uint32_t count, tem_error *error);

/* The support of the law, exp(entropy): over how many words the output is spread. */
double law_support(const tem_law *law);

/* Print a number of a law, or its support, in scientific notation, the same in every locale.
 * digits: 1 to TEM_LAW_DIGITS_MAX; the buffer must have at least digits + 32 bytes. */
void law_print(mpfr_srcptr value, unsigned digits, char *buffer, size_t buffer_bytes);
void law_print_support(const tem_law *law, unsigned digits, char *buffer, size_t buffer_bytes);

/* Prints the probability of all words except `ids`, as law_print does. Fails with
 * TEM_ERR_MEMORY. */
tem_status law_print_outside(const tem_law *law, const uint32_t *ids, size_t count, unsigned digits,
                             char *buffer, size_t buffer_bytes, tem_error *error);

#endif
