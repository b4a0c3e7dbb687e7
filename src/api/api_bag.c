/* api_bag.c - the functions of tem_bag.h. */
#include "bag/bag.h"
#include "core/reserved.h"
#include "core/status.h"

static tem_status check_words(const tem_model *model, const uint32_t *words, size_t count,
                              tem_error *error) {
    if (words == NULL && count > 0)
        return core_fail(error, TEM_ERR_ARGUMENT, "the words of two documents are needed");
    if (count > TEM_BAG_WORDS_MAX)
        return core_fail(error, TEM_ERR_RANGE, "a document has more than %u words",
                         TEM_BAG_WORDS_MAX);
    for (size_t i = 0; i < count; i++)
        if (words[i] != TEM_NO_WORD && words[i] >= model->words.count)
            return core_fail(error, TEM_ERR_ARGUMENT, "an id must be below the number of words");
    return TEM_OK;
}

tem_status tem_bag_measure(const tem_model *model, const uint32_t *a, size_t a_count,
                           const uint32_t *b, size_t b_count, const tem_bag_options *options,
                           const tem_run *run, tem_bag_distance *distance, tem_error *error) {
    if (is_for_newer(options, error) || is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (model == NULL || distance == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a model and a place for the distance are needed");
    TRY(check_words(model, a, a_count, error));
    TRY(check_words(model, b, b_count, error));
    const tem_dist gamma = options == NULL ? 0 : options->gamma;
    return bag_measure(model, a, a_count, b, b_count, gamma, run, distance, error);
}
