/* api_search.c - the searches of tem.h. */
#include "core/reserved.h"
#include "core/status.h"
#include "index/search.h"
#include "trust/trusted.h"

/* The lists of a model that is not trusted may be forged, so a search does not use them. */
static const neighbour_index *usable_index(const tem_model *model) {
    return trusted_or_refused(model, NULL) == TEM_OK ? &model->index : NULL;
}

tem_status tem_search_nearest(const tem_model *model, const uint32_t *words, size_t count,
                              uint32_t k, const tem_run *run, tem_neighbour *found,
                              tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (model == NULL || ((words == NULL || found == NULL) && count > 0))
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a model, words and a place for what is found are needed");
    if (k < 1 || k > model->words.count)
        return core_fail(error, TEM_ERR_ARGUMENT, "k must be 1 to %u, the number of words",
                         model->words.count);
    for (size_t i = 0; i < count; i++)
        if (words[i] >= model->words.count)
            return core_fail(error, TEM_ERR_ARGUMENT, "an id must be below the number of words");
    return search_nearest(&model->space, usable_index(model), words, count, k, run, found, error);
}

tem_status tem_search_within(const tem_model *model, uint32_t word, tem_dist distance,
                             tem_neighbour *found, uint32_t max, uint32_t *count,
                             tem_error *error) {
    if (model == NULL || count == NULL || (found == NULL && max > 0))
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a model and a place for what is found are needed");
    if (word >= model->words.count)
        return core_fail(error, TEM_ERR_ARGUMENT, "the id must be below the number of words");
    return search_within(&model->space, usable_index(model), word, distance, found, max, count,
                         error);
}
