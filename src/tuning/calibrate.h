/* calibrate.h - the certificate for an epsilon. */
#ifndef TUNING_CALIBRATE_H
#define TUNING_CALIBRATE_H

#include "audit/accountant.h"
#include "certificate/certificate.h"

/* As tem_accountant_calibrate; only audit may be NULL. */
tem_status calibrate(const tem_accountant *accountant, const tem_calibration *wanted,
                     const tem_run *run, tem_certificate **certificate, tem_audit *audit,
                     tem_error *error);

#endif
