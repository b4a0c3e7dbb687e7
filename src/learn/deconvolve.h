/* deconvolve.h - the shares of the input words of groups of texts, from their released words. */
#ifndef LEARN_DECONVOLVE_H
#define LEARN_DECONVOLVE_H

#include "learn/channel.h"

/* As tem_channel_deconvolve; the caller has checked the pointers, and groups >= 1. */
tem_status deconvolve(const tem_channel *channel, const tem_expectation *expected,
                      const double *counts, const double *held_out, uint32_t groups,
                      const tem_run *run, tem_deconvolution *how, double *shares, tem_error *error);

#endif
