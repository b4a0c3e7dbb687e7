/* prior.c - how often each word is expected in future texts. */
#include "audit/prior.h"

#include "core/memory.h"
#include "core/status.h"
#include "model/model.h"

#include <math.h>

tem_prior *prior_make(const tem_model *model, uint32_t count) {
    tem_prior *p = core_alloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    *p = (tem_prior){
        .model = model, .count = count, .frequencies = core_alloc_zero(count, sizeof(double))};
    if (p->frequencies == NULL) {
        core_free(p);
        return NULL;
    }
    return p;
}

void prior_free(tem_prior *p) {
    if (p == NULL)
        return;
    core_free(p->frequencies);
    core_free(p);
}

double prior_scale(tem_prior *p) {
    double sum = 0;
    for (uint32_t id = 0; id < p->count; id++)
        sum += p->frequencies[id];
    for (uint32_t id = 0; id < p->count && sum > 0; id++)
        p->frequencies[id] /= sum;
    return sum;
}

tem_status prior_create_zipf(const tem_model *model, double power, tem_prior **prior,
                             tem_error *error) {
    tem_prior *p = prior_make(model, model->words.count);
    if (p == NULL)
        return core_fail_memory(error);
    for (uint32_t id = 0; id < p->count; id++)
        p->frequencies[id] = pow(id + 1.0, -power);
    prior_scale(p);
    *prior = p;
    return TEM_OK;
}
