/* told.h - how well the best attacker tells numbers of words from the output. */
#ifndef LEARN_TOLD_H
#define LEARN_TOLD_H

#include "learn/channel.h"
#include "tem_adapt.h"

/* As tem_channel_told; the caller has checked the pointers, that all numbers are finite, and that
 * `columns` is 1 to TOLD_COLUMNS_MAX. */
#define TOLD_COLUMNS_MAX ((UINT32_MAX - 1) / 2)
tem_status told_numbers(const tem_channel *channel, const tem_expectation *expected,
                        const double *numbers, uint32_t columns, const tem_run *run, tem_told *told,
                        tem_error *error);

#endif
