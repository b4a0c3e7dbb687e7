/* custext.h - the sets of the mechanisms `custext` and `custext-plus`. */
#ifndef MECH_CUSTEXT_H
#define MECH_CUSTEXT_H

#include "mech/weights.h"

enum { CUSTEXT_K_MAX = 1000 };

/* The vocabulary in sets, and the law inside a set. */
typedef struct custext {
    const space *space;
    uint32_t sets;
    uint32_t *members; /* every output, set by set */
    uint32_t *starts;  /* where the members of each set start; one more for the end of the last */
    uint32_t *set_of;  /* the set of each word, also of words that are no outputs */

    uint64_t half_epsilon; /* below epsilon / 2, in steps of 2^-36 */
    weights outputs;       /* 1 for every word that may be drawn, 0 for the others */
    unsigned char *stays;  /* custext-plus: 1 for each word that stays itself; otherwise NULL */
} custext;

/* Cuts the vocabulary into sets of k words. outputs: 0 for every word that must not be drawn; NULL:
 * all may be drawn. Fails with TEM_ERR_MEMORY, or TEM_ERR_DAMAGED if a list is. Free with
 * custext_free, also after a failure. */
tem_status custext_init_sets(custext *c, const neighbour_index *index, const space *s,
                             const uint32_t *outputs, uint32_t k, tem_error *error);
void custext_free(custext *c);

/* Sets x[i] to the exponent of member i of the word's set, at most half_epsilon: the law is
 * proportional to exp(-x[i]). Returns the number of members. */
uint32_t custext_exponents(const custext *c, uint32_t word, uint64_t x[CUSTEXT_K_MAX]);

#endif
