/* wilson.c - an interval for a probability (Wilson 1927). */
#include "core/wilson.h"

#include <math.h>

void wilson_interval(uint64_t successes, uint64_t trials, double *low, double *high) {
    static const double z = 1.959963984540054; /* 97.5 % of a normal distribution are below it */
    const double n = (double)trials, share = trials == 0 ? 0 : (double)successes / n;
    const double middle = share + z * z / (2 * n), divisor = 1 + z * z / n;
    const double reach = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n));
    *low = trials == 0 || successes == 0 ? 0 : (middle - reach) / divisor;
    *high = trials == 0 || successes == trials ? 1 : (middle + reach) / divisor;
}
