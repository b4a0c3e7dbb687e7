/* nearest_distance.h - how far away the nearest words are: what a grid's rounding is compared with. */
#ifndef INDEX_NEAREST_DISTANCE_H
#define INDEX_NEAREST_DISTANCE_H

#include "index/neighbours.h"

typedef struct nearest_distance {
    uint32_t words;  /* that have a nearest word at another point */
    tem_dist median; /* over these words; of an even number the lower one; 0 if there are none */
} nearest_distance;

/* The distance of each word to its nearest word at another point, by the lists and bounds: exact.
 * Words whose list and bounds know of nothing but their own point have no part in it.
 *   merged   a byte for each word, or NULL: 1 for a word that counts as if it were 0 away from
 *            another one
 * TEM_ERR_MEMORY, or TEM_ERR_DAMAGED for a list of a mapped file. */
tem_status nearest_distance_find(const neighbour_index *index, const unsigned char *merged,
                                 nearest_distance *out, tem_error *error);

#endif
