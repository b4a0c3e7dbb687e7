/* accountant.h - what a tem_accountant is made of. */
#ifndef AUDIT_ACCOUNTANT_H
#define AUDIT_ACCOUNTANT_H

#include "audit/realised.h"
#include "mech/tem_mechanism.h"

struct tem_accountant {
    const tem_model *model;
    uint32_t *weights; /* a copy; NULL: all 1 */
    profile profile;
    bool is_metric; /* that the distances are one was proved here: see check_metric */
};

/* Whether the mechanism is one the accountant can speak about: TEM or EM over its model, with
 * its weights. TEM_ERR_ARGUMENT or TEM_ERR_UNSUPPORTED. */
tem_status accountant_check(const tem_accountant *accountant, const tem_mechanism *mechanism,
                            tem_error *error);

/* Whether a certificate can rest on it: equal weights, distances that are known to be a metric.
 * TEM_ERR_UNSUPPORTED. */
tem_status accountant_check_provable(const tem_accountant *accountant, tem_error *error);

/* What the computations of src/audit and src/tuning take. */
account accountant_account(const tem_accountant *accountant);

#endif
