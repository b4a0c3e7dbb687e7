/* certificate_proof.c - whether a certificate holds, computed anew. */
#include "audit/certificate_proof.h"

#include "core/status.h"

#include <math.h>

/* PRIVACY: what is proved anew decides, not what the certificate says. */
static tem_status compare_proof(const tem_certificate *c, const realised_loss *found,
                                tem_error *error) {
    if (found->least > c->epsilon || found->least > c->realised)
        return core_fail(error, TEM_ERR_CERTIFICATE,
                         "the certificate does not hold: computed anew, the loss is at least "
                         "%.9g, above the %.9g that it claims",
                         found->least, c->realised);
    if (!(found->most <= c->realised) || !certificate_leaves_room(found->most, c->epsilon))
        return core_fail(error, TEM_ERR_CERTIFICATE,
                         "the certificate could not be proved anew: all that is known is a loss of "
                         "at most %.9g, and it claims %.9g",
                         found->most, c->realised);
    return TEM_OK;
}

/* A gamma of its own choice would decide what any two words can cost. One step more or less is
 * another machine's logarithm. */
static tem_status check_gamma(const tem_certificate *c, uint32_t count, tem_error *error) {
    tem_dist gamma = 0;
    if (c->beta <= 0)
        return TEM_OK;
    const tem_status status = exponent_gamma_from_beta(c->beta, count, c->s, &gamma, error);
    if (status == TEM_OK && (c->gamma > gamma + (uint64_t)1 || gamma > c->gamma + (uint64_t)1))
        return core_fail(error, TEM_ERR_CERTIFICATE,
                         "the gamma of the certificate is not the one that its beta makes");
    return status;
}

tem_status certificate_prove(const tem_certificate *c, const tem_accountant *a, const tem_run *run,
                             tem_error *error) {
    tem_status status = certificate_check_model(c, a->model, error);
    if (status == TEM_OK)
        status = accountant_check_provable(a, error);
    if (status == TEM_OK)
        status = check_gamma(c, a->model->words.count, error);
    if (status != TEM_OK)
        return status;
    loss_inputs known = accountant_inputs(a);
    profile weighted = {0};
    if (c->weights != NULL) {
        status = profile_make(known.space, c->weights, run, &weighted, error);
        known.profile = &weighted;
        known.weights = c->weights;
    }
    const exponent e = {.s = c->s, .gamma = c->gamma};
    realised_loss found;
    if (status == TEM_OK)
        status = realised_find(&known, e, INFINITY, run, &found, error);
    profile_free(&weighted);
    return status == TEM_OK ? compare_proof(c, &found, error) : status;
}
