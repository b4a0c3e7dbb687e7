/* calibrate_curve.h - tem calibrate --curve: the effects of weights over epsilons. */
#ifndef CLI_CALIBRATE_CURVE_H
#define CLI_CALIBRATE_CURVE_H

#include "common_options.h"
#include "tem_account.h"

#include <stdbool.h>

/* The options of tem calibrate. */
typedef struct calibrate_request {
    common_options common;
    tem_calibration wanted;
    const char *weights, *prior_text, *plot_path;
    uint64_t steps;
    double minutes;
    bool json, curve, force;
} calibrate_request;

/* Takes the trusted certificates beside the model, makes the missing ones, and prints the effects
 * of all of them. Returns an exit status. */
int calibrate_curve(const calibrate_request *r, const tem_model *model,
                    const tem_accountant *accountant, const tem_run *run);

#endif
