/* model_order.c - makes the order of a model, and its hash.
 *
 * A model of few words is ordered by its own distances. A larger one is ordered by vectors: all
 * columns of those that it is built from, or others with the same words. On topics the 300 columns
 * of the default vectors order words better than the 64 of the default space. */
#include "core/memory.h"
#include "core/status.h"
#include "model/model_layout.h"
#include "model/vectors.h"
#include "order/order_build.h"

#include <sodium.h>
#include <string.h>

enum { SMALL = 1024 }; /* words that are ordered by distances, unless other vectors are given */

/* The rows of `vectors` for the words of the model, in their order. */
static tem_status select_rows(const tem_model *m, const tem_vectors *vectors, float *values,
                              int16_t *grid, tem_error *error) {
    const size_t columns = vectors->dimension;
    for (uint32_t id = 0; id < m->words.count; id++) {
        size_t length = 0;
        const char *word = vocab_word(&m->words, id, &length);
        const uint32_t row = vocab_find(&vectors->words, word, length);
        if (row == TEM_NO_WORD)
            return core_fail_at(error, TEM_ERR_ARGUMENT, vectors->path != NULL ? vectors->path : "",
                                0, 0, "the vectors for the order lack word %u of the model",
                                id + 1);
        if (grid != NULL)
            memcpy(grid + id * columns, vectors->grid + row * columns, columns * sizeof *grid);
        else
            memcpy(values + id * columns, vectors->values + row * columns,
                   columns * sizeof *values);
    }
    return TEM_OK;
}

static tem_status make_points(const tem_model *m, const tem_vectors *vectors, unit_points *points,
                              tem_error *error) {
    const size_t count = (size_t)m->words.count * vectors->dimension;
    const bool on_grid = vectors->grid != NULL;
    float *values = on_grid ? NULL : core_alloc(count, sizeof *values);
    int16_t *grid = on_grid ? core_alloc(count, sizeof *grid) : NULL;
    tem_status status = values != NULL || grid != NULL
                            ? select_rows(m, vectors, values, grid, error)
                            : core_fail_memory(error);
    if (status == TEM_OK)
        status = unit_points_make(values, grid, m->words.count, vectors->dimension, points, error);
    core_free(values);
    core_free(grid);
    return status;
}

static tem_status order_by_vectors(tem_model *m, const tem_vectors *vectors,
                                   const tem_order_options *options, const tem_run *run,
                                   tem_error *error) {
    const order_wishes wishes = {options->list, options->block, options->group};
    unit_points points = {0};
    tem_status status = make_points(m, vectors, &points, error);
    if (status == TEM_OK)
        status =
            order_build(&points, m->excluded, m->excluded_count, &wishes, run, &m->order, error);
    unit_points_free(&points);
    return status;
}

tem_status model_make_order(tem_model *m, const tem_vectors *given,
                            const tem_order_options *options, const tem_run *run,
                            tem_error *error) {
    const tem_metric metric = m->space.metric->id;
    if (options->vectors != NULL)
        return order_by_vectors(m, options->vectors, options, run, error);
    if (m->words.count > SMALL && given != NULL &&
        (metric == TEM_EUCLIDEAN || metric == TEM_ANGULAR))
        return order_by_vectors(m, given, options, run, error);
    return order_build_by_distance(&m->space, m->excluded, m->excluded_count, &m->order, error);
}

tem_status model_order_lazy(tem_model *m, const tem_vectors *vectors, const order_shape *shape,
                            const uint32_t *sequence, const uint32_t *groups,
                            const unsigned char hash[CORE_HASH_BYTES], tem_error *error) {
    TRY(make_points(m, vectors, &m->order_points, error));
    TRY(order_build_lazy(&m->order_points, shape, sequence, groups, m->excluded, m->excluded_count,
                         &m->order, error));
    memcpy(m->order.known_hash, hash, CORE_HASH_BYTES);
    return TEM_OK;
}

void model_order_hash(const tem_model *m, unsigned char out[CORE_HASH_BYTES]) {
    if (m->order.lazy != NULL) {
        memcpy(out, m->order.known_hash, CORE_HASH_BYTES);
        return;
    }
    for (uint32_t i = 0; m->table != NULL && i < m->section_count; i++)
        if (m->table[i].kind == SECTION_ORDER) {
            memcpy(out, m->table[i].hash, CORE_HASH_BYTES);
            return;
        }
    core_hash256(m->order.bytes, m->order.byte_count, out);
}

void model_order_digits(const tem_model *m, char out[17]) {
    unsigned char hash[CORE_HASH_BYTES];
    out[0] = '\0';
    if (!model_has_order(m))
        return;
    model_order_hash(m, hash);
    sodium_bin2hex(out, 17, hash, 8);
}
