/* small_model.h - models in memory for tests. Include it after cmocka.h. */
#ifndef TESTS_SMALL_MODEL_H
#define TESTS_SMALL_MODEL_H

#include "tem.h"

#include <stdio.h>
#include <stdlib.h>

/* Builds a model of `count` words with these vectors, as they are, however coarse the grid; names
 * NULL: w0, w1, ... */
static inline tem_model *small_model(const char *const *names, const float *values, uint32_t count,
                                     uint32_t dimension, tem_metric metric, uint32_t neighbours) {
    char(*own)[16] = calloc(count, sizeof *own);
    const char **words = calloc(count, sizeof *words);
    assert_true(own != NULL && words != NULL);
    for (uint32_t id = 0; id < count; id++) {
        snprintf(own[id], sizeof own[id], "w%u", id);
        words[id] = names != NULL ? names[id] : own[id];
    }
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    const tem_build_options options = {
        .metric = metric, .neighbours = neighbours, .allow_coarse = 1, .space = TEM_SPACE_RAW};
    assert_int_equal(tem_vectors_create(words, values, count, dimension, &vectors, NULL), TEM_OK);
    assert_int_equal(tem_model_build(vectors, &options, NULL, &model, NULL), TEM_OK);
    tem_vectors_free(vectors);
    free(words);
    free(own);
    return model;
}

#endif
