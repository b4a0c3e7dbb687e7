/* prior.c - how often each word is expected in the texts to come. */
#include "audit/prior.h"

#include "core/memory.h"

#include <math.h>

struct tem_prior *prior_make(const tem_model *model, uint32_t count) {
    struct tem_prior *p = core_alloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    *p = (struct tem_prior){
        .model = model, .count = count, .shares = core_alloc_zero(count, sizeof(double))};
    if (p->shares == NULL) {
        core_free(p);
        return NULL;
    }
    return p;
}

void prior_free(struct tem_prior *p) {
    if (p == NULL)
        return;
    core_free(p->shares);
    core_free(p);
}

void prior_fill_zipf(struct tem_prior *p, double power) {
    for (uint32_t id = 0; id < p->count; id++)
        p->shares[id] = pow(id + 1.0, -power);
}

double prior_scale(struct tem_prior *p) {
    double sum = 0;
    for (uint32_t id = 0; id < p->count; id++)
        sum += p->shares[id];
    for (uint32_t id = 0; id < p->count && sum > 0; id++)
        p->shares[id] /= sum;
    return sum;
}
