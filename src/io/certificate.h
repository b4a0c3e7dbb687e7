/* certificate.h - certificates and the file that keeps them (docs/FORMAT.md). */
#ifndef IO_CERTIFICATE_H
#define IO_CERTIFICATE_H

#include "core/hash.h"
#include "io/model.h"

struct tem_certificate {
    double epsilon;
    double beta; /* 0: gamma was given */
    uint64_t s;  /* steps of 2^-20 */
    tem_dist gamma;
    double realised;
    unsigned char space[CORE_HASH_BYTES]; /* model_space_hash */
};

#endif
