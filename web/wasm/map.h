/* map.h - a flat map of a word's neighborhood. */
#ifndef WASM_MAP_H
#define WASM_MAP_H

#include "space/space.h"

typedef struct map_place {
    double x, y;
} map_place;

/* Projects the vectors of `count` words onto their two principal components (which is classical
 * multidimensional scaling of their euclidean distances), with `centre` at 0, 0. In units of
 * distance. The largest number of each component is positive, so the map is always the same. Fails
 * with TEM_ERR_MEMORY. */
tem_status map_words(const space *s, uint32_t centre, const tem_neighbour *words, uint32_t count,
                     map_place *places, tem_error *error);

#endif
