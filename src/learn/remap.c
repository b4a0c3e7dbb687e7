/* remap.c - a public map from released words to better ones. */
#include "learn/remap.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "learn/posterior.h"
#include "mech/point_search.h"

#include <math.h>
#include <string.h>

/* Draws per word, for a law without a form. */
enum { DRAWS = 64, WORDS_AT_ONCE = 64 };

/* Sets `vectors` to the rows of the model, in units of its grid. */
static void copy_rows(const space *s, double *vectors) {
    for (uint32_t w = 0; w < s->count; w++)
        for (uint32_t i = 0; i < s->dimension; i++)
            vectors[(size_t)w * s->dimension + i] = space_row(s, w)[i];
}

/* ---- the mean of what may be behind each output ---- */

/* A word that is never an output keeps its own vector: no word is behind it, so its mean is 0 / 0
 * where no word is unknown. */
static void keep_never_drawn(const tem_channel *channel, const double *vectors, double *means) {
    const size_t dimension = channel->mechanism->model->space.dimension;
    for (uint32_t y = 0; y < channel->count; y++)
        if (weights_at(channel->weights, y) == 0)
            memcpy(means + y * dimension, vectors + y * dimension, dimension * sizeof *means);
}

static tem_status means_by_law(const tem_mechanism *m, const tem_expectation *expected,
                               const double *vectors, const tem_run *run, double *means,
                               tem_error *error) {
    tem_channel *channel = NULL;
    tem_status status = channel_create(m, run, &channel, error);
    if (status == TEM_OK)
        status = posterior_vectors(channel, expected, vectors, m->model->space.dimension, run,
                                   means, error);
    if (status == TEM_OK)
        keep_never_drawn(channel, vectors, means);
    channel_free(channel);
    return status;
}

/* Adds the vector of `word`, times `share`, to the mean of each output. */
static void add_outputs(const double *vector, uint32_t dimension, double share,
                        const uint32_t *outputs, double *means, double *totals) {
    for (int k = 0; k < DRAWS; k++) {
        double *mean = means + (size_t)outputs[k] * dimension;
        for (uint32_t i = 0; i < dimension; i++)
            mean[i] += share * vector[i];
        totals[outputs[k]] += share;
    }
}

/* Draws for the words `first` to `first` + `count` - 1 and adds what was drawn. */
static tem_status add_words(const tem_mechanism *m, const double *vectors, const double *shares,
                            uint32_t first, uint32_t count, tem_rng *rng, double *means,
                            double *totals, tem_error *error) {
    const uint32_t dimension = m->model->space.dimension;
    uint32_t drawn[WORDS_AT_ONCE * DRAWS];
    for (uint32_t i = 0; i < count * DRAWS; i++)
        drawn[i] = first + i / DRAWS;
    const tem_status status = mechanism_draw(m, rng, drawn, drawn, (size_t)count * DRAWS, error);
    for (uint32_t i = 0; i < count && status == TEM_OK; i++)
        add_outputs(vectors + (size_t)(first + i) * dimension, dimension, shares[first + i],
                    drawn + (size_t)i * DRAWS, means, totals);
    return status;
}

/* Learns the means from draws for each word of the model. The generator has a fixed seed: the map
 * is public, and the same for everybody. An output that was never drawn keeps its own vector. */
static tem_status means_by_draws(const tem_mechanism *m, const double *vectors,
                                 const double *shares, const tem_run *run, double *means,
                                 tem_error *error) {
    const uint32_t count = m->count, dimension = m->model->space.dimension;
    double *totals = core_alloc_zero(count, sizeof *totals);
    tem_status status = totals == NULL ? core_fail_memory(error) : TEM_OK;
    tem_rng rng;
    rng_init_seeded(&rng, 1, 0);
    memset(means, 0, (size_t)count * dimension * sizeof *means);
    for (uint32_t w = 0; w < count && status == TEM_OK; w += WORDS_AT_ONCE) {
        const uint32_t some = count - w < WORDS_AT_ONCE ? count - w : WORDS_AT_ONCE;
        status = add_words(m, vectors, shares, w, some, &rng, means, totals, error);
        if (status == TEM_OK)
            status = core_progress(run, "drawing pairs", w + some, count, error);
    }
    for (uint32_t y = 0; y < count && status == TEM_OK; y++)
        for (uint32_t i = 0; i < dimension; i++) {
            const size_t place = (size_t)y * dimension + i;
            means[place] = totals[y] > 0 ? means[place] / totals[y] : vectors[place];
        }
    rng_wipe(&rng);
    core_free(totals);
    return status;
}

static tem_status find_means(const tem_mechanism *m, const tem_expectation *expected,
                             const double *vectors, const tem_run *run, double *means,
                             tem_error *error) {
    if (mechanism_form(m) != NULL)
        return means_by_law(m, expected, vectors, run, means, error);
    double *shares = core_alloc(m->count + (size_t)1, sizeof *shares);
    tem_status status =
        shares == NULL ? core_fail_memory(error) : expect_shares(m->model, expected, shares, error);
    if (status == TEM_OK)
        status = means_by_draws(m, vectors, shares, run, means, error);
    core_free(shares);
    return status;
}

/* ---- the nearest word of each mean ---- */

static tem_status search_means(const tem_mechanism *m, const double *means, uint32_t *map,
                               tem_error *error) {
    const space *s = &m->model->space;
    point_search search = {.space = NULL};
    uint32_t *outputs = NULL;
    int64_t *points = core_alloc((size_t)s->count * s->dimension, sizeof *points);
    tem_status status = points == NULL
                            ? core_fail_memory(error)
                            : model_output_weights(m->model, mechanism_weights(m), &outputs, error);
    if (status == TEM_OK)
        status = point_search_init(&search, s, outputs, error);
    for (size_t i = 0; i < (size_t)s->count * s->dimension && status == TEM_OK; i++)
        points[i] = llrint(means[i]);
    if (status == TEM_OK)
        status = point_search_run(&search, points, s->count, map, error);
    point_search_free(&search);
    core_free(outputs);
    core_free(points);
    return status;
}

tem_status remap_make(const tem_mechanism *m, const tem_expectation *expected, const tem_run *run,
                      uint32_t *map, tem_error *error) {
    const space *s = &m->model->space;
    if (!s->metric->is_euclidean)
        return core_fail(error, TEM_ERR_UNSUPPORTED, "a map needs a model of the euclidean metric");
    if (m->remap != NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "the mechanism has a map already");
    const size_t numbers = (size_t)s->count * s->dimension;
    double *vectors = core_alloc(numbers, sizeof *vectors);
    double *means = core_alloc(numbers, sizeof *means);
    tem_status status = vectors == NULL || means == NULL ? core_fail_memory(error) : TEM_OK;
    if (status == TEM_OK) {
        copy_rows(s, vectors);
        status = find_means(m, expected, vectors, run, means, error);
    }
    if (status == TEM_OK)
        status = search_means(m, means, map, error);
    core_free(means);
    core_free(vectors);
    return status;
}
