/* text_means.c - texts as the means of the vectors of their words. */
#include "text_means.h"

#include "adam.h"
#include "failure.h"

#include <math.h>
#include <stdlib.h>

typedef struct averaging {
    const double *vectors;
    uint32_t columns;
    const bags *texts;
    float *rows;
    double *sums; /* one row per text */
} averaging;

static void average_range(void *context, uint64_t first, uint64_t last) {
    averaging *a = context;
    for (uint64_t i = first; i < last; i++) {
        double *sum = a->sums + i * a->columns;
        float *row = a->rows + i * (a->columns + 1);
        for (uint64_t at = a->texts->starts[i]; at < a->texts->starts[i + 1]; at++) {
            const double *x = a->vectors + (size_t)a->texts->words[at] * a->columns;
            const double share = (double)a->texts->shares[at];
            for (uint32_t k = 0; k < a->columns; k++)
                sum[k] += share * x[k];
        }
        for (uint32_t k = 0; k < a->columns; k++)
            row[k] = (float)sum[k];
        row[a->columns] = 1;
    }
}

tem_status text_means_create(const double *vectors, uint32_t columns, const bags *texts,
                             core_team *team, float **rows, tem_error *error) {
    averaging a = {.vectors = vectors,
                   .columns = columns,
                   .texts = texts,
                   .rows = adam_floats((uint64_t)texts->count * (columns + (uint64_t)1)),
                   .sums = calloc((size_t)texts->count * columns + 1, sizeof *a.sums)};
    const workers w = {.team = team, .stage = "averaging vectors"};
    tem_status status = a.rows == NULL || a.sums == NULL
                            ? eval_out_of_memory(error)
                            : ranges_run(&w, texts->count, average_range, &a, error);
    free(a.sums);
    if (status == TEM_OK)
        *rows = a.rows;
    else
        free(a.rows);
    return status;
}

void scaling_free(scaling *s) {
    free(s->means);
    free(s->deviations);
    *s = (scaling){0};
}

static void measure_column(const float *rows, uint32_t count, uint32_t columns, uint32_t k,
                           double *mean, double *deviation) {
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += (double)rows[(size_t)i * (columns + 1) + k];
    *mean = count > 0 ? sum / count : 0;
    for (uint32_t i = 0; i < count; i++) {
        const double from = (double)rows[(size_t)i * (columns + 1) + k] - *mean;
        squares += from * from;
    }
    *deviation = squares > 0 ? sqrt(squares / count) : 1;
}

tem_status scaling_create(const float *rows, uint32_t count, uint32_t columns, scaling *s,
                          tem_error *error) {
    scaling made = {columns, calloc(columns, sizeof *made.means),
                    calloc(columns, sizeof *made.deviations)};
    if (made.means == NULL || made.deviations == NULL) {
        scaling_free(&made);
        return eval_out_of_memory(error);
    }
    for (uint32_t k = 0; k < columns; k++)
        measure_column(rows, count, columns, k, &made.means[k], &made.deviations[k]);
    *s = made;
    return TEM_OK;
}

void scaling_apply(const scaling *s, float *rows, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < s->columns; k++) {
            float *x = &rows[(size_t)i * (s->columns + 1) + k];
            *x = (float)(((double)*x - s->means[k]) / s->deviations[k]);
        }
}
