/* law_row.h - the probabilities of a law in double precision: law.h without MPFR. */
#ifndef MECH_LAW_ROW_H
#define MECH_LAW_ROW_H

#include "mech/law_form.h"

/* Sets probabilities[y] to P(y | word) for all words y, in double precision, with a relative error
 * below 10^-12. word may be TEM_NO_WORD. */
void law_row(const law_form *form, uint32_t word, double *probabilities);

/* The same with other weights, one per word, not all 0: those of a position (context_weights). */
void law_row_weighed(const law_form *form, const uint64_t *values, uint32_t word,
                     double *probabilities);

#endif
