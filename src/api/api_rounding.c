/* api_rounding.c - numbers in a few digits, on the side that keeps a statement true. */
#include "tem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The decimal of so many digits that is nearest to x. */
static double nearest(double x, int digits) {
    char text[64];
    snprintf(text, sizeof text, "%.*e", digits - 1, x);
    return strtod(text, NULL);
}

/* One in the last of the digits of x. */
static double unit_of(double x, int digits) {
    return pow(10, floor(log10(x)) - (digits - 1));
}

double tem_round_up(double x, int digits) {
    const double near = nearest(x, digits);
    return near >= x ? near : nearest(near + unit_of(near, digits), digits);
}

double tem_round_down(double x, int digits) {
    const double near = nearest(x, digits);
    /* Below a power of ten the digits are finer: 0.99996 is 1 when rounded, and 0.9999 here. */
    return near <= x ? near : nearest(near - unit_of(x, digits), digits);
}
