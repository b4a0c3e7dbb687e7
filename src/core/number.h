/* number.h - numbers that users write and read: parsing them from bytes, in every locale the same,
 * rounding them to a few digits, and whether an option was given.
 *
 * strtod takes the decimal point from the process's locale, accepts hexadecimal, "inf" and "nan",
 * and needs a NUL. None of that fits a mapped file of numbers. Here a number is
 *     [+-] digits [. digits] [(e|E) [+-] digits]
 * where the digits on one side of the point may be missing. The value is the double nearest to it,
 * ties to even, which is what strtod gives in the "C" locale. */
#ifndef CORE_NUMBER_H
#define CORE_NUMBER_H

#include <math.h>
#include <stdbool.h>

/* A longer token is not a number. 400 bytes hold every double that %f writes in full (309 digits)
 * and nearly everything that %.*e can write; numbers in embeddings have about 20. */
enum { NUMBER_BYTES_MAX = 400 };

typedef enum number_kind {
    NUMBER_OK,
    NUMBER_NONE,       /* not a number */
    NUMBER_NOT_FINITE, /* inf, infinity or nan, in any case, with or without a sign */
    NUMBER_TOO_LARGE   /* a number, but beyond the largest double */
} number_kind;

/* Parses all of [start, end) as one number. *value is untouched unless the result is NUMBER_OK. */
number_kind number_parse(const char *start, const char *end, double *value);

/* Parses the token from `start` to the next space or tab, or to `end`. *stop receives the end of
 * the token, whatever the result. */
number_kind number_scan(const char *start, const char *end, const char **stop, double *value);

/* Whether c separates the columns of a text file. The no-break space does not. */
static inline bool number_is_separator(char c) {
    return c == ' ' || c == '\t';
}

/* The least decimal with this many significant digits that is not below x > 0, and the largest that
 * is not above x. So "at most x" or "at least x" stays true after rounding. */
double number_round_up(double x, int digits);
double number_round_down(double x, int digits);

/* Whether the caller gave an option for which 0 means "not given". NaN counts as given, so that the
 * code that reads the number refuses it. */
static inline bool is_given(double option) {
    return option < 0 || option > 0 || isnan(option);
}

#endif
