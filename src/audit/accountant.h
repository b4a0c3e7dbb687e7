/* accountant.h - what a model's mechanisms lose, and what they do to words. */
#ifndef AUDIT_ACCOUNTANT_H
#define AUDIT_ACCOUNTANT_H

#include "audit/prior.h"
#include "audit/realised.h"
#include "mech/tem_mechanism.h"
#include "tem_account.h"

struct tem_accountant {
    const tem_model *model;
    uint32_t *weights; /* a copy; NULL: all 1 */
    profile profile;
    bool is_metric; /* that the distances are one was proved here: see check_metric */
};

/* As the functions of tem.h with these names; pointers that must be there are.
 * PRIVACY: accountant_create refuses a model that is not trusted. */
tem_status accountant_create(const tem_model *model, const uint32_t *values, const tem_run *run,
                             tem_accountant **accountant, tem_error *error);
void accountant_free(tem_accountant *accountant);
tem_status accountant_audit(const tem_accountant *accountant, const tem_mechanism *mechanism,
                            const tem_run *run, tem_audit *audit, tem_error *error);
tem_status accountant_losses(const tem_accountant *accountant, const tem_mechanism *mechanism,
                             uint32_t count, const tem_run *run, double *losses, tem_error *error);
tem_status accountant_summarise(const tem_accountant *accountant, const tem_mechanism *mechanism,
                                const tem_prior *prior, bool with_bayes, const tem_run *run,
                                tem_summary *summary, tem_error *error);

/* A loss that was found, as tem_accountant_audit tells it. */
tem_audit accountant_audit_of(const tem_accountant *accountant, const realised_loss *loss);

/* Whether the mechanism is one the accountant can speak about: TEM or EM over its model, with
 * its weights. TEM_ERR_ARGUMENT or TEM_ERR_UNSUPPORTED. */
tem_status accountant_check(const tem_accountant *accountant, const tem_mechanism *mechanism,
                            tem_error *error);

/* Whether a certificate can rest on it: equal weights, distances that are known to be a metric.
 * TEM_ERR_UNSUPPORTED. */
tem_status accountant_check_provable(const tem_accountant *accountant, tem_error *error);

/* What the computations of src/audit and src/tuning take. */
loss_inputs accountant_inputs(const tem_accountant *accountant);

#endif
