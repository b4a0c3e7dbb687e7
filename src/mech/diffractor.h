/* diffractor.h - the lists of the mechanism `diffractor`. */
#ifndef MECH_DIFFRACTOR_H
#define MECH_DIFFRACTOR_H

#include "mech/weights.h"

enum { DIFFRACTOR_LISTS_MAX = 100 };

typedef struct diffractor {
    uint32_t count, lists;
    uint32_t steps;   /* epsilon in steps of 2^-20, rounded down */
    uint32_t length;  /* of a list: the number of outputs */
    uint32_t *words;  /* lists * length: the outputs in the order of each list */
    uint32_t *places; /* lists * count: the place of each word in each list */
    double *powers;   /* length: a^k, a = exp(-epsilon) */
    weights outputs;  /* 1 for every word that may be drawn, 0 for the others */
} diffractor;

/* Makes the lists. outputs: 0 for every word that must not be drawn; NULL: all may be drawn. Fails
 * with TEM_ERR_MEMORY, or TEM_ERR_DAMAGED if a list of neighbors is. Free with diffractor_free,
 * also after a failure. */
tem_status diffractor_init_lists(diffractor *d, const neighbour_index *index, uint32_t count,
                                 const uint32_t *outputs, uint32_t lists, tem_error *error);
void diffractor_free(diffractor *d);

#endif
