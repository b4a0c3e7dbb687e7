/* certificate.h - certificates and the file that keeps them (docs/FORMAT.md).
 *
 * A certificate says: on the words, vectors and metric with the hash `space`, the exponent s and
 * the truncation gamma, with these weights, lose at most `realised` per unit of distance, which is
 * below epsilon. This code finds damage. It does not find out whether a certificate is true:
 * tem_certificate_trust decides whether to trust it. */
#ifndef CERTIFICATE_CERTIFICATE_H
#define CERTIFICATE_CERTIFICATE_H

#include "core/hash.h"
#include "model/model.h"
#include "tem_account.h"

enum {
    CERTIFICATE_S_BITS = 20,
    CERTIFICATES_MAX = 4096,     /* per file */
    CERTIFICATE_PRIOR_BYTES = 64 /* with its NUL */
};

struct tem_certificate {
    double epsilon;
    double beta; /* 0: gamma was given */
    uint64_t s;  /* steps of 2^-20 */
    tem_dist gamma;
    double realised;
    unsigned char space[CORE_HASH_BYTES]; /* model_space_hash */
    tem_weights_kind kind;
    char prior[CERTIFICATE_PRIOR_BYTES]; /* "": no effects */
    tem_effect effect, plain;
    uint32_t count;    /* number of weights; 0: all equal */
    uint32_t *weights; /* owned; NULL: all equal */
};

/* Makes a certificate for the words, vectors and metric of this model. Takes everything but the
 * space from `said`, and copies the weights. Fails with TEM_ERR_CERTIFICATE if no certificate can
 * have these numbers (certificate_fault), or TEM_ERR_MEMORY. Free with certificate_free. */
tem_status certificate_make(const tem_model *model, const tem_certificate *said,
                            tem_certificate **out, tem_error *error);
void certificate_free(tem_certificate *certificate);

/* As tem_certificate_get_info, tem_certificate_is_for and tem_weights_name (NULL: no such kind). */
void certificate_get_info(const tem_certificate *c, tem_certificate_info *info);
bool certificate_is_for(const tem_certificate *c, const tem_model *model);
const char *certificate_weights_name(tem_weights_kind kind);

/* Fails with TEM_ERR_CERTIFICATE unless the certificate is for this model. */
tem_status certificate_check_model(const tem_certificate *c, const tem_model *model,
                                   tem_error *error);

/* Checks that options->certificate is for this model and for the epsilon, beta and gamma of the
 * options, and that the options give no weights. Fails with TEM_ERR_ARGUMENT or
 * TEM_ERR_CERTIFICATE. */
tem_status certificate_check_options(const tem_model *model, const tem_mechanism_options *options,
                                     tem_error *error);

/* Makes a copy with weights of its own. Fails with TEM_ERR_MEMORY. */
tem_status certificate_copy(const tem_certificate *from, tem_certificate *to, tem_error *error);

/* certificate_clear frees what a certificate owns, but not the certificate. certificates_free frees
 * a list and what its certificates own. */
void certificate_clear(tem_certificate *c);
void certificates_free(tem_certificate *list, uint32_t count);

/* The most that s * gamma may be: 64, in steps of 2^-36. */
#define CERTIFICATE_EXPONENT_MAX ((uint64_t)64 << 36)

/* Whether a loss is far enough below epsilon to be charged as the decimal of epsilon.
 * PRIVACY: that decimal may be below epsilon by half a unit in its last place, 2^-53 of epsilon.
 * With the rounding of this product, the loss is at most epsilon (1 - 2^-50 + 2^-53). */
static inline bool certificate_leaves_room(double realised, double epsilon) {
    return realised <= epsilon * (1 - 0x1p-50);
}

/* Whether a prior may have this name. */
bool certificate_is_name(const char *text);

/* Why these numbers cannot be those of a certificate, as one clause; NULL if nothing is wrong. */
const char *certificate_fault(const tem_certificate *c);

/* The hash that identifies a certificate: of everything that it says. */
void certificate_hash(const tem_certificate *c, unsigned char hash[CORE_HASH_BYTES]);
void certificate_write_hash(const tem_certificate *c, char hash[65]); /* in hex */

/* Whether both certificates are for the same epsilon, beta or gamma, and kind of weights. */
bool certificate_same_terms(const tem_certificate *a, const tem_certificate *b);

/* Reads all certificates of a file. The code does not trust the file. Fails with TEM_ERR_FORMAT,
 * TEM_ERR_VERSION, TEM_ERR_DAMAGED, TEM_ERR_MEMORY; certificates_load also with TEM_ERR_FILE. Free
 * *list with certificates_free. */
tem_status certificates_read(const file_view *view, const char *path, tem_certificate **list,
                             uint32_t *count, tem_error *error);
tem_status certificates_load(const char *path, tem_certificate **list, uint32_t *count,
                             tem_error *error);

/* Reads and checks the i-th certificate of a file, from 0, as above. Of the certificates before it,
 * checks only where they end and that they have other terms. So reading each in turn reads the
 * weights of the file once. *there receives whether there is an i-th certificate. Free what it owns
 * with certificate_clear. */
tem_status certificate_read_one(const file_view *view, const char *path, uint32_t i,
                                tem_certificate *out, bool *there, tem_error *error);
tem_status certificate_load_one(const char *path, uint32_t i, tem_certificate *out, bool *there,
                                tem_error *error);

/* As tem_certificate_save: adds a certificate to the file, in place of one with the same terms and
 * of those for other models; makes the file if it does not exist. Other calls that change the same
 * file at the same time wait, and meanwhile ask the callback of their run. */
tem_status certificate_add(const tem_certificate *c, const char *path, const tem_run *run,
                           tem_error *error);

/* As tem_certificate_load and tem_certificate_find. */
tem_status certificate_load(const char *path, uint32_t i, tem_certificate **certificate,
                            tem_error *error);
tem_status certificate_find(const char *path, const tem_model *model, const tem_calibration *wanted,
                            tem_certificate **certificate, tem_error *error);

#endif
