/* number.h - numbers that users give and read: from bytes, whatever the locale, rounded to a few
 * digits, and whether an option was given.
 *
 * strtod reads the decimal point from the process's locale, accepts hexadecimal,
 * "inf" and "nan", and wants a NUL; none of that fits a mapped file of numbers.
 * Here a number is
 *     [+-] digits [. digits] [(e|E) [+-] digits]
 * where the digits on one side of the point may be missing. The value is the
 * double nearest to it, ties to even: what strtod gives in the "C" locale. */
#ifndef CORE_NUMBER_H
#define CORE_NUMBER_H

#include <math.h>
#include <stdbool.h>

/* Longer tokens are no numbers. 400 bytes hold every double written out in full
 * with %f (309 digits) and nearly all that %.*e can make; embeddings have 20. */
enum { NUMBER_BYTES_MAX = 400 };

typedef enum number_kind {
    NUMBER_OK,
    NUMBER_NONE,       /* no number */
    NUMBER_NOT_FINITE, /* inf, infinity or nan, in any case, with or without a sign */
    NUMBER_TOO_LARGE   /* a number, but beyond the largest double */
} number_kind;

/* The whole of [start, end) as one number. *value is untouched unless NUMBER_OK. */
number_kind number_parse(const char *start, const char *end, double *value);

/* The number that starts at `start` and goes on to the next space or tab or to
 * `end`; *stop receives where it ends, whatever is returned. */
number_kind number_scan(const char *start, const char *end, const char **stop, double *value);

/* What separates the columns of a text file. The no-break space does not. */
static inline bool number_is_separator(char c) {
    return c == ' ' || c == '\t';
}

/* The least decimal of so many significant digits that is not below x > 0, and the largest that is
 * not above it: the side on which a statement about x stays true. */
double number_round_up(double x, int digits);
double number_round_down(double x, int digits);

/* Whether an option in which 0 means "not given" was given. NaN is given: whoever reads the number
 * refuses it. */
static inline bool is_given(double option) {
    return option < 0 || option > 0 || isnan(option);
}

#endif
