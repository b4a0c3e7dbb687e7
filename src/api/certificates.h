/* certificates.h - what the rest of the library asks of certificates. */
#ifndef API_CERTIFICATES_H
#define API_CERTIFICATES_H

#include "io/certificate.h"
#include "mech/exponent.h"

/* A certificate for the words, vectors and metric of this model.
 *   epsilon   what is promised; beta: what gamma was made from, 0 if it was given
 *   realised  proved: no pair of words loses more per unit of distance; it must leave room
 *             below epsilon (certificate_leaves_room)
 * TEM_ERR_CERTIFICATE if these numbers are none of a certificate; TEM_ERR_MEMORY. */
tem_status certificate_make(const tem_model *model, double epsilon, double beta, uint64_t s,
                            tem_dist gamma, double realised, tem_certificate **out,
                            tem_error *error);

/* The exponent of options->certificate, if it is for this model and for what else the options
 * ask for. TEM_ERR_ARGUMENT or TEM_ERR_CERTIFICATE. */
tem_status certificate_exponent(const tem_model *model, const tem_mechanism_options *options,
                                exponent *out, tem_error *error);

/* Its hash in hex. */
void certificate_write_hash(const tem_certificate *c, char hash[65]);

#endif
