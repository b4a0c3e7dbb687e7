/* api_compare.c - tem_compare.h. */
#include "compare/learned.h"
#include "compare/word_effects.h"
#include "core/reserved.h"
#include "core/status.h"

#include <math.h>

/* The profile of an accountant with other weights than 0 and 1 does not count words. */
static tem_status check_one_model(const tem_accountant *accountant, const tem_mechanism *mechanism,
                                  const tem_prior *prior, tem_error *error) {
    if (mechanism->model != accountant->model || prior->model != accountant->model)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "the mechanism and the prior must be of the accountant's model");
    if (!accountant->is_equal)
        return core_fail(error, TEM_ERR_ARGUMENT, "the accountant's weights must be equal");
    return TEM_OK;
}

tem_status tem_accountant_effects(const tem_accountant *accountant, const tem_mechanism *mechanism,
                                  const tem_prior *prior, const tem_run *run, tem_effects *effects,
                                  tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (accountant == NULL || mechanism == NULL || prior == NULL || effects == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "an accountant, a mechanism, a prior and a place for the effects are "
                         "needed");
    TRY(check_one_model(accountant, mechanism, prior, error));
    return exact_effects(accountant, mechanism, prior, run, effects, error);
}

tem_status tem_learned_create(const tem_accountant *accountant, const tem_mechanism *mechanism,
                              const tem_prior *prior, const tem_learned_options *options,
                              const tem_run *run, tem_learned **learned, tem_error *error) {
    if (is_for_newer(options, error) || is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (accountant == NULL || mechanism == NULL || prior == NULL || learned == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "an accountant, a mechanism, a prior and a place for the attacker are "
                         "needed");
    if (options != NULL &&
        (!isfinite(options->smoothing) || options->smoothing < 0 || options->pairs > UINT32_MAX))
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "the smoothing must be 0 or more, and at most 2^32 - 1 pairs");
    TRY(check_one_model(accountant, mechanism, prior, error));
    return learned_create(accountant, mechanism, prior, options, run, learned, error);
}

void tem_learned_free(tem_learned *learned) {
    learned_free(learned);
}

double tem_learned_probability(const tem_learned *learned, uint32_t word, uint32_t y) {
    return learned != NULL && word < learned->mechanism->count && y < learned->mechanism->count
               ? learned_law_probability(&learned->law, word, y)
               : 0;
}

uint32_t tem_learned_guess(const tem_learned *learned, uint32_t y) {
    return learned != NULL && y < learned->mechanism->count ? learned_guess(learned, y)
                                                            : TEM_NO_WORD;
}

double tem_learned_smoothing(const tem_learned *learned) {
    return learned == NULL ? NAN : learned->law.smoothing;
}

tem_status tem_learned_test(const tem_learned *learned, uint64_t pairs, uint64_t seed,
                            const tem_run *run, tem_learned_score *score, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (learned == NULL || score == NULL || pairs == 0)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "an attacker, pairs to draw and a place for the score are needed");
    return learned_test(learned, pairs, seed, run, score, error);
}

tem_status tem_learned_effects(const tem_learned *learned, const tem_run *run, tem_effects *effects,
                               tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (learned == NULL || effects == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "an attacker and a place for the effects are needed");
    return learned_effects(learned, run, effects, error);
}
