/* map.c - a flat map of a word's neighborhood, by orthogonal iteration on the covariance. */
#include "map.h"

#include "core/memory.h"
#include "core/status.h"

#include <math.h>

enum { ROUNDS = 200, AXES = 2 };

/* The words as points relative to the center, and the mean of the points. */
typedef struct cloud {
    double *points; /* count * dimension */
    double *mean, *axes[AXES], *image;
    uint32_t count, dimension;
} cloud;

static void cloud_free(cloud *c) {
    core_free(c->points);
    core_free(c->mean);
    core_free(c->image);
    for (unsigned a = 0; a < AXES; a++)
        core_free(c->axes[a]);
}

static tem_status cloud_make(cloud *c, const space *s, uint32_t centre, const tem_neighbour *words,
                             uint32_t count, tem_error *error) {
    *c = (cloud){.count = count, .dimension = s->dimension};
    c->points = core_alloc((size_t)count * s->dimension, sizeof *c->points);
    c->mean = core_alloc_zero(s->dimension, sizeof *c->mean);
    c->image = core_alloc(s->dimension, sizeof *c->image);
    for (unsigned a = 0; a < AXES; a++)
        c->axes[a] = core_alloc(s->dimension, sizeof *c->axes[a]);
    if (c->points == NULL || c->mean == NULL || c->image == NULL || c->axes[0] == NULL ||
        c->axes[1] == NULL)
        return core_fail_memory(error);
    const int16_t *origin = space_row(s, centre);
    const double step = ldexp(1, -(int)s->step_log2);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < s->dimension; j++) {
            const double value = (space_row(s, words[i].id)[j] - origin[j]) * step;
            c->points[(size_t)i * s->dimension + j] = value;
            c->mean[j] += value / count;
        }
    return TEM_OK;
}

static double dot(const double *a, const double *b, uint32_t count) {
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Makes axis a orthogonal to the axes before it, and of length 1; leaves a zero axis as it is. */
static void straighten(cloud *c, unsigned a) {
    double *axis = c->axes[a];
    for (unsigned b = 0; b < a; b++) {
        const double along = dot(axis, c->axes[b], c->dimension);
        for (uint32_t j = 0; j < c->dimension; j++)
            axis[j] -= along * c->axes[b][j];
    }
    const double length = sqrt(dot(axis, axis, c->dimension));
    for (uint32_t j = 0; j < c->dimension; j++)
        axis[j] = length > 1e-9 ? axis[j] / length : 0;
}

/* Multiplies axis a by the covariance of the points. */
static void multiply(cloud *c, unsigned a) {
    double *axis = c->axes[a];
    const double shift = dot(c->mean, axis, c->dimension);
    for (uint32_t j = 0; j < c->dimension; j++)
        c->image[j] = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        const double *point = c->points + (size_t)i * c->dimension;
        const double along = dot(point, axis, c->dimension) - shift;
        for (uint32_t j = 0; j < c->dimension; j++)
            c->image[j] += along * (point[j] - c->mean[j]);
    }
    for (uint32_t j = 0; j < c->dimension; j++)
        axis[j] = c->image[j];
}

static void point_up(cloud *c, unsigned a) {
    double largest = 0;
    for (uint32_t j = 0; j < c->dimension; j++)
        largest = fabs(c->axes[a][j]) > fabs(largest) ? c->axes[a][j] : largest;
    for (uint32_t j = 0; j < c->dimension && largest < 0; j++)
        c->axes[a][j] = -c->axes[a][j];
}

static void find_axes(cloud *c) {
    for (unsigned a = 0; a < AXES; a++)
        for (uint32_t j = 0; j < c->dimension; j++)
            c->axes[a][j] = a == 0 ? 1 : (j % 2 == 0 ? 1 : -1);
    for (unsigned round = 0; round < ROUNDS; round++)
        for (unsigned a = 0; a < AXES; a++) {
            multiply(c, a);
            straighten(c, a);
        }
    for (unsigned a = 0; a < AXES; a++)
        point_up(c, a);
}

tem_status map_words(const space *s, uint32_t centre, const tem_neighbour *words, uint32_t count,
                     map_place *places, tem_error *error) {
    cloud c;
    const tem_status status = cloud_make(&c, s, centre, words, count, error);
    if (status == TEM_OK) {
        find_axes(&c);
        for (uint32_t i = 0; i < count; i++) {
            const double *point = c.points + (size_t)i * c.dimension;
            places[i] =
                (map_place){dot(point, c.axes[0], c.dimension), dot(point, c.axes[1], c.dimension)};
        }
    }
    cloud_free(&c);
    return status;
}
