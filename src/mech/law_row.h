/* law_row.h - the probabilities of sampler.h's law in double precision: law.h without MPFR. */
#ifndef MECH_LAW_ROW_H
#define MECH_LAW_ROW_H

#include "mech/sampler.h"

/* Sets probabilities[y] to P(y | word) for all words y, in double precision, with a relative error
 * below 10^-12. */
void law_row(const sampler *m, uint32_t word, double *probabilities);

#endif
