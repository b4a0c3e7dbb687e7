/* model_build.c - builds a model.
 *
 * Vectors become points on the grid; a user's distances become a matrix. Both give a
 * space, and the rest of the work is the same for both. */
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "model/model.h"
#include "model/prepare.h"
#include "model/vectors.h"
#include "space/ball.h"
#include "space/grid.h"

#include <math.h>
#include <string.h>

/* Copies a vocabulary by building it again from its words. */
static tem_status copy_words(const vocab *words, vocab *out, tem_error *error) {
    vocab_fault fault = {0, 0, NULL};
    word_span *spans = core_alloc(words->count, sizeof *spans);
    if (spans == NULL)
        return core_fail_memory(error);
    for (uint32_t id = 0; id < words->count; id++)
        spans[id].start = vocab_word(words, id, &spans[id].length);
    tem_status status = vocab_make(spans, words->count, out, &fault);
    core_free(spans);
    return status == TEM_OK ? TEM_OK : core_fail_memory(error); /* the words are known to be good */
}

/* Copies vectors that are already on the grid: only pads their rows. */
static void copy_grid(const tem_vectors *v, tem_model *m, int16_t *rows) {
    memset(rows, 0, (size_t)v->words.count * m->space.row_elements * sizeof *rows);
    for (size_t id = 0; id < v->words.count; id++)
        memcpy(rows + id * m->space.row_elements, v->grid + id * v->dimension,
               v->dimension * sizeof *rows);
    m->space.step_log2 = v->step_log2;
    m->deviation = v->deviation < UINT32_MAX ? v->deviation + 1 : UINT32_MAX;
}

/* Rounds vectors to points of the ball. */
static tem_status make_points(const tem_vectors *v, const tem_run *run, tem_model *m,
                              tem_error *error) {
    space *s = &m->space;
    int32_t *points = core_alloc((size_t)s->count * s->row_elements, sizeof *points);
    if (points == NULL)
        return core_fail_memory(error);
    s->points = points;
    s->step_log2 = BALL_STEP_LOG2;
    return ball_round(v->values, s->count, s->dimension, run, points, &m->deviation, error);
}

static tem_status make_rows(const tem_vectors *v, const tem_run *run, tem_model *m,
                            tem_error *error) {
    space *s = &m->space;
    tem_status status = TEM_OK;
    int16_t *rows = core_alloc((size_t)s->count * s->row_elements, sizeof *rows);
    if (rows == NULL)
        return core_fail_memory(error);
    s->rows = rows;
    if (v->grid != NULL)
        copy_grid(v, m, rows);
    else
        status = grid_round(v->values, s->count, s->dimension, s->metric, run, rows, &s->step_log2,
                            &m->deviation, error);
    return status == TEM_OK ? space_check_range(s, error) : status;
}

/* Sets the space of a model from its vectors. Fails with TEM_ERR_ARGUMENT if they are on the grid
 * already, and the metric is not the euclidean one. */
static tem_status make_space(const tem_vectors *v, const tem_run *run, tem_model *m,
                             tem_error *error) {
    space *s = &m->space;
    if (v->grid != NULL && !s->metric->is_euclidean)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "these vectors were rotated and rounded for the euclidean metric, and "
                         "serve no other");
    s->count = v->words.count;
    s->dimension = v->dimension;
    s->row_elements = space_row_elements(v->dimension);
    return s->metric->is_ball ? make_points(v, run, m, error) : make_rows(v, run, m, error);
}

static void choose_length(tem_model *m, uint32_t neighbours) {
    m->neighbours = neighbours == 0 ? TEM_NEIGHBOURS_DEFAULT : neighbours;
    if (m->neighbours > m->space.count)
        m->neighbours = m->space.count;
}

static tem_status make_index(tem_model *m, uint32_t neighbours, const tem_run *run,
                             tem_error *error) {
    choose_length(m, neighbours);
    return neighbours_build(&m->space, m->neighbours, run, &m->index, error);
}

/* Marks all words of every point of the grid onto which rounding has put different vectors. The
 * first word of a word's list is the first word, by id, at the same point. */
static void find_merged(const tem_vectors *v, const tem_model *m, unsigned char *merged) {
    const neighbour_index *index = &m->index;
    for (uint32_t id = 0; id < index->count; id++) {
        const uint32_t first = index->entries[index->starts[id]].id;
        merged[first] |= grid_tells_apart(v->values + (size_t)id * v->dimension,
                                          v->values + (size_t)first * v->dimension, v->dimension,
                                          m->space.metric);
    }
    for (uint32_t id = 0; id < index->count; id++)
        merged[id] = merged[index->entries[index->starts[id]].id];
}

static tem_status check_grid(const tem_vectors *v, tem_model *m, bool allow_coarse,
                             tem_error *error) {
    unsigned char *merged = core_alloc_zero(m->space.count, 1);
    if (merged == NULL)
        return core_fail_memory(error);
    if (v->values != NULL)
        find_merged(v, m, merged);
    const tem_status status = nearest_distance_find(&m->index, merged, &m->nearest, error);
    core_free(merged);
    if (status != TEM_OK || allow_coarse)
        return status;
    return grid_check(m, &m->nearest, TEM_GRID_REFUSED_PERCENT, "; or build with allow_coarse",
                      error);
}

/* Builds a model from vectors that are prepared, or taken as they are. given: before that. */
static tem_status build_prepared(const tem_vectors *vectors, const tem_vectors *given,
                                 const metric_ops *metric, const tem_build_options *chosen,
                                 const tem_run *run, tem_model **model, tem_error *error) {
    tem_model *m = core_alloc_zero(1, sizeof *m);
    if (m == NULL)
        return core_fail_memory(error);
    m->space.metric = metric;
    tem_status status = copy_words(&vectors->words, &m->words, error);
    if (status == TEM_OK)
        status = model_exclude(m, chosen->exclude, chosen->exclude_count, error);
    if (status == TEM_OK)
        status = make_space(vectors, run, m, error);
    if (status == TEM_OK)
        status = make_index(m, chosen->neighbours, run, error);
    if (status == TEM_OK)
        status = check_grid(vectors, m, chosen->allow_coarse, error);
    if (status == TEM_OK && chosen->order != NULL)
        status = model_make_order(m, given, chosen->order, run, error);
    if (status != TEM_OK) {
        model_free(m);
        return status;
    }
    m->recipe = vectors->recipe;
    recipe_write(&m->recipe, m->recipe_bytes);
    m->trusted = true; /* built in this process; nobody else could change it */
    *model = m;
    return TEM_OK;
}

tem_status model_build_lazy(const tem_vectors *vectors, const char *const *exclude,
                            uint32_t exclude_count, uint32_t neighbours, tem_model **model,
                            tem_error *error) {
    tem_model *m = core_alloc_zero(1, sizeof *m);
    if (m == NULL)
        return core_fail_memory(error);
    m->space.metric = &metric_euclidean;
    tem_status status = vectors->grid != NULL
                            ? TEM_OK
                            : core_fail(error, TEM_ERR_ARGUMENT, "vectors on the grid are needed");
    if (status == TEM_OK)
        status = copy_words(&vectors->words, &m->words, error);
    if (status == TEM_OK)
        status = model_exclude(m, exclude, exclude_count, error);
    if (status == TEM_OK)
        status = make_space(vectors, NULL, m, error);
    if (status == TEM_OK) {
        choose_length(m, neighbours);
        status = neighbours_build_lazy(&m->space, m->neighbours, &m->index, error);
    }
    if (status != TEM_OK) {
        model_free(m);
        return status;
    }
    m->recipe = vectors->recipe;
    m->trusted = true; /* the lists are computed in this process; nobody else could change them */
    *model = m;
    return TEM_OK;
}

tem_status model_build(const tem_vectors *vectors, const tem_build_options *options,
                       const tem_run *run, tem_model **model, tem_error *error) {
    const tem_build_options chosen = options == NULL ? (tem_build_options){0} : *options;
    const metric_ops *metric = metric_find(chosen.metric == 0 ? TEM_EUCLIDEAN : chosen.metric);
    tem_vectors *prepared = NULL;
    if (metric == NULL || !metric->has_vectors)
        return core_fail(error, TEM_ERR_ARGUMENT, "no such metric; tem_metric_at lists them");
    tem_status status = prepare_vectors(vectors, &chosen, run, &prepared, error);
    if (status == TEM_OK)
        status = build_prepared(prepared != NULL ? prepared : vectors, vectors, metric, &chosen,
                                run, model, error);
    vectors_free(prepared);
    return status;
}

/* Checks one of the user's distances, given in both directions, and rounds it up, plus one step if
 * it is not 0 (metrics/metric_matrix.c). */
static tem_status freeze_distance(double there, double back, uint32_t a, uint32_t b,
                                  uint32_t *frozen, tem_error *error) {
    if (!(there >= 0 && there < TEM_DIST_ONE - 1) || !(back >= 0 && back < TEM_DIST_ONE - 1))
        return core_fail(error, TEM_ERR_RANGE,
                         "the distance of words %u and %u is not within 0 to 65535", a + 1, b + 1);
    if (there > back || there < back)
        return core_fail(error, TEM_ERR_METRIC,
                         "no metric: words %u and %u have different distances "
                         "there and back",
                         a + 1, b + 1);
    *frozen = there > 0 ? (uint32_t)ceil(there * TEM_DIST_ONE) + 1 : 0;
    return TEM_OK;
}

static tem_status freeze_matrix(tem_distance_fn *distance, void *context, const tem_run *run,
                                tem_model *m, tem_error *error) {
    const uint32_t count = m->space.count;
    uint32_t *matrix = core_alloc(space_pair_count(count), sizeof *matrix);
    if (matrix == NULL)
        return core_fail_memory(error);
    m->space.matrix = matrix;
    for (uint32_t a = 1; a < count; a++) {
        tem_status status = core_progress(run, "asking for distances", space_pair_count(a),
                                          space_pair_count(count), error);
        for (uint32_t b = 0; b < a && status == TEM_OK; b++)
            status = freeze_distance(distance(context, a, b), distance(context, b, a), a, b,
                                     &matrix[space_pair_index(a, b)], error);
        if (status != TEM_OK)
            return status;
    }
    return space_check_matrix(&m->space, &m->triangles, &m->triangles_exhaustive, error);
}

static tem_status make_words(const char *const *words, uint32_t count, vocab *out,
                             tem_error *error) {
    vocab_fault fault = {0, 0, NULL};
    word_span *spans = core_alloc(count, sizeof *spans);
    if (spans == NULL)
        return core_fail_memory(error);
    for (uint32_t id = 0; id < count; id++) {
        if (words[id] == NULL) {
            core_free(spans);
            return core_fail(error, TEM_ERR_ARGUMENT, "word %u is NULL", id + 1);
        }
        spans[id] = (word_span){words[id], strnlen(words[id], TEM_WORD_BYTES_MAX + 1)};
    }
    tem_status status = vocab_make(spans, count, out, &fault);
    core_free(spans);
    if (status == TEM_ERR_FORMAT)
        return core_fail_at(error, status, "", fault.row + (uint64_t)1, 0, "the word %s",
                            fault.reason);
    return status == TEM_OK ? TEM_OK : core_fail_memory(error);
}

tem_status model_build_function(const char *const *words, uint32_t count, tem_distance_fn *distance,
                                void *context, uint32_t neighbours, const tem_run *run,
                                tem_model **model, tem_error *error) {
    tem_model *m = core_alloc_zero(1, sizeof *m);
    if (m == NULL)
        return core_fail_memory(error);
    m->space.metric = &metric_matrix;
    m->space.count = count;
    m->deviation = 2; /* steps of 2^-16: freeze_distance rounds up and adds one */
    tem_status status = make_words(words, count, &m->words, error);
    if (status == TEM_OK)
        status = freeze_matrix(distance, context, run, m, error);
    if (status == TEM_OK)
        status = make_index(m, neighbours, run, error);
    if (status != TEM_OK) {
        model_free(m);
        return status;
    }
    m->trusted = true; /* built in this process; nobody else could change it */
    *model = m;
    return TEM_OK;
}

typedef struct full_matrix {
    const double *distances;
    uint32_t count;
} full_matrix;

static double matrix_entry(void *context, uint32_t a, uint32_t b) {
    const full_matrix *matrix = context;
    return matrix->distances[(size_t)a * matrix->count + b];
}

tem_status model_build_matrix(const char *const *words, uint32_t count, const double *distances,
                              uint32_t neighbours, const tem_run *run, tem_model **model,
                              tem_error *error) {
    for (size_t id = 0; id < count; id++)
        if (distances[id * count + id] < 0 || distances[id * count + id] > 0 ||
            distances[id * count + id] != distances[id * count + id])
            return core_fail(error, TEM_ERR_METRIC,
                             "no metric: the distance of word %zu to itself is not 0", id + 1);
    full_matrix matrix = {distances, count};
    return model_build_function(words, count, matrix_entry, &matrix, neighbours, run, model, error);
}
