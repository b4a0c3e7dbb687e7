/* posterior.h - what stands behind a released word: expected shares, and posterior vectors. */
#ifndef LEARN_POSTERIOR_H
#define LEARN_POSTERIOR_H

#include "learn/channel.h"
#include "model/vectors.h"

/* As tem_channel_expect, tem_channel_posterior and tem_model_align_vectors; the caller has checked
 * the pointers. */
tem_status expect_shares(const tem_model *model, const tem_expectation *expected, double *shares,
                         tem_error *error);
tem_status posterior_vectors(const tem_channel *channel, const tem_expectation *expected,
                             const double *vectors, uint32_t columns, const tem_run *run,
                             double *out, tem_error *error);
tem_status align_vectors(const tem_model *model, const tem_vectors *vectors, double *out,
                         uint32_t *missing, tem_error *error);

#endif
