/* calibrate.h - the certificate for an epsilon: an exponent and integer weights, proposed by a
 * search in floating point, admitted by a proof about the integers. */
#ifndef TUNING_CALIBRATE_H
#define TUNING_CALIBRATE_H

#include "audit/accountant.h"
#include "certificate/certificate.h"
#include "tem_account.h"

/* As tem_accountant_calibrate; only audit may be NULL. */
tem_status calibrate(const tem_accountant *accountant, const tem_calibration *wanted,
                     const tem_run *run, tem_certificate **certificate, tem_audit *audit,
                     tem_error *error);

/* ---- weights (certified_weights.c) ---- */

typedef struct weights_request {
    tem_weights_kind kind; /* balanced or tuned */
    double epsilon;
    double beta, gamma;  /* beta > 0: gamma follows from it */
    const double *prior; /* tuned: one a word, adding up to 1 */
    unsigned iterations; /* tuned: of the search; 0: as many as suit the vocabulary */
    size_t matrix_bytes; /* what all distances may take; 0: 6 GB */
    tem_search_fn *told; /* or NULL */
    void *told_context;
} weights_request;

typedef struct certified_weights {
    uint32_t *values; /* one a word; owned; NULL: all equal, which nothing was better than */
    profile profile;  /* with these weights; empty if they are all equal */
    exponent exponent;
    realised_loss proof;
} certified_weights;

void certified_weights_free(certified_weights *c);

/* balanced: Z is the same for all words where there are weights that make it so, and s just below
 * epsilon; else as flat as a few steps towards that make it, with the largest s that is proved.
 * tuned: the least expected distance under the prior of all that is proved: equal and balanced
 * weights among it. Memory: 2 bytes for each pair of words, both ways, up to matrix_bytes; where
 * that does not do, all distances are computed for every sum, 1 kB a word is needed for that,
 * balancing ends where weights stay negative, and flattening and the search take fewer steps. 4 kB
 * a word for a profile, up to three of them. TEM_ERR_RANGE, TEM_ERR_MEMORY, TEM_ERR_CANCELLED,
 * TEM_ERR_DAMAGED. */
tem_status certified_weights_find(const loss_inputs *equal, const weights_request *r,
                                  const tem_run *run, certified_weights *out, tem_error *error);

#endif
