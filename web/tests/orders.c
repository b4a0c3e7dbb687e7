/* orders.c - what the order of the web costs: how near changed words are under `rank`, by the order
 * of one model and of another with the same words (docs/WEB.md).
 *
 *   orders MODEL OTHER VECTORS S    S: the exponent
 *
 * Near is by the centered cosine of VECTORS. The law is exact, without a language model, over every
 * 37th of the words 200 to 20,000 of the vocabulary, weighted by Zipf's law. */
#include "core/memory.h"
#include "model/model.h"
#include "model/vectors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 200, END = 20000, STEP = 37, NEAR = 100 };

typedef struct nearness {
    double weight, cosine, near10, near100;
} nearness;

static tem_error error;

static void check(tem_status status) {
    if (status == TEM_OK)
        return;
    fprintf(stderr, "orders: %s\n", error.message);
    exit(1);
}

static void *memory(size_t count, size_t size) {
    void *block = core_alloc(count, size);
    if (block == NULL)
        check(TEM_ERR_MEMORY);
    return block;
}

static void load_points(const tem_model *m, const char *path, unit_points *points) {
    tem_vectors *v = NULL;
    check(vectors_load(path, 0, NULL, &v, &error));
    const size_t columns = v->dimension;
    int16_t *grid = memory(m->words.count * columns, sizeof *grid);
    for (uint32_t id = 0; id < m->words.count; id++) {
        size_t length = 0;
        const char *word = vocab_word(&m->words, id, &length);
        memcpy(grid + id * columns, v->grid + vocab_find(&v->words, word, length) * columns,
               columns * sizeof *grid);
    }
    check(unit_points_make(NULL, grid, m->words.count, v->dimension, points, &error));
    core_free(grid);
    vectors_free(v);
}

static void find_cosines(const unit_points *p, uint32_t w, double *cosines) {
    for (uint32_t y = 0; y < p->count; y++) {
        double sum = 0;
        for (uint32_t i = 0; i < p->dimension; i++)
            sum += (double)unit_row(p, w)[i] * unit_row(p, y)[i];
        cosines[y] = sum / ((double)UNIT_LENGTH * UNIT_LENGTH);
    }
}

/* The cosines of the nearest outputs of w, the nearest first. */
static void find_near(const double *row, const double *cosines, uint32_t count, uint32_t w,
                      double near[NEAR]) {
    uint32_t found = 0;
    for (uint32_t y = 0; y < count; y++) {
        if (y == w || row[y] <= 0 || (found == NEAR && cosines[y] <= near[NEAR - 1]))
            continue;
        uint32_t i = found < NEAR ? found++ : NEAR - 1;
        for (; i > 0 && near[i - 1] < cosines[y]; i--)
            near[i] = near[i - 1];
        near[i] = cosines[y];
    }
}

static void add_word(const rank_order *o, uint32_t w, const double *heights, const double *cosines,
                     double *row, nearness *sum) {
    nearness of = {0};
    double near[NEAR];
    order_spread(o, w, heights, row);
    find_near(row, cosines, o->shape.words, w, near);
    for (uint32_t y = 0; y < o->shape.words; y++) {
        if (y == w)
            continue;
        of.weight += row[y];
        of.cosine += row[y] * cosines[y];
        of.near10 += cosines[y] >= near[9] ? row[y] : 0;
        of.near100 += cosines[y] >= near[NEAR - 1] ? row[y] : 0;
    }
    const double share = 1.0 / (w + 1);
    sum->weight += share;
    sum->cosine += share * of.cosine / of.weight;
    sum->near10 += share * of.near10 / of.weight;
    sum->near100 += share * of.near100 / of.weight;
}

int main(int argc, char **argv) {
    tem_model *models[2] = {0};
    unit_points points = {0};
    nearness sums[2] = {0};
    if (argc != 5)
        return 2;
    for (int i = 0; i < 2; i++) {
        check(model_open(argv[1 + i], &models[i], &error));
        check(order_check(&models[i]->order, &error));
    }
    load_points(models[0], argv[3], &points);
    double *heights = memory(points.count, sizeof *heights),
           *row = memory(points.count, sizeof *row);
    double *cosines = memory(points.count, sizeof *cosines);
    for (uint32_t rank = 0; rank < points.count; rank++)
        heights[rank] = pow(1.0 + rank, -atof(argv[4]));
    for (uint32_t w = FIRST; w < END; w += STEP) {
        find_cosines(&points, w, cosines);
        for (int i = 0; i < 2; i++)
            add_word(&models[i]->order, w, heights, cosines, row, &sums[i]);
    }
    for (int i = 0; i < 2; i++)
        printf("%s: near 10 %.3f, near 100 %.3f, cosine %.3f\n", argv[1 + i],
               sums[i].near10 / sums[i].weight, sums[i].near100 / sums[i].weight,
               sums[i].cosine / sums[i].weight);
    return 0;
}
