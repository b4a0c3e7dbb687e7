/* prepare.c - prepares vectors for a model. */
#include "model/prepare.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "model/components.h"
#include "space/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SPHERE_WORDS = 1000, /* from here on a sphere is the default */
    SPHERE_COLUMNS = 50,
    LEFT_OUT = -1 /* in place of a length */
};

/* A projection shorter than this part of the median has no direction worth keeping. */
static const double degenerate_part = 1e-6;

/* The state of one preparation. Each pass over the vectors is a loop over fixed parts. */
typedef struct preparation {
    const tem_vectors *given;
    const tem_run *run;
    bool drop;
    uint32_t parts;
    uint32_t kept; /* words that are not left out */
    double *given_lengths;
    double *lengths; /* of the projections; LEFT_OUT: the word is left out */
    components found;
    double *columns; /* the components kept, turned: one row for each number of a vector */
    uint32_t removed, dimensions;
    uint32_t *places; /* rows of `values`, for the words that are not left out */
    float *values;    /* the result */
    double *sums;     /* for each part: see sphere_sums */
    double scale;
    tem_recipe recipe;
} preparation;

/* ---- words that are left out ---- */

/* Fails with the first such word. tem says its line if the vectors come from a text file. */
static tem_status refuse_word(const preparation *p, uint32_t id, const char *why,
                              tem_error *error) {
    const tem_vectors *v = p->given;
    const char *remedy = "; or build with drop_degenerate";
    if (v->first_line > 0)
        return core_fail_at(error, TEM_ERR_RANGE, v->path, v->first_line + id, 0, "the vector %s%s",
                            why, remedy);
    return core_fail(error, TEM_ERR_RANGE, "the vector of word %u %s%s", id + 1, why, remedy);
}

/* Leaves out the words whose length is at most `least`. */
static tem_status leave_out(preparation *p, double *lengths, double least, const char *why,
                            tem_error *error) {
    const uint32_t count = p->given->words.count;
    for (uint32_t id = 0; id < count; id++) {
        if (lengths[id] < 0 || lengths[id] > least)
            continue;
        if (!p->drop)
            return refuse_word(p, id, why, error);
        lengths[id] = LEFT_OUT;
        p->kept--;
    }
    if (p->kept < 2)
        return core_fail(error, TEM_ERR_RANGE,
                         "a sphere needs two words whose vectors have a direction, found %u",
                         p->kept);
    return TEM_OK;
}

static int compare_lengths(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Finds the lower median of the lengths of the words that are not left out. */
static tem_status find_median(const preparation *p, double *median, tem_error *error) {
    const uint32_t count = p->given->words.count;
    double *sorted = core_alloc(count, sizeof *sorted);
    uint32_t filled = 0;
    if (sorted == NULL)
        return core_fail_memory(error);
    for (uint32_t id = 0; id < count; id++)
        if (p->lengths[id] >= 0)
            sorted[filled++] = p->lengths[id];
    qsort(sorted, filled, sizeof *sorted, compare_lengths);
    *median = sorted[(filled - 1) / 2];
    core_free(sorted);
    return TEM_OK;
}

/* ---- the passes ---- */

static double length_of(const double *row, uint32_t count) {
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += row[i] * row[i];
    return sqrt(sum);
}

static void measure_given(void *context, uint64_t item, unsigned thread) {
    const preparation *p = context;
    const uint32_t end = component_part_start(p->given, p->parts, item + 1);
    double row[TEM_DIMENSION_MAX];
    (void)thread;
    for (uint32_t id = component_part_start(p->given, p->parts, item); id < end; id++) {
        component_load(p->given, id, 1, row);
        p->given_lengths[id] = length_of(row, p->given->dimension);
    }
}

/* Centers the vector of a word, scaled to length 1, and projects it on the components kept. */
static void project(const preparation *p, uint32_t id, double *restrict out) {
    const uint32_t kept = p->dimensions, count = p->given->dimension;
    double row[TEM_DIMENSION_MAX];
    component_load(p->given, id, 1 / p->given_lengths[id], row);
    memset(out, 0, kept * sizeof *out);
    for (uint32_t i = 0; i < count; i++) {
        const double *restrict column = p->columns + (size_t)i * kept;
        const double x = row[i] - p->found.mean[i];
        for (uint32_t k = 0; k < kept; k++)
            out[k] += x * column[k];
    }
}

static void measure_projections(void *context, uint64_t item, unsigned thread) {
    const preparation *p = context;
    const uint32_t end = component_part_start(p->given, p->parts, item + 1);
    double row[TEM_DIMENSION_MAX];
    (void)thread;
    for (uint32_t id = component_part_start(p->given, p->parts, item); id < end; id++) {
        p->lengths[id] = LEFT_OUT;
        if (p->given_lengths[id] <= 0)
            continue;
        project(p, id, row);
        p->lengths[id] = length_of(row, p->dimensions);
        if (id % 1024 == 0 && core_task_stopped())
            return;
    }
}

/* The sums of one part, from which the root mean square distances follow. */
typedef struct sphere_sums {
    double *squares; /* of the lengths of the vectors given */
    double *given;   /* the vectors given */
    double *made;    /* the projections scaled to length 1 */
} sphere_sums;

static size_t sums_width(const preparation *p) {
    return 1 + (size_t)p->given->dimension + p->dimensions;
}

static sphere_sums sums_of(const preparation *p, uint64_t part) {
    double *first = p->sums + part * sums_width(p);
    return (sphere_sums){first, first + 1, first + 1 + p->given->dimension};
}

static void add_word(const preparation *p, uint32_t id, const sphere_sums *sums) {
    double row[TEM_DIMENSION_MAX];
    float *values = p->values + (size_t)p->places[id] * p->dimensions;
    component_load(p->given, id, 1, row);
    *sums->squares += p->given_lengths[id] * p->given_lengths[id];
    for (uint32_t i = 0; i < p->given->dimension; i++)
        sums->given[i] += row[i];
    project(p, id, row);
    for (uint32_t i = 0; i < p->dimensions; i++) {
        const double x = row[i] / p->lengths[id];
        sums->made[i] += x;
        values[i] = (float)x;
    }
}

static void fill_part(void *context, uint64_t item, unsigned thread) {
    const preparation *p = context;
    const uint32_t end = component_part_start(p->given, p->parts, item + 1);
    const sphere_sums sums = sums_of(p, item);
    (void)thread;
    for (uint32_t id = component_part_start(p->given, p->parts, item); id < end; id++) {
        if (p->lengths[id] >= 0)
            add_word(p, id, &sums);
        if (id % 1024 == 0 && core_task_stopped())
            return;
    }
}

static void scale_values(void *context, uint64_t item, unsigned thread) {
    const preparation *p = context;
    const size_t count = (size_t)p->kept * p->dimensions;
    const size_t end = count * (item + 1) / p->parts;
    (void)thread;
    for (size_t i = count * item / p->parts; i < end; i++)
        p->values[i] = (float)(p->values[i] * p->scale);
}

/* ---- the steps ---- */

static tem_status find_lengths(preparation *p, tem_error *error) {
    tem_status status =
        core_parallel(p->run, "measuring vectors", p->parts, measure_given, p, error);
    p->kept = p->given->words.count;
    if (status == TEM_OK)
        status = leave_out(p, p->given_lengths, 0, "is zero and has no direction", error);
    return status;
}

/* Decides how many components to keep, and keeps them. */
static tem_status choose_components(preparation *p, const tem_build_options *o, tem_error *error) {
    const components *c = &p->found;
    const uint32_t left = c->rank > o->remove ? c->rank - o->remove : 0;
    if (c->rank == 0)
        return core_fail(error, TEM_ERR_RANGE,
                         "all vectors point in the same direction: no sphere keeps them apart");
    if (left == 0 || o->dimensions > left)
        return core_fail(error, TEM_ERR_RANGE,
                         "the vectors have %u components: a sphere cannot keep %u after removing "
                         "%u",
                         c->rank, o->dimensions > 0 ? o->dimensions : 1, o->remove);
    p->removed = o->remove;
    p->dimensions = o->dimensions > 0                      ? o->dimensions
                    : left < TEM_SPHERE_DIMENSIONS_DEFAULT ? left
                                                           : TEM_SPHERE_DIMENSIONS_DEFAULT;
    p->columns = core_alloc((size_t)c->columns * p->dimensions, sizeof *p->columns);
    if (p->columns == NULL)
        return core_fail_memory(error);
    for (size_t k = 0; k < p->dimensions; k++)
        for (size_t i = 0; i < c->columns; i++)
            p->columns[i * p->dimensions + k] = c->rows[(p->removed + k) * c->columns + i];
    return TEM_OK;
}

static tem_status find_components(preparation *p, const tem_build_options *o, tem_error *error) {
    const component_source source = {p->given, p->given_lengths, p->kept, p->parts};
    TRY(components_find(&source, p->run, &p->found, error));
    return choose_components(p, o, error);
}

static tem_status find_projections(preparation *p, tem_error *error) {
    double median = 0;
    TRY(core_parallel(p->run, "projecting", p->parts, measure_projections, p, error));
    TRY(find_median(p, &median, error));
    return leave_out(p, p->lengths, degenerate_part * median,
                     "has next to nothing in the components kept", error);
}

/* The mean squared distance of two different vectors out of n, from the sum of the squared lengths
 * and the sum of the vectors: 2 n/(n-1) (mean |x|^2 - |mean x|^2). */
static double mean_square(uint32_t n, double squares, const double *sum, uint32_t width) {
    const double mean = length_of(sum, width) / n;
    return 2.0 * n / (n - 1.0) * (squares / n - mean * mean);
}

static tem_status find_scale(preparation *p, tem_error *error) {
    const sphere_sums sums = sums_of(p, 0);
    component_add_parts(p->sums, p->parts, sums_width(p));
    const double given = mean_square(p->kept, *sums.squares, sums.given, p->given->dimension);
    const double made = mean_square(p->kept, p->kept, sums.made, p->dimensions);
    if (!(given > 0 && made > 0))
        return core_fail(error, TEM_ERR_RANGE, "all words are at the same point of the sphere");
    p->scale = sqrt(given / made);
    p->recipe.rms_distance = sqrt(given);
    return TEM_OK;
}

static void place_words(preparation *p) {
    uint32_t place = 0;
    for (uint32_t id = 0; id < p->given->words.count; id++)
        p->places[id] = p->lengths[id] >= 0 ? place++ : UINT32_MAX;
}

static tem_status fill_values(preparation *p, tem_error *error) {
    p->places = core_alloc(p->given->words.count, sizeof *p->places);
    p->values = core_alloc(p->kept, p->dimensions * sizeof *p->values);
    p->sums = core_alloc_zero(p->parts * sums_width(p), sizeof *p->sums);
    if (p->places == NULL || p->values == NULL || p->sums == NULL)
        return core_fail_memory(error);
    place_words(p);
    TRY(core_parallel(p->run, "preparing", p->parts, fill_part, p, error));
    TRY(find_scale(p, error));
    return core_parallel(p->run, "scaling", p->parts, scale_values, p, error);
}

/* ---- the result ---- */

static void fill_recipe(preparation *p) {
    double all = 0, kept = 0;
    for (uint32_t i = 0; i < p->found.columns; i++)
        all += fmax(p->found.variances[i], 0);
    for (uint32_t i = 0; i < p->dimensions; i++)
        kept += p->found.variances[p->removed + i];
    p->recipe.space = TEM_SPACE_SPHERE;
    p->recipe.given_words = p->given->words.count;
    p->recipe.given_columns = p->given->dimension;
    p->recipe.dimensions = p->dimensions;
    p->recipe.removed = p->removed;
    p->recipe.dropped = p->given->words.count - p->kept;
    p->recipe.kept = fmin(kept / all, 1);
    p->recipe.scale = p->scale;
}

static tem_status keep_words(const preparation *p, vocab *words, tem_error *error) {
    vocab_fault fault = {0, 0, NULL};
    word_span *spans = core_alloc(p->kept, sizeof *spans);
    if (spans == NULL)
        return core_fail_memory(error);
    for (uint32_t id = 0; id < p->given->words.count; id++)
        if (p->places[id] != UINT32_MAX) {
            word_span *span = &spans[p->places[id]];
            span->start = vocab_word(&p->given->words, id, &span->length);
        }
    const tem_status status = vocab_make(spans, p->kept, words, &fault);
    core_free(spans);
    return status == TEM_OK ? TEM_OK : core_fail_memory(error); /* the words are known to be good */
}

/* Makes the new vectors; takes over p->values on success. */
static tem_status finish(preparation *p, tem_vectors **out, tem_error *error) {
    tem_vectors *made = core_alloc_zero(1, sizeof *made);
    if (made == NULL)
        return core_fail_memory(error);
    const tem_status status = keep_words(p, &made->words, error);
    if (status != TEM_OK) {
        core_free(made);
        return status;
    }
    fill_recipe(p);
    made->dimension = p->dimensions;
    made->values = p->values;
    made->format = p->given->format;
    made->recipe = p->recipe;
    p->values = NULL;
    *out = made;
    return TEM_OK;
}

static tem_status prepare_sphere(const tem_vectors *given, const tem_build_options *o,
                                 const tem_run *run, tem_vectors **out, tem_error *error) {
    const uint32_t count = given->words.count;
    preparation p = {.given = given,
                     .run = run,
                     .drop = o->drop_degenerate != 0,
                     .parts = component_parts(given),
                     .given_lengths = core_alloc(count, sizeof(double)),
                     .lengths = core_alloc(count, sizeof(double))};
    tem_status status = p.given_lengths == NULL || p.lengths == NULL ? core_fail_memory(error)
                                                                     : find_lengths(&p, error);
    if (status == TEM_OK)
        status = find_components(&p, o, error);
    if (status == TEM_OK)
        status = find_projections(&p, error);
    if (status == TEM_OK)
        status = fill_values(&p, error);
    if (status == TEM_OK)
        status = finish(&p, out, error);
    components_free(&p.found);
    core_free(p.given_lengths);
    core_free(p.lengths);
    core_free(p.columns);
    core_free(p.places);
    core_free(p.values);
    core_free(p.sums);
    return status;
}

/* ---- which recipe ---- */

static bool is_euclidean(const tem_build_options *o) {
    return o->metric == 0 || o->metric == TEM_EUCLIDEAN;
}

/* Vectors of a file that has them prepared: the options must not ask for something else. */
static tem_status check_prepared(const tem_recipe *r, const tem_build_options *o,
                                 tem_error *error) {
    const bool same = o->space != TEM_SPACE_RAW &&
                      (o->dimensions == 0 || o->dimensions == r->dimensions) &&
                      (o->remove == 0 || o->remove == r->removed);
    if (same)
        return TEM_OK;
    return core_fail(error, TEM_ERR_ARGUMENT,
                     "these vectors are prepared already, as a sphere of %u dimensions with %u "
                     "removed: another space needs the original vectors",
                     r->dimensions, r->removed);
}

static tem_space space_of(const tem_vectors *given, const tem_build_options *o) {
    if (o->space != TEM_SPACE_DEFAULT)
        return o->space;
    if (o->dimensions > 0 || o->remove > 0)
        return TEM_SPACE_SPHERE; /* only a sphere has them */
    const bool large = given->words.count >= SPHERE_WORDS && given->dimension >= SPHERE_COLUMNS;
    return large && given->values != NULL && is_euclidean(o) ? TEM_SPACE_SPHERE : TEM_SPACE_RAW;
}

static tem_status check_options(const tem_vectors *given, const tem_build_options *o,
                                tem_error *error) {
    const tem_space kind = space_of(given, o);
    if (kind != TEM_SPACE_RAW && kind != TEM_SPACE_SPHERE)
        return core_fail(error, TEM_ERR_ARGUMENT, "the space is raw or sphere");
    if (kind == TEM_SPACE_RAW && (o->dimensions > 0 || o->remove > 0 || o->drop_degenerate != 0))
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a raw space has all words and dimensions of its vectors: only a sphere "
                         "leaves some out");
    if (kind == TEM_SPACE_SPHERE && !is_euclidean(o))
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a sphere is for the euclidean metric; other metrics need the raw space");
    return TEM_OK;
}

tem_status prepare_vectors(const tem_vectors *given, const tem_build_options *options,
                           const tem_run *run, tem_vectors **prepared, tem_error *error) {
    *prepared = NULL;
    if (given->recipe.space == TEM_SPACE_SPHERE)
        return check_prepared(&given->recipe, options, error);
    const tem_status status = check_options(given, options, error);
    if (status != TEM_OK || space_of(given, options) == TEM_SPACE_RAW)
        return status;
    return prepare_sphere(given, options, run, prepared, error);
}
