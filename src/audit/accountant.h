/* accountant.h - the loss of a model's mechanisms, and their effects on words. */
#ifndef AUDIT_ACCOUNTANT_H
#define AUDIT_ACCOUNTANT_H

#include "audit/exposure.h"
#include "audit/prior.h"
#include "audit/realised.h"
#include "mech/model_mechanism.h"
#include "tem_account.h"

struct tem_accountant {
    const tem_model *model;
    uint32_t *weights; /* 0 for excluded words (model_output_weights); NULL: all 1 */
    profile profile;
    bool is_equal;       /* all words that are not excluded have the weight 1 */
    uint32_t *reachable; /* the words that a text can contain */
    uint32_t reachable_count;
    bool is_metric; /* proved here: the distances are a metric; see check_metric */
};

/* As the functions tem_accountant_* of tem_account.h; the caller has checked the required pointers
 * for NULL.
 * PRIVACY: accountant_create refuses a model that is not trusted. */
tem_status accountant_create(const tem_model *model, const uint32_t *values, const tem_run *run,
                             tem_accountant **accountant, tem_error *error);
void accountant_free(tem_accountant *accountant);
tem_status accountant_audit(const tem_accountant *accountant, const tem_mechanism *mechanism,
                            const tem_run *run, tem_audit *audit, tem_error *error);
tem_status accountant_losses(const tem_accountant *accountant, const tem_mechanism *mechanism,
                             uint32_t count, const tem_run *run, double *losses, tem_error *error);
tem_status accountant_exposed(const tem_accountant *accountant, const tem_mechanism *mechanism,
                              tem_target by, const uint32_t *words, uint32_t word_count,
                              const tem_run *run, tem_exposure *most, uint32_t max, uint32_t *count,
                              tem_error *error);

/* The same for tem_accountant_summarise. `group`: whom self_exposed and support_exposed are about;
 * NULL: all words that a text can contain. */
tem_status accountant_summarise(const tem_accountant *accountant, const tem_mechanism *mechanism,
                                const tem_prior *prior, const exposure_group *group,
                                bool with_bayes, const tem_run *run, tem_summary *summary,
                                tem_error *error);

/* The same with `bayes`, and with the effects on every word: laws receives one per word of the
 * vocabulary. accountant_take_exposed then does what tem_accountant_exposed does by N_w, without
 * computing these effects again. */
tem_status accountant_summarise_words(const tem_accountant *accountant,
                                      const tem_mechanism *mechanism, const tem_prior *prior,
                                      const tem_run *run, word_law *laws, tem_summary *summary,
                                      tem_error *error);
tem_status accountant_take_exposed(const tem_accountant *accountant, const tem_mechanism *mechanism,
                                   const tem_prior *prior, const word_law *laws,
                                   const uint32_t *words, uint32_t word_count, tem_exposure *most,
                                   uint32_t max, uint32_t *count, tem_error *error);

/* As tem_summarise_once (command/tem_command.h). */
tem_status accountant_summarise_once(const tem_mechanism *mechanism, const tem_prior *prior,
                                     const tem_run *run, tem_summary *summary, tem_error *error);

/* The words with these ids; no ids: all words that a text can contain. quantile 0: 1. */
exposure_group accountant_group(const tem_accountant *accountant, const uint32_t *words,
                                uint32_t word_count, double quantile);

/* Converts a loss into the form that tem_accountant_audit reports. */
tem_audit accountant_audit_of(const tem_accountant *accountant, const realised_loss *loss);

/* Checks that the accountant can compute the loss of the mechanism. The mechanism must have a law
 * that can be computed (tem and em do; TEM_ERR_UNSUPPORTED if not), and the model and the weights
 * of the accountant (TEM_ERR_ARGUMENT if not). */
tem_status accountant_check(const tem_accountant *accountant, const tem_mechanism *mechanism,
                            tem_error *error);

/* Checks that a certificate can rest on the accountant: it has equal weights, and its distances are
 * proved to be a metric. TEM_ERR_UNSUPPORTED if not. */
tem_status accountant_check_provable(const tem_accountant *accountant, tem_error *error);

/* The inputs for the computations of src/audit and src/tuning. They point into the accountant and
 * its model. */
loss_inputs accountant_inputs(const tem_accountant *accountant);

#endif
