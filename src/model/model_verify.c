/* model_verify.c - whether a model is what tem would have built from its words and distances. */
#include "core/status.h"
#include "model/model.h"

/* What the hashes cannot tell: whether the content is what tem would have built. */
static tem_status verify_space(const tem_model *m, tem_error *error) {
    const space *s = &m->space;
    if (s->metric->has_vectors) {
        tem_status status = space_check_rows(s, error);
        return status == TEM_OK ? space_check_range(s, error) : status;
    }
    /* Building freezes no distance as UINT32_MAX, and the search for neighbours takes
     * that for "nothing found": its lists would not be full. */
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
    /* Anything but "could not look" means that the model is not one tem would build. */
    if (status == TEM_ERR_RANGE || status == TEM_ERR_METRIC) {
        status = TEM_ERR_DAMAGED;
        if (error != NULL)
            error->status = status;
    }
    return status;
}
