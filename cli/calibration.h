/* calibration.h - making certificates: with word of how the search stands, an end to it, and what
 * is there already. */
#ifndef CLI_CALIBRATION_H
#define CLI_CALIBRATION_H

#include "tem.h"

#include <stdbool.h>

/* Whether certificates can be written beside the model that default_model_open opened last, before
 * all the work; says why not. */
bool calibration_ready(void);

/* Calibrates; keeps the certificate beside the model, and believes it from now on.
 *   wanted    of it, told is not looked at
 *   minutes   after which a search ends with the best it has; the first signal does that, too, and
 *             the second one ends the command
 * NULL after saying why not. */
tem_certificate *calibration_make(const tem_accountant *accountant, const tem_calibration *wanted,
                                  double minutes, const tem_run *run, bool quiet);

/* Whether a certificate beside the model opened last is for this model: whether --calibrated would
 * find it. */
bool calibration_is_for(const tem_certificate_info *info, const tem_model *model);

#endif
