/* calibrate.h - the certificate for an epsilon: an exponent and integer weights. A search in
 * floating point proposes them, and a proof about the integers admits them. */
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
    const double *prior; /* tuned: one per word, adding up to 1 */
    unsigned iterations; /* tuned: steps of the search; 0: a number that suits the vocabulary */
    size_t matrix_bytes; /* memory that all distances may take; 0: 6 GB */
    tem_search_fn *told; /* progress callback, or NULL */
    void *told_context;
} weights_request;

typedef struct certified_weights {
    uint32_t *values; /* one per word; owned; NULL: all equal, and nothing better was found */
    profile profile;  /* for these weights; owned; empty if they are all equal */
    exponent exponent;
    realised_loss proof;
} certified_weights;

void certified_weights_free(certified_weights *c);

/* Finds weights and an exponent, and proves their loss.
 *   balanced  Weights that make Z the same for all words, and s just below epsilon, where there are
 *             such weights. Otherwise a few steps towards a constant Z, and the largest s that is
 *             proved.
 *   tuned     The least expected distance under the prior among all candidates that are proved.
 *             Equal and balanced weights are among them.
 * Memory: 2 bytes per pair of words, each pair stored twice, up to matrix_bytes; and 4 kB per word
 * for a profile, of which there are up to three. If matrix_bytes is too small, all distances are
 * computed again for every sum, with 1 kB of memory per word; then balancing ends where weights
 * stay negative, and flattening and the search take fewer steps.
 * TEM_ERR_RANGE, TEM_ERR_MEMORY, TEM_ERR_CANCELLED, TEM_ERR_DAMAGED. Free with
 * certified_weights_free. */
tem_status certified_weights_find(const loss_inputs *equal, const weights_request *r,
                                  const tem_run *run, certified_weights *out, tem_error *error);

#endif
