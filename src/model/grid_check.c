/* grid_check.c - checks that rounding to the grid has not changed a model's distances too much.
 *
 * A single large value makes the grid coarse for all words. Distances smaller than a step of the
 * grid become 0 or a whole step. A unit of distance then no longer means what the user thinks. */
#include "model/model.h"

#include "core/memory.h"
#include "core/number.h"
#include "core/status.h"
#include "tem_account.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    OUTLIER_TIMES = 8, /* an outlier exceeds this multiple of the usual largest value of a word;
                        * ordinary embeddings stay below it */
    NAMED_MAX = 3      /* most words that a message names */
};

/* ---- outliers ---- */

typedef struct outliers {
    uint32_t count;
    uint32_t first[NAMED_MAX];
} outliers;

static uint32_t largest_of(const space *s, uint32_t id) {
    uint32_t largest = 0;
    for (uint32_t i = 0; i < s->dimension; i++) {
        const uint32_t size = (uint32_t)abs(space_row(s, id)[i]);
        largest = size > largest ? size : largest;
    }
    return largest;
}

static int compare_sizes(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Finds the largest value of a usual word, in steps of the grid: the lower median over all words,
 * or 1 if that median is 0. */
static tem_status find_usual(const space *s, uint32_t *usual, tem_error *error) {
    uint32_t *sizes = core_alloc(s->count, sizeof *sizes);
    if (sizes == NULL)
        return core_fail_memory(error);
    for (uint32_t id = 0; id < s->count; id++)
        sizes[id] = largest_of(s, id);
    qsort(sizes, s->count, sizeof *sizes, compare_sizes);
    *usual = sizes[(s->count - 1) / 2];
    *usual = *usual > 0 ? *usual : 1;
    core_free(sizes);
    return TEM_OK;
}

static tem_status find_outliers(const space *s, outliers *out, tem_error *error) {
    uint32_t usual = 0;
    *out = (outliers){0};
    if (s->rows == NULL)
        return TEM_OK;
    const tem_status status = find_usual(s, &usual, error);
    for (uint32_t id = 0; status == TEM_OK && id < s->count; id++)
        if (largest_of(s, id) > OUTLIER_TIMES * usual) {
            if (out->count < NAMED_MAX)
                out->first[out->count] = id;
            out->count++;
        }
    return status;
}

/* ---- the message ---- */

/* Writes "word 3", "words 3 and 5" or "words 3, 5, 9 and 12 others". Words count from 1. */
static void name_outliers(const outliers *o, char *text, size_t bytes) {
    const uint32_t named = o->count < NAMED_MAX ? o->count : NAMED_MAX;
    int at = snprintf(text, bytes, o->count == 1 ? "word" : "words");
    for (uint32_t i = 0; i < named; i++)
        at += snprintf(text + at, bytes - (size_t)at, "%s%u",
                       i == 0                                ? " "
                       : i + 1 == named && o->count == named ? " and "
                                                             : ", ",
                       o->first[i] + 1);
    if (o->count > named)
        snprintf(text + at, bytes - (size_t)at, " and %u other%s", o->count - named,
                 o->count == named + 1 ? "" : "s");
}

/* Writes what the user can do. tem also rounds each distance, by a step or two. If that is most of
 * the deviation, a finer grid would not help, but larger numbers do. */
static void advise(const tem_model *m, const outliers *o, char *text, size_t bytes) {
    char named[80];
    name_outliers(o, named, sizeof named);
    if (o->count > 0)
        snprintf(text, bytes, "clip or rescale the vector%s of %s, beyond %d times the usual size",
                 o->count == 1 ? "" : "s", named, OUTLIER_TIMES);
    else if (!m->space.metric->has_vectors)
        snprintf(text, bytes, "multiply all distances by the same number");
    else if (m->deviation <= 4 && !m->space.metric->needs_direction && !m->space.metric->is_ball)
        snprintf(text, bytes, "multiply all vectors by the same number");
    else
        snprintf(text, bytes, "no word stands out; most words are too near to each other");
}

static tem_status complain(const tem_model *m, tem_dist median, const char *more,
                           tem_error *error) {
    outliers found;
    char advice[160], compared[80];
    const double deviation = number_round_up((double)m->deviation / TEM_DIST_ONE, 3);
    TRY(find_outliers(&m->space, &found, error));
    advise(m, &found, advice, sizeof advice);
    if (median == 0)
        snprintf(compared, sizeof compared, "and makes half of all words or more equal to others");
    else
        snprintf(compared, sizeof compared, "%.3g %% of the %.4g to the nearest word (median)",
                 number_round_up(100.0 * m->deviation / median, 3), (double)median / TEM_DIST_ONE);
    return core_fail(error, TEM_ERR_RANGE, "rounding moves distances by up to %.3g, %s: %s%s",
                     deviation, compared, advice, more);
}

/* ---- the check ---- */

tem_status grid_check(const tem_model *m, const nearest_distance *nearest, uint32_t percent,
                      const char *more, tem_error *error) {
    const bool fine =
        nearest->words == 0 || (uint64_t)m->deviation * 100 <= (uint64_t)percent * nearest->median;
    return fine ? TEM_OK : complain(m, nearest->median, more, error);
}

static tem_status find_nearest(const tem_model *m, nearest_distance *nearest, tem_error *error) {
    *nearest = m->nearest;
    return nearest->words > 0 ? TEM_OK : nearest_distance_find(&m->index, NULL, nearest, error);
}

tem_status model_nearest_median(const tem_model *model, tem_dist *median, tem_error *error) {
    nearest_distance nearest = {0, 0};
    const tem_status status = find_nearest(model, &nearest, error);
    if (status == TEM_OK)
        *median = nearest.median;
    return status;
}

tem_status model_check_grid(const tem_model *model, uint32_t percent, tem_error *error) {
    nearest_distance nearest = {0, 0};
    TRY(find_nearest(model, &nearest, error));
    return grid_check(model, &nearest, percent, "", error);
}
