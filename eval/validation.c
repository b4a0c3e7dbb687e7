/* validation.c - which texts are held out, and the penalty that they choose. */
#include "validation.h"

#include "adam.h"
#include "failure.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

tem_status validation_mark(const uint32_t *labels, uint32_t count, uint32_t classes,
                           bool **held_out, tem_error *error) {
    uint32_t *seen = calloc(classes, sizeof *seen);
    bool *marks = calloc((size_t)count + 1, sizeof *marks);
    if (seen == NULL || marks == NULL) {
        free(seen);
        free(marks);
        return eval_out_of_memory(error);
    }
    for (uint32_t i = 0; i < count; i++)
        marks[i] = ++seen[labels[i]] % VALIDATION_STEP == 0;
    free(seen);
    *held_out = marks;
    return TEM_OK;
}

double validation_penalty_at(uint32_t i) {
    return pow(10, 1 - i / 2.0); /* 10 to 0.0001 */
}

/* Some of the examples, with their labels. */
typedef struct part {
    examples e;
    float *rows;
    uint32_t *labels;
} part;

static void part_free(part *p) {
    free(p->rows);
    free(p->labels);
}

static tem_status part_create(const examples *all, const uint32_t *labels, const bool *held_out,
                              bool wanted, part *out, tem_error *error) {
    part made = {.rows = adam_floats((uint64_t)all->count * all->columns),
                 .labels = calloc((size_t)all->count + 1, sizeof *made.labels)};
    if (made.rows == NULL || made.labels == NULL) {
        part_free(&made);
        return eval_out_of_memory(error);
    }
    const size_t columns = all->columns;
    uint32_t count = 0;
    for (uint32_t i = 0; i < all->count; i++)
        if (held_out[i] == wanted) {
            memcpy(made.rows + count * columns, all->rows + i * columns, columns * sizeof(float));
            made.labels[count++] = labels[i];
        }
    made.e = (examples){count, all->columns, made.rows};
    *out = made;
    return TEM_OK;
}

/* The mean cross entropy of the answers about a part. */
static tem_status loss_on(const linear *l, const part *p, double *loss, tem_error *error) {
    float *answers = NULL;
    const tem_status status = linear_predict(l, &p->e, &answers, error);
    if (status != TEM_OK)
        return status;
    double sum = 0;
    for (uint32_t i = 0; i < p->e.count; i++)
        sum -= log(fmax((double)answers[(size_t)i * l->classes + p->labels[i]], FLT_MIN));
    free(answers);
    *loss = sum / p->e.count;
    return TEM_OK;
}

static tem_status try_all(const part *learn, const part *held, uint32_t classes, core_team *team,
                          const tem_run *run, double *penalty, tem_error *error) {
    double least = INFINITY;
    tem_status status = TEM_OK;
    for (uint32_t i = 0; i < VALIDATION_PENALTIES && status == TEM_OK; i++) {
        linear l = {0};
        double loss = INFINITY;
        status = linear_train(&learn->e, learn->labels, classes, validation_penalty_at(i), team,
                              run, &l, error);
        if (status == TEM_OK)
            status = loss_on(&l, held, &loss, error);
        linear_free(&l);
        if (status == TEM_OK && loss < least) {
            least = loss;
            *penalty = validation_penalty_at(i);
        }
    }
    return status;
}

tem_status validation_penalty(const examples *e, const uint32_t *labels, uint32_t classes,
                              core_team *team, const tem_run *run, double *penalty,
                              tem_error *error) {
    bool *held_out = NULL;
    part learn = {.rows = NULL}, held = {.rows = NULL};
    tem_status status = validation_mark(labels, e->count, classes, &held_out, error);
    if (status == TEM_OK)
        status = part_create(e, labels, held_out, false, &learn, error);
    if (status == TEM_OK)
        status = part_create(e, labels, held_out, true, &held, error);
    if (status == TEM_OK && held.e.count == 0)
        status = eval_fail(error, TEM_ERR_FORMAT,
                           "too few training texts to choose a penalty: a label needs %d of them",
                           VALIDATION_STEP);
    if (status == TEM_OK)
        status = try_all(&learn, &held, classes, team, run, penalty, error);
    part_free(&learn);
    part_free(&held);
    free(held_out);
    return status;
}
