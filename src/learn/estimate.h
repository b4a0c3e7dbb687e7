/* estimate.h - shares of sets of words in original texts, from released text, with intervals. */
#ifndef LEARN_ESTIMATE_H
#define LEARN_ESTIMATE_H

#include "learn/channel.h"

/* As tem_channel_estimate; the caller has checked the pointers, and groups, sets >= 1. */
tem_status estimate_shares(const tem_channel *channel, const tem_estimate_options *options,
                           const double *counts, uint32_t groups, const double *members,
                           uint32_t sets, const tem_run *run, tem_estimate *out, tem_error *error);

#endif
