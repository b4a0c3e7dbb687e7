/* madlib.c - noise on the vector, then the nearest word. */
#include "mech/madlib.h"

#include "core/memory.h"
#include "core/status.h"
#include "space/kernels/kernels.h"

#include <math.h>
#include <string.h>

/* A point's values are cut into digits of 14 bits, which fit the int16 kernels: value =
 * sum of digit[i] * 2^(14 i), the highest digit signed. */
enum { DIGIT_BITS = 14, DIGITS_MAX = 4 };

/* -log of the smallest rng_unit, 2^-53, is below 37, so the radius of the noise is below
 * 37 * dimension / epsilon; a point on the grid has to stay below 2^50. */
enum { NOISE_MAX = 37, POINT_BITS = 50 };

__extension__ typedef __int128 score;

tem_status madlib_init(madlib *m, const space *s, double epsilon, tem_error *error) {
    if (s->metric != TEM_EUCLIDEAN)
        return core_fail(error, TEM_ERR_UNSUPPORTED,
                         "Madlib adds noise to vectors and needs a model of the euclidean metric");
    const double least = NOISE_MAX * s->dimension * ldexp(1, (int)s->step_log2 - POINT_BITS);
    if (!isfinite(epsilon) || epsilon < least)
        return core_fail(error, TEM_ERR_RANGE,
                         "epsilon must be a number of at least %.3g for this model", least);
    *m = (madlib){.space = s, .epsilon = epsilon};
    m->norms = core_alloc(s->count, sizeof *m->norms);
    if (m->norms == NULL)
        return core_fail_memory(error);
    for (uint32_t id = 0; id < s->count; id++) {
        const int16_t *x = space_row(s, id);
        m->norms[id] = (uint64_t)kernels_active()->dot_i16(x, x, s->row_elements);
    }
    return TEM_OK;
}

void madlib_free(madlib *m) {
    core_free(m->norms);
    *m = (madlib){0};
}

/* Gamma(shape, 1) for a whole shape: a sum of exponentials. */
static double gamma_whole(uint32_t shape, tem_rng *rng) {
    double sum = 0;
    for (uint32_t i = 0; i < shape; i++)
        sum -= log(rng_unit(rng));
    return sum;
}

/* Two independent standard normals (Box, Muller). */
static void normal_pair(tem_rng *rng, double pair[2]) {
    const double radius = sqrt(-2 * log(rng_unit(rng))), turn = 6.283185307179586 * rng_unit(rng);
    pair[0] = radius * cos(turn);
    pair[1] = radius * sin(turn);
}

void madlib_noise(double epsilon, uint32_t dimension, tem_rng *rng, double *noise) {
    double square = 0;
    do {
        for (uint32_t i = 0; i < dimension; i += 2) {
            double pair[2];
            normal_pair(rng, pair);
            memcpy(noise + i, pair, (i + 1 < dimension ? 2 : 1) * sizeof *noise);
        }
        square = 0;
        for (uint32_t i = 0; i < dimension; i++)
            square += noise[i] * noise[i];
    } while (!(square > 0)); /* the zero vector has no direction */
    const double scale = gamma_whole(dimension, rng) / epsilon / sqrt(square);
    for (uint32_t i = 0; i < dimension; i++)
        noise[i] *= scale;
}

/* Cuts a point into digits, each a padded row; returns how many it took. */
static unsigned cut_digits(const space *s, const int64_t *point, int16_t *digits) {
    int64_t rest[TEM_DIMENSION_MAX];
    memcpy(rest, point, s->dimension * sizeof *rest);
    memset(digits, 0, (size_t)DIGITS_MAX * s->row_elements * sizeof *digits);
    for (unsigned used = 1;; used++) {
        bool last = true;
        for (uint32_t i = 0; i < s->dimension; i++)
            last &= rest[i] >= -KERNEL_VALUE_MAX && rest[i] <= KERNEL_VALUE_MAX;
        int16_t *row = digits + (size_t)(used - 1) * s->row_elements;
        for (uint32_t i = 0; i < s->dimension; i++) {
            row[i] = (int16_t)(last ? rest[i] : rest[i] & ((1 << DIGIT_BITS) - 1));
            rest[i] >>= DIGIT_BITS; /* towards minus infinity: the digit is not negative */
        }
        if (last || used == DIGITS_MAX)
            return used;
    }
}

uint32_t madlib_nearest(const madlib *m, const int64_t *point) {
    const space *s = m->space;
    const kernels *k = kernels_active();
    _Alignas(64) int16_t digits[DIGITS_MAX * TEM_DIMENSION_MAX];
    const unsigned used = cut_digits(s, point, digits);
    uint32_t nearest = 0;
    score best = 0;
    for (uint32_t id = 0; id < s->count; id++) {
        /* |point - row|^2 less |point|^2, which is the same for all. */
        score value = (score)m->norms[id];
        for (unsigned i = 0; i < used; i++)
            value -= ((score)2 * k->dot_i16(digits + (size_t)i * s->row_elements, space_row(s, id),
                                            s->row_elements)) *
                     ((score)1 << (DIGIT_BITS * i));
        if (id == 0 || value < best) {
            best = value;
            nearest = id;
        }
    }
    return nearest;
}

uint32_t madlib_draw(const madlib *m, uint32_t word, tem_rng *rng) {
    const space *s = m->space;
    if (word == TEM_NO_WORD)
        return (uint32_t)rng_below(rng, s->count);
    double noise[TEM_DIMENSION_MAX];
    int64_t point[TEM_DIMENSION_MAX];
    madlib_noise(m->epsilon, s->dimension, rng, noise);
    for (uint32_t i = 0; i < s->dimension; i++)
        point[i] = space_row(s, word)[i] + llrint(ldexp(noise[i], (int)s->step_log2));
    return madlib_nearest(m, point);
}
