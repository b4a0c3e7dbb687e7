/* calibration.h - makes certificates: shows the progress of a search, ends it, and compares its
 * result with the certificate that exists already. */
#ifndef CLI_CALIBRATION_H
#define CLI_CALIBRATION_H

#include "tem_account.h"

#include <stdbool.h>

/* Checks, before the work, that certificates can be written beside the model that
 * default_model_open opened last. Prints why not, and what to do. */
bool calibration_ready(void);

/* Returns the wanted certificate beside the model opened last, if it is trusted and its effects are
 * under the wanted prior; else NULL. */
tem_certificate *calibration_find(const tem_model *model, const tem_calibration *wanted);

/* Computes the effects of a certified mechanism under a prior. The effects that the certificate
 * states are not proved, and their prior may have been another file of the same name.
 *   equal   the model's accountant with equal weights
 * Fails as tem_accountant_summarise does. */
tem_status calibration_summarise(const tem_model *model, const tem_accountant *equal,
                                 const tem_certificate *certificate, const tem_prior *prior,
                                 const tem_run *run, tem_summary *summary, tem_error *error);

/* Makes a certificate, writes it beside the model and trusts it from now on. If the search was
 * ended early, and calibration_find finds a certificate whose expected distance, computed anew, is
 * no larger, then that certificate stays and is returned instead.
 *   wanted    its field told is ignored
 *   minutes   limit of the search, which then ends with its best result so far
 *   patient   the first SIGINT ends the search in the same way, the second ends the command
 *   audit     receives the proved loss of the certificate that is returned; may be NULL
 * Returns NULL on failure, after printing why. */
tem_certificate *calibration_make(const tem_model *model, const tem_accountant *accountant,
                                  const tem_calibration *wanted, double minutes, bool patient,
                                  const tem_run *run, bool quiet, tem_audit *audit);

/* Makes the mechanism of a certificate. Fails as tem_mechanism_create does. */
tem_status calibration_mechanism(const tem_certificate *certificate, const tem_model *model,
                                 tem_mechanism **mechanism, tem_error *error);

#endif
