/* model_verify.c - checks that tem would have built the same model from its words and distances. */
#include "core/status.h"
#include "model/model.h"

/* Checks what hashes cannot show: that tem would have built this content. */
static tem_status verify_space(const tem_model *m, tem_error *error) {
    const space *s = &m->space;
    if (s->metric->has_vectors) {
        tem_status status = space_check_rows(s, error);
        return status == TEM_OK ? space_check_range(s, error) : status;
    }
    /* model_build_function never stores UINT32_MAX. The search for neighbors reads it
     * as "nothing found", so its lists would not be full. */
    for (uint64_t i = 0; i < space_pair_count(s->count); i++)
        if (s->matrix[i] == UINT32_MAX)
            return core_fail(error, TEM_ERR_DAMAGED, "a distance of the matrix is infinite");
    uint64_t checked = 0;
    bool exhaustive = false;
    tem_status status = space_check_matrix(s, &checked, &exhaustive, error);
    if (status == TEM_OK && (checked != m->triangles || exhaustive != m->triangles_exhaustive))
        status = core_fail(error, TEM_ERR_DAMAGED, "the count of checked triangles is wrong");
    return status;
}

tem_status model_verify(const tem_model *model, const tem_run *run, tem_error *error) {
    tem_status status = model_check(model, run, error);
    if (status == TEM_OK)
        status = vocab_verify(&model->words, error);
    if (status == TEM_OK)
        status = verify_space(model, error);
    if (status == TEM_OK)
        status = neighbours_verify(&model->index, &model->space, model->neighbours, run, error);
    /* PRIVACY: that it is one permutation per word, which the proof of `rank` needs. Which one it
     * is cannot be computed again: its vectors need not be in the file. */
    if (status == TEM_OK && model_has_order(model))
        status = order_check(&model->order, error);
    /* These two statuses mean that tem would not have built the model. All others but
     * TEM_ERR_DAMAGED mean that the check itself could not finish. */
    if (status == TEM_ERR_RANGE || status == TEM_ERR_METRIC) {
        status = TEM_ERR_DAMAGED;
        if (error != NULL)
            error->status = status;
    }
    return status;
}
