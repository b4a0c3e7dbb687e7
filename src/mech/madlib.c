/* madlib.c - add noise to the vector, then take the nearest word. */
#include "mech/madlib.h"

#include "core/memory.h"
#include "core/status.h"
#include "mech/mechanism.h"

#include <math.h>
#include <string.h>

/* -log of the smallest rng_unit, 2^-53, is below 37. So the noise is shorter than 37 * dimension /
 * epsilon. Every value of a point must stay below 2^50 units of the grid. */
enum { NOISE_MAX = 37 };

tem_status madlib_init_shaped(madlib *m, const space *s, const uint32_t *outputs, double epsilon,
                              const double *root, double stretch, tem_error *error) {
    const double least =
        NOISE_MAX * s->dimension * ldexp(stretch, (int)s->step_log2 - POINT_SEARCH_BITS);
    if (!isfinite(epsilon) || epsilon < least)
        return core_fail(error, TEM_ERR_RANGE,
                         "epsilon must be a number of at least %.3g for this model", least);
    m->epsilon = epsilon;
    m->root = root;
    TRY(weights_init(&m->outputs, outputs, s->count, error));
    return point_search_init(&m->search, s, m->outputs.values, error);
}

tem_status madlib_init(madlib *m, const space *s, const uint32_t *outputs, double epsilon,
                       tem_error *error) {
    return madlib_init_shaped(m, s, outputs, epsilon, NULL, 1, error);
}

void madlib_free(madlib *m) {
    point_search_free(&m->search);
    weights_free(&m->outputs);
}

/* Draws from Gamma(shape, 1) for an integer shape: a sum of `shape` exponentials, each -log of an
 * rng_unit. The loop takes one logarithm of a product of UNITS numbers. The product is at least
 * 2^-(53 UNITS), so it does not become 0. */
static double gamma_whole(uint32_t shape, tem_rng *rng) {
    enum { UNITS = 16 };
    double sum = 0;
    for (uint32_t i = 0; i < shape; i += UNITS) {
        double product = 1;
        for (uint32_t k = i; k < shape && k < i + UNITS; k++)
            product *= rng_unit(rng);
        sum -= log(product);
    }
    return sum;
}

/* Draws one or two independent standard normals (Box, Muller); `count` is the room in `normals`. */
static void put_normals(tem_rng *rng, double *normals, uint32_t count) {
    const double radius = sqrt(-2 * log(rng_unit(rng))), angle = 6.283185307179586 * rng_unit(rng);
    normals[0] = radius * cos(angle);
    if (count > 1)
        normals[1] = radius * sin(angle);
}

void madlib_noise(double epsilon, uint32_t dimension, tem_rng *rng, double *noise) {
    double square = 0;
    do {
        for (uint32_t i = 0; i < dimension; i += 2)
            put_normals(rng, noise + i, dimension - i);
        square = 0;
        for (uint32_t i = 0; i < dimension; i++)
            square += noise[i] * noise[i];
    } while (!(square > 0)); /* the zero vector has no direction */
    const double scale = gamma_whole(dimension, rng) / epsilon / sqrt(square);
    for (uint32_t i = 0; i < dimension; i++)
        noise[i] *= scale;
}

void madlib_shape(const double *root, uint32_t dimension, double *noise) {
    double round[TEM_DIMENSION_MAX];
    memcpy(round, noise, dimension * sizeof *round);
    for (uint32_t i = 0; i < dimension; i++) {
        double sum = 0;
        for (uint32_t k = 0; k < dimension; k++)
            sum += root[(size_t)i * dimension + k] * round[k];
        noise[i] = sum;
    }
    explicit_bzero(round, dimension * sizeof *round);
}

/* Sets `point` to the vector of `word` plus noise, rounded to the grid.
 * PRIVACY: the output is near the noisy vector, so noise and output together reveal the word. The
 * function erases the noise. */
static void put_point(const madlib *m, uint32_t word, tem_rng *rng, int64_t *point) {
    const space *s = m->search.space;
    const double steps = ldexp(1, (int)s->step_log2);
    double noise[TEM_DIMENSION_MAX];
    madlib_noise(m->epsilon, s->dimension, rng, noise);
    if (m->root != NULL)
        madlib_shape(m->root, s->dimension, noise);
    for (uint32_t i = 0; i < s->dimension; i++)
        point[i] = space_row(s, word)[i] + llrint(noise[i] * steps);
    explicit_bzero(noise, s->dimension * sizeof *noise);
}

/* Draws for at most MADLIB_POINTS_AT_ONCE words. */
static tem_status draw_some(const madlib *m, madlib_choice *choose, const void *context,
                            const uint32_t *words, size_t count, tem_rng *rng, int64_t *points,
                            uint32_t *out, tem_error *error) {
    uint32_t inputs[MADLIB_POINTS_AT_ONCE], found[MADLIB_POINTS_AT_ONCE];
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        if (words[i] != TEM_NO_WORD) {
            put_point(m, words[i], rng, points + known * m->search.space->dimension);
            inputs[known++] = words[i];
        }
    const tem_status status = choose(context, inputs, points, known, rng, found, error);
    explicit_bzero(inputs, known * sizeof *inputs);
    if (status != TEM_OK)
        return status;
    known = 0;
    for (size_t i = 0; i < count; i++)
        out[i] = words[i] == TEM_NO_WORD ? weights_draw(&m->outputs, rng) : found[known++];
    return TEM_OK;
}

tem_status madlib_draw_by(const madlib *m, madlib_choice *choose, const void *context,
                          const uint32_t *words, size_t count, tem_rng *rng, uint32_t *out,
                          tem_error *error) {
    const size_t most = count < MADLIB_POINTS_AT_ONCE ? count : MADLIB_POINTS_AT_ONCE;
    int64_t *points = core_alloc(most * m->search.space->dimension, sizeof *points);
    tem_status status = points == NULL ? core_fail_memory(error) : TEM_OK;
    for (size_t done = 0; done < count && status == TEM_OK; done += most) {
        const size_t some = count - done < most ? count - done : most;
        status = draw_some(m, choose, context, words + done, some, rng, points, out + done, error);
    }
    core_free_erased(points, most * m->search.space->dimension * sizeof *points);
    return status;
}

static tem_status choose_nearest(const void *context, const uint32_t *words, const int64_t *points,
                                 size_t count, tem_rng *rng, uint32_t *out, tem_error *error) {
    const madlib *m = context;
    (void)words, (void)rng;
    return point_search_run(&m->search, points, count, out, error);
}

tem_status madlib_draw(const madlib *m, const uint32_t *words, size_t count, tem_rng *rng,
                       uint32_t *out, tem_error *error) {
    return madlib_draw_by(m, choose_nearest, m, words, count, rng, out, error);
}

/* ---- the interface ---- */

static tem_status init(void *state, const mechanism_setup *setup, double *beta, tem_error *error) {
    (void)beta;
    return madlib_init(state, setup->space, setup->weights, setup->epsilon, error);
}

static void free_state(void *state) {
    madlib_free(state);
}

static tem_status draw(const void *state, const uint32_t *words, size_t count, tem_rng *rng,
                       uint32_t *out, tem_error *error) {
    return madlib_draw(state, words, count, rng, out, error);
}

static const tem_parameter parameters[] = {
    {.name = "epsilon",
     .meaning = "the loss per unit of distance; the least depends on the vectors",
     .most = INFINITY},
    {.name = NULL}};

const mechanism_ops mechanism_madlib = {
    .properties = {.name = "madlib",
                   .summary = "noise on the vector, then the nearest word",
                   .paper = "Feyisetan, Balle, Drake, Diethe 2020",
                   .guarantee = TEM_GUARANTEE_IDEAL,
                   .unit = "distance",
                   .claim = "P(y | w) <= exp(epsilon d(w,w')) P(y | w') for ideal real numbers and "
                            "words of the model; its floating point is outside the claim, and so "
                            "are unknown words",
                   .caveat = "Madlib is floating point and states no bound between known and "
                             "unknown words; use the mechanism tem, em, rank or coin",
                   .needs_metric = TEM_EUCLIDEAN,
                   .parameters = parameters},
    .state_bytes = sizeof(madlib),
    .init = init,
    .free = free_state,
    .draw = draw,
    .slow_draws = MADLIB_POINTS_AT_ONCE};
