/* gamma_upper.h - the incomplete gamma function, from which comes the chi-square distribution. */
#ifndef TESTS_GAMMA_UPPER_H
#define TESTS_GAMMA_UPPER_H

#include <math.h>

/* Q(a, x) = 1 - P(a, x), the regularized upper incomplete gamma function: the series of P for x < a
 * + 1, else the continued fraction of Q (Lentz). */
static inline double gamma_upper(double a, double x) {
    if (x <= 0)
        return 1;
    const double factor = exp(a * log(x) - x - lgamma(a));
    if (x < a + 1) {
        double term = 1 / a, sum = term;
        for (int i = 1; i < 10000 && term > sum * 1e-17; i++)
            sum += term *= x / (a + i);
        return 1 - sum * factor;
    }
    double b = x + 1 - a, c = 1e300, d = 1 / b, value = d;
    for (int i = 1; i < 10000; i++) {
        const double numerator = -i * (i - a);
        b += 2;
        d = 1 / (numerator * d + b);
        c = b + numerator / c;
        value *= c * d;
        if (fabs(c * d - 1) < 1e-16)
            break;
    }
    return value * factor;
}

#endif
