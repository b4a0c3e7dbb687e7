/* api_account.c - tem_accountant of tem.h. */
#include "api/accountant.h"
#include "core/memory.h"
#include "core/status.h"

#include <string.h>

static tem_status copy_weights(tem_accountant *a, const uint32_t *weights, tem_error *error) {
    const uint32_t count = a->model->words.count;
    uint32_t positive = 0;
    for (uint32_t id = 0; id < count; id++)
        positive += weights[id] > 0;
    if (positive == 0)
        return core_fail(error, TEM_ERR_RANGE, "at least one weight must be above 0");
    a->weights = core_alloc(count, sizeof *weights);
    if (a->weights == NULL)
        return core_fail_memory(error);
    memcpy(a->weights, weights, count * sizeof *weights);
    return TEM_OK;
}

tem_status tem_accountant_create(const tem_model *model, const uint32_t *weights,
                                 const tem_run *run, tem_accountant **accountant,
                                 tem_error *error) {
    if (model == NULL || accountant == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a model and a place for the accountant are needed");
    tem_accountant *a = core_alloc_zero(1, sizeof *a);
    if (a == NULL)
        return core_fail_memory(error);
    a->model = model;
    tem_status status = weights == NULL ? TEM_OK : copy_weights(a, weights, error);
    if (status == TEM_OK)
        status = profile_make(&model->space, a->weights, run, &a->profile, error);
    if (status != TEM_OK) {
        tem_accountant_free(a);
        return status;
    }
    *accountant = a;
    return TEM_OK;
}

void tem_accountant_free(tem_accountant *a) {
    if (a == NULL)
        return;
    profile_free(&a->profile);
    core_free(a->weights);
    core_free(a);
}

static bool same_weights(const uint32_t *a, const uint32_t *b, uint32_t count) {
    if (a == NULL || b == NULL)
        return a == b;
    return memcmp(a, b, count * sizeof *a) == 0;
}

tem_status accountant_check(const tem_accountant *a, const tem_mechanism *m, tem_error *error) {
    if (m->kind == TEM_KIND_MADLIB)
        return core_fail(error, TEM_ERR_UNSUPPORTED,
                         "the distribution of Madlib has no closed form; it can only be drawn from");
    if (m->model != a->model ||
        !same_weights(m->sampler.envelopes.weights.values, a->weights, m->count))
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "the mechanism must have the accountant's model and weights");
    return TEM_OK;
}
