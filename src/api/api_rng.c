/* api_rng.c - tem_rng of tem.h. */
#include "core/memory.h"
#include "core/status.h"
#include "rng/rng.h"

static tem_status make_rng(tem_rng **rng, tem_rng **made, tem_error *error) {
    if (rng == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a place for the generator is needed");
    *made = core_alloc(1, sizeof **made);
    return *made == NULL ? core_fail_memory(error) : TEM_OK;
}

tem_status tem_rng_create(tem_rng **rng, tem_error *error) {
    tem_rng *made = NULL;
    TRY(make_rng(rng, &made, error));
    rng_init_secure(made);
    *rng = made;
    return TEM_OK;
}

tem_status tem_rng_create_insecure(uint64_t seed, uint64_t stream, tem_rng **rng,
                                   tem_error *error) {
    tem_rng *made = NULL;
    TRY(make_rng(rng, &made, error));
    rng_init_seeded(made, seed, stream);
    *rng = made;
    return TEM_OK;
}

int tem_rng_is_private(const tem_rng *rng) {
    return rng != NULL && rng->source == RNG_SECURE;
}

uint64_t tem_rng_below(tem_rng *rng, uint64_t bound) {
    return rng == NULL || bound == 0 ? 0 : rng_below(rng, bound);
}

void tem_rng_free(tem_rng *rng) {
    if (rng == NULL)
        return;
    rng_wipe(rng);
    core_free(rng);
}
