/* api_summary.c - tem_accountant_summarise of tem.h. */
#include "audit/accountant.h"
#include "audit/prior.h"
#include "audit/summary.h"
#include "core/status.h"

tem_status tem_accountant_summarise(const tem_accountant *accountant,
                                    const tem_mechanism *mechanism, const tem_prior *prior,
                                    int with_bayes, const tem_run *run, tem_summary *summary,
                                    tem_error *error) {
    if (accountant == NULL || mechanism == NULL || prior == NULL || summary == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "an accountant, a mechanism, a prior and a place for the summary are "
                         "needed");
    const tem_status status = accountant_check(accountant, mechanism, error);
    if (status != TEM_OK)
        return status;
    if (prior->model != accountant->model)
        return core_fail(error, TEM_ERR_ARGUMENT, "the prior must be of the accountant's model");
    const envelopes *law = &mechanism_exponential(mechanism)->envelopes;
    const summary_source source = {.space = &accountant->model->space,
                                   .index = &accountant->model->index,
                                   .exponent = &law->exponent,
                                   .weights = &law->weights,
                                   .profile = &accountant->profile,
                                   .shares = prior->shares};
    return summary_make(&source, with_bayes != 0, run, summary, error);
}
