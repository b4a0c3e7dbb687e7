/* api_model.c - tem_model of tem.h. */
#include "audit/verify.h"
#include "core/reserved.h"
#include "core/status.h"
#include "model/model.h"

tem_status tem_model_open(const char *path, tem_model **model, tem_error *error) {
    if (path == NULL || model == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a path and a place for the model are needed");
    return model_open(path, model, error);
}

tem_status tem_model_find_default(const char *const *folders, size_t count, char *path,
                                  size_t path_bytes, int *is_own, tem_error *error) {
    if ((folders == NULL && count > 0) || path == NULL || is_own == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "directories and a place for the path are needed");
    for (size_t i = 0; i < count; i++)
        if (folders[i] == NULL)
            return core_fail(error, TEM_ERR_ARGUMENT, "a directory is missing");
    return model_find_default(folders, count, path, path_bytes, is_own, error);
}

tem_status tem_model_save(const tem_model *model, const char *path, tem_overwrite overwrite,
                          const tem_run *run, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (model == NULL || path == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a model and a path are needed");
    if (overwrite != TEM_KEEP_EXISTING && overwrite != TEM_OVERWRITE)
        return core_fail(error, TEM_ERR_ARGUMENT, "an existing file is kept or overwritten");
    return model_save(model, path, overwrite, run, error);
}

void tem_temporaries_remove(void) {
    file_remove_temporaries();
}

tem_status tem_model_check(const tem_model *model, const tem_run *run, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (model == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a model is needed");
    return model_check(model, run, error);
}

void tem_model_free(tem_model *model) {
    model_free(model);
}

void tem_model_get_info(const tem_model *model, tem_model_info *info) {
    if (info == NULL)
        return;
    *info = (tem_model_info){0};
    if (model != NULL)
        model_get_info(model, info);
}

void tem_model_get_recipe(const tem_model *model, tem_recipe *recipe) {
    if (recipe == NULL)
        return;
    *recipe = (tem_recipe){0};
    if (model != NULL)
        model_get_recipe(model, recipe);
}

const char *tem_model_word(const tem_model *model, uint32_t id, size_t *length) {
    size_t bytes = 0;
    const char *word = model == NULL ? NULL : vocab_word(&model->words, id, &bytes);
    if (length != NULL)
        *length = bytes;
    return word;
}

uint32_t tem_model_find(const tem_model *model, const char *word, size_t length) {
    return model == NULL || word == NULL ? TEM_NO_WORD : vocab_find(&model->words, word, length);
}

int tem_model_is_excluded(const tem_model *model, uint32_t id) {
    return model != NULL && id < model->words.count && model_is_excluded(model, id);
}

tem_dist tem_model_distance(const tem_model *model, uint32_t a, uint32_t b) {
    if (model == NULL || a >= model->words.count || b >= model->words.count)
        return UINT32_MAX;
    return space_distance(&model->space, a, b);
}

tem_status tem_model_vector(const tem_model *model, uint32_t id, float *out, tem_error *error) {
    if (model == NULL || out == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a model and a place for the vector are needed");
    if (id >= model->words.count)
        return core_fail(error, TEM_ERR_ARGUMENT, "the id must be below the number of words");
    return model_vector(model, id, out, error);
}

tem_status tem_model_neighbours(const tem_model *model, uint32_t id, tem_neighbours *neighbours,
                                tem_error *error) {
    if (model == NULL || neighbours == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a model and a place for the list are needed");
    if (id >= model->words.count)
        return core_fail(error, TEM_ERR_ARGUMENT, "the id must be below the number of words");
    return neighbours_get(&model->index, id, neighbours, error);
}

/* ---- building ---- */

tem_status tem_model_build(const tem_vectors *vectors, const tem_build_options *options,
                           const tem_run *run, tem_model **model, tem_error *error) {
    if (is_for_newer(options, error) || is_for_newer(run, error) ||
        (options != NULL && is_for_newer(options->order, error)))
        return TEM_ERR_ARGUMENT;
    if (vectors == NULL || model == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "vectors and a place for the model are needed");
    return model_build(vectors, options, run, model, error);
}

tem_status tem_model_build_function(const char *const *words, uint32_t count,
                                    tem_distance_fn *distance, void *context, uint32_t neighbours,
                                    const tem_run *run, tem_model **model, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (words == NULL || distance == NULL || model == NULL || count < 2 ||
        count > TEM_MATRIX_WORDS_MAX)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "2 to %u words, a distance and a place for the model are needed",
                         TEM_MATRIX_WORDS_MAX);
    return model_build_function(words, count, distance, context, neighbours, run, model, error);
}

tem_status tem_model_build_matrix(const char *const *words, uint32_t count, const double *distances,
                                  uint32_t neighbours, const tem_run *run, tem_model **model,
                                  tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (words == NULL || distances == NULL || model == NULL || count < 2 ||
        count > TEM_MATRIX_WORDS_MAX)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a matrix of distances of 2 to %u words is needed", TEM_MATRIX_WORDS_MAX);
    return model_build_matrix(words, count, distances, neighbours, run, model, error);
}

/* ---- checking ---- */

tem_status tem_model_verify(tem_model *model, const tem_run *run, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (model == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a model is needed");
    return verify_model(model, run, error);
}

tem_status tem_trust_verify(tem_model *model, const tem_verification *how, const tem_run *run,
                            tem_error *unnoted, tem_error *error) {
    if (is_for_newer(how, error) || is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (model == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a model is needed");
    return verify_all(model, how, run, unnoted, error);
}

tem_status tem_model_nearest_median(const tem_model *model, tem_dist *median, tem_error *error) {
    if (model == NULL || median == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a model and a place for the median are needed");
    return model_nearest_median(model, median, error);
}

tem_status tem_model_check_grid(const tem_model *model, uint32_t percent, tem_error *error) {
    if (model == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a model is needed");
    return model_check_grid(model, percent, error);
}

void tem_model_get_order(const tem_model *model, tem_order_info *info) {
    if (info == NULL)
        return;
    *info = (tem_order_info){0};
    if (model == NULL || !model_has_order(model))
        return;
    const rank_order *o = &model->order;
    *info = (tem_order_info){.outputs = o->shape.outputs,
                             .list = o->shape.list,
                             .block = o->shape.block,
                             .blocks = o->blocks,
                             .groups = o->shape.groups,
                             .bytes = o->byte_count};
    model_order_digits(model, info->hash);
}

tem_status tem_model_ranked(const tem_model *model, uint32_t word, uint32_t first, uint32_t count,
                            uint32_t *outputs, tem_error *error) {
    if (model == NULL || (outputs == NULL && count > 0))
        return core_fail(error, TEM_ERR_ARGUMENT, "a model and a place for the words are needed");
    if (word >= model->words.count)
        return core_fail(error, TEM_ERR_ARGUMENT, "the id must be below the number of words");
    if (!model_has_order(model))
        return core_fail(error, TEM_ERR_UNSUPPORTED,
                         "the model has no order of its words: build it again with an order");
    if ((uint64_t)first + count > model->order.shape.outputs)
        return core_fail(error, TEM_ERR_ARGUMENT, "an order has %u ranks",
                         model->order.shape.outputs);
    const tem_status status = order_check(&model->order, error);
    for (uint32_t i = 0; i < count && status == TEM_OK; i++)
        outputs[i] = order_word(&model->order, word, first + i);
    return status;
}
