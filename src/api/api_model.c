/* api_model.c - using a tem_model: the calls of tem.h. */
#include "core/status.h"
#include "model/model.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

tem_status tem_model_open(const char *path, tem_model **model, tem_error *error) {
    if (path == NULL || model == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a path and a place for the model are needed");
    return model_open(path, model, error);
}

tem_status tem_model_find_default(const char *const *folders, size_t count, char *path,
                                  size_t path_bytes, int *is_own, tem_error *error) {
    if ((folders == NULL && count > 0) || path == NULL || is_own == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "folders and a place for the path are needed");
    for (size_t i = 0; i < count; i++)
        if (folders[i] == NULL)
            return core_fail(error, TEM_ERR_ARGUMENT, "a folder is missing");
    return model_find_default(folders, count, path, path_bytes, is_own, error);
}

tem_status tem_model_save(const tem_model *model, const char *path, tem_overwrite overwrite,
                          const tem_run *run, tem_error *error) {
    if (model == NULL || path == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a model and a path are needed");
    return model_save(model, path, overwrite, run, error);
}

void tem_temporaries_remove(void) {
    file_remove_temporaries();
}

tem_status tem_model_check(const tem_model *model, const tem_run *run, tem_error *error) {
    if (model == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a model is needed");
    return model_check(model, run, error);
}

void tem_model_free(tem_model *model) {
    model_free(model);
}

void tem_model_get_info(const tem_model *model, tem_model_info *info) {
    *info = (tem_model_info){
        .words = model->words.count,
        .dimension = model->space.dimension,
        .metric = model->space.metric->id,
        .step_log2 = model->space.step_log2,
        .neighbours = model->neighbours,
        .deviation = model->deviation,
        .triangles = model->triangles,
        .triangles_exhaustive = model->triangles_exhaustive,
        .file_bytes = model->file.size,
    };
    if (model->file.data != NULL)
        sodium_bin2hex(info->hash, sizeof info->hash, model->hash, sizeof model->hash);
}

const char *tem_model_word(const tem_model *model, uint32_t id, size_t *length) {
    return vocab_word(&model->words, id, length);
}

uint32_t tem_model_find(const tem_model *model, const char *word, size_t length) {
    return vocab_find(&model->words, word, length);
}

tem_dist tem_model_distance(const tem_model *model, uint32_t a, uint32_t b) {
    if (a >= model->words.count || b >= model->words.count)
        return UINT32_MAX;
    return space_distance(&model->space, a, b);
}

tem_status tem_model_vector(const tem_model *model, uint32_t id, float *out, tem_error *error) {
    if (model == NULL || out == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a model and a place for the vector are needed");
    if (id >= model->words.count)
        return core_fail(error, TEM_ERR_ARGUMENT, "the id must be below the number of words");
    const space *s = &model->space;
    if (s->rows == NULL)
        return core_fail(error, TEM_ERR_UNSUPPORTED,
                         "a model of given distances has no vectors; build one from vectors");
    const int16_t *row = space_row(s, id);
    const float step = ldexpf(1, -(int)s->step_log2);
    for (uint32_t i = 0; i < s->dimension; i++)
        out[i] = (float)row[i] * step;
    return TEM_OK;
}

tem_status tem_model_neighbours(const tem_model *model, uint32_t id, tem_neighbours *neighbours,
                                tem_error *error) {
    if (model == NULL || neighbours == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a model and a place for the list are needed");
    if (id >= model->words.count)
        return core_fail(error, TEM_ERR_ARGUMENT, "the id must be below the number of words");
    return neighbours_get(&model->index, id, neighbours, error);
}
