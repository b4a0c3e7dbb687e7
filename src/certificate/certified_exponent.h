/* certified_exponent.h - what the rest of the library asks of certificates. */
#ifndef CERTIFICATE_CERTIFIED_EXPONENT_H
#define CERTIFICATE_CERTIFIED_EXPONENT_H

#include "certificate/certificate.h"
#include "mech/exponent.h"

/* A certificate for the words, vectors and metric of this model that says what `said` does, its
 * space aside; weights are copied. TEM_ERR_CERTIFICATE if these numbers are none of a certificate
 * (certificate_fault); TEM_ERR_MEMORY. */
tem_status certificate_make(const tem_model *model, const tem_certificate *said,
                            tem_certificate **out, tem_error *error);

/* The exponent of options->certificate, if it is for this model and for what else the options
 * ask for. TEM_ERR_ARGUMENT or TEM_ERR_CERTIFICATE. */
tem_status certificate_exponent(const tem_model *model, const tem_mechanism_options *options,
                                exponent *out, tem_error *error);

/* Its hash in hex. */
void certificate_write_hash(const tem_certificate *c, char hash[65]);

#endif
