/* learn_checks.h - checks of arguments that several calls about laws share. */
#ifndef API_LEARN_CHECKS_H
#define API_LEARN_CHECKS_H

#include "core/reserved.h"
#include "core/status.h"
#include "tem_learn.h"

#include <math.h>

static inline tem_status check_expectation(const tem_expectation *expected, tem_error *error) {
    if (is_for_newer(expected, error))
        return TEM_ERR_ARGUMENT;
    if (expected == NULL || expected->prior == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a prior is needed");
    return TEM_OK;
}

static inline bool all_finite(const double *numbers, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        if (!isfinite(numbers[i]))
            return false;
    return true;
}

#endif
