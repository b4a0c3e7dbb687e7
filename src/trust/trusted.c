/* trusted.c - whether a model is trusted. api_trust.c decides about models from files. */
#include "trust/trusted.h"

#include "core/status.h"

void trusted_set(tem_model *model, bool trusted) {
    atomic_store_explicit(&model->trusted, trusted, memory_order_release);
}

tem_status trusted_or_refused(const tem_model *model, tem_error *error) {
    if (atomic_load_explicit(&model->trusted, memory_order_acquire))
        return TEM_OK;
    return core_fail_at(
        error, TEM_ERR_UNTRUSTED, model->path != NULL ? model->path : "", 0, 0,
        "the model is not trusted: call tem_model_trust, or tem_model_verify, first");
}
