/* given.h - options in which 0 means that nothing was given. */
#ifndef CORE_GIVEN_H
#define CORE_GIVEN_H

#include <math.h>
#include <stdbool.h>

/* NaN is given: whoever reads the number refuses it. */
static inline bool is_given(double option) {
    return option < 0 || option > 0 || isnan(option);
}

#endif
