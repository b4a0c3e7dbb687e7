/* api_vectors.c - tem_vectors of tem.h. */
#include "audit/fold_vectors.h"
#include "core/reserved.h"
#include "core/status.h"
#include "model/vectors.h"

tem_status tem_vectors_load(const char *path, uint64_t limit, const tem_run *run,
                            tem_vectors **vectors, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    return vectors_load(path, limit, run, vectors, error);
}

tem_status tem_vectors_create(const char *const *words, const float *values, uint32_t count,
                              uint32_t dimension, tem_vectors **vectors, tem_error *error) {
    return vectors_create(words, values, count, dimension, vectors, error);
}

tem_status tem_vectors_fold(tem_vectors *vectors, tem_folding *done, tem_error *error) {
    if (vectors == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "vectors are needed");
    return fold_vectors(vectors, done, error);
}

tem_status tem_word_fold(const char *word, size_t bytes, char **folded, tem_error *error) {
    core_buffer out = {0};
    char *made = NULL;
    if (word == NULL || folded == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a word and a place for the result are needed");
    tem_status status = fold_word(word, bytes, &out, error);
    if (status == TEM_OK &&
        (!core_buffer_add(&out, "", 1) || (made = core_buffer_take(&out)) == NULL))
        status = core_fail_memory(error);
    core_buffer_free(&out);
    if (status == TEM_OK)
        *folded = made;
    return status;
}

uint32_t tem_vectors_count(const tem_vectors *vectors) {
    return vectors == NULL ? 0 : vectors->words.count;
}

uint32_t tem_vectors_dimension(const tem_vectors *vectors) {
    return vectors == NULL ? 0 : vectors->dimension;
}

const char *tem_vectors_format(const tem_vectors *vectors) {
    return vectors == NULL ? "unknown" : vectors->format;
}

void tem_vectors_free(tem_vectors *vectors) {
    vectors_free(vectors);
}
