/* components.h - the mean and the components of many vectors.
 *
 * The sums run over fixed parts of the vectors, each in the order of the ids, and the parts are
 * added in order. So the result does not depend on the number of threads. */
#ifndef MODEL_COMPONENTS_H
#define MODEL_COMPONENTS_H

#include "model/vectors.h"

/* The vectors that are looked at, and how they are shared out among threads. */
typedef struct component_source {
    const tem_vectors *vectors;
    const double *lengths; /* of each vector; 0: the vector is left out */
    uint32_t counted;      /* vectors that are not left out */
    uint32_t parts;        /* from component_parts */
} component_source;

typedef struct components {
    uint32_t columns, rank;
    double *mean;      /* of the vectors scaled to length 1 */
    double *variances; /* one per component, the largest first */
    double *rows;      /* columns rows of columns numbers, one per component, of length 1 */
} components;

/* The number of parts: it depends on the vectors alone. */
uint32_t component_parts(const tem_vectors *vectors);

/* The first id of a part; that of part `parts` is the number of words. */
uint32_t component_part_start(const tem_vectors *vectors, uint32_t parts, uint64_t part);

/* The numbers of a vector, times `factor`. */
void component_load(const tem_vectors *vectors, uint32_t id, double factor, double *out);

/* Adds up parts * width sums, part after part, into the first `width` of them. */
void component_add_parts(double *sums, uint32_t parts, size_t width);

/* Finds them. Free with components_free, also after a failure.
 * Fails with TEM_ERR_MEMORY, TEM_ERR_CANCELLED, or as lapack_eigenvectors does. */
tem_status components_find(const component_source *source, const tem_run *run, components *out,
                           tem_error *error);
void components_free(components *c);

#endif
