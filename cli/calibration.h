/* calibration.h - making certificates: with word of how the search stands, an end to it, and what
 * is there already. */
#ifndef CLI_CALIBRATION_H
#define CLI_CALIBRATION_H

#include "tem_account.h"

#include <stdbool.h>

/* Whether certificates can be written beside the model that default_model_open opened last, before
 * all the work; says why not. */
bool calibration_ready(void);

/* The certificate beside the model opened last that answers what is wanted, if it is believed and
 * its effects are under the prior asked for; else NULL. */
tem_certificate *calibration_find(const tem_model *model, const tem_calibration *wanted);

/* What a certified mechanism does under a prior, computed anew: what a certificate says of that is
 * proved by nobody, and its prior may have been another file of the same name. Fails as
 * tem_accountant_summarise does. */
tem_status calibration_summarise(const tem_model *model, const tem_certificate *certificate,
                                 const tem_prior *prior, const tem_run *run, tem_summary *summary,
                                 tem_error *error);

/* Calibrates; keeps the certificate beside the model, and believes it from now on. Where a search
 * was ended before its time and calibration_find has a certificate whose expected distance,
 * computed anew, is no larger, that one stays and is returned instead.
 *   wanted    of it, told is not looked at
 *   minutes   after which a search ends with the best it has
 *   patient   the first SIGINT does that, too, and the second one ends the command
 *   audit     receives what is proved of the certificate that is returned; may be NULL
 * NULL after saying why not. */
tem_certificate *calibration_make(const tem_model *model, const tem_accountant *accountant,
                                  const tem_calibration *wanted, double minutes, bool patient,
                                  const tem_run *run, bool quiet, tem_audit *audit);

/* The mechanism that a certificate is of; fails as tem_mechanism_create does. */
tem_status calibration_mechanism(const tem_certificate *certificate, const tem_model *model,
                                 tem_mechanism **mechanism, tem_error *error);

#endif
