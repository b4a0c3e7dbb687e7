/* rounding.h - numbers in a few digits, on the side that keeps a statement true. */
#ifndef CLI_ROUNDING_H
#define CLI_ROUNDING_H

/* x, positive and finite, in this many significant digits: the least such number that is not
 * below x, or the largest that is not above it. Printed with %.*g it has no more digits. */
double rounding_up(double x, int digits);
double rounding_down(double x, int digits);

#endif
