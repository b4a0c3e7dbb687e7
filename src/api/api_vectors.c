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

tem_status tem_vectors_fold(const tem_vectors *vectors, tem_vectors **folded, uint32_t *left_out,
                            tem_error *error) {
    if (vectors == NULL || folded == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "vectors and a place for the result are needed");
    return fold_vectors(vectors, folded, left_out, error);
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
