/* number.c - decimal numbers from bytes, in every locale the same.
 *
 * There are three ways, from the fastest to the most general. All round exactly:
 *  - digits up to 2^53 and a power of ten that is a double itself (10^0 to 10^22): one
 *    multiplication or division, which rounds once (Clinger 1990). The five digits of GloVe go this
 *    way: 26 ns per number, where strtod takes 58 ns;
 *  - up to 19 digits and 10^-27 to 10^27: 64-bit digits times or divided by a power of five, at
 *    most 5^27 < 2^63, in 128 bits, rounded by hand. All numbers of files written from doubles (17
 *    digits) go this way: 48 ns per number, where strtod takes 80 ns;
 *  - the rest: strtod_l on a copy. */
#include "core/number.h"

#include <locale.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

__extension__ typedef unsigned __int128 u128;

enum {
    DIGITS_MAX = 19,     /* 10^19 - 1 < 2^64 */
    EXPONENT_CAP = 9999, /* reading stops at about this; larger exponents are out of range anyway */
    EXACT_TENS = 22,     /* 10^22 is the last power of ten that is a double */
    EXACT_FIVES = 27     /* 5^27 is the last power of five below 2^63 */
};

/* A number as written: sign * digits * 10^exponent. */
typedef struct decimal {
    uint64_t digits;       /* meaningless if digit_count > DIGITS_MAX */
    ptrdiff_t digit_count; /* without leading zeros */
    int64_t exponent;
    bool negative;
} decimal;

static const char *skip_digits(const char *p, const char *end, uint64_t *digits) {
    uint64_t d = *digits;
    for (; p < end; p++) {
        unsigned digit = (unsigned char)*p - (unsigned)'0';
        if (digit > 9)
            break;
        d = d * 10 + digit;
    }
    *digits = d;
    return p;
}

/* Adds the exponent at p, which points to the e, to *exponent, and returns its end. Returns p if
 * the exponent has no digits. */
static const char *read_exponent(const char *p, const char *end, int64_t *exponent) {
    const char *q = p + 1;
    bool negative = q < end && *q == '-';
    if (q < end && (*q == '-' || *q == '+'))
        q++;
    const char *first = q;
    int64_t e = 0;
    for (; q < end && *q >= '0' && *q <= '9'; q++)
        if (e < EXPONENT_CAP)
            e = e * 10 + (*q - '0');
    if (q == first)
        return p;
    *exponent += negative ? -e : e;
    return q;
}

/* The number of digits after the leading zeros. */
static ptrdiff_t significant(const char *p, const char *end) {
    while (p < end && (*p == '0' || *p == '.'))
        p++;
    ptrdiff_t count = end - p;
    return count > 0 && memchr(p, '.', (size_t)count) != NULL ? count - 1 : count;
}

/* Reads the longest number at `p`; returns its end, or NULL if there is none. */
static const char *read_decimal(const char *p, const char *end, decimal *out) {
    decimal d = {.negative = p < end && *p == '-'};
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    const char *first = p;
    p = skip_digits(p, end, &d.digits);
    ptrdiff_t seen = p - first;
    if (p < end && *p == '.') {
        const char *fraction = p + 1;
        p = skip_digits(fraction, end, &d.digits);
        d.exponent = fraction - p;
        seen += p - fraction;
    }
    if (seen == 0)
        return NULL;
    d.digit_count = seen <= DIGITS_MAX ? seen : significant(first, p);
    if (p < end && (*p == 'e' || *p == 'E'))
        p = read_exponent(p, end, &d.exponent);
    *out = d;
    return p;
}

/* 2^e for a normal double. */
static double power_of_two(int e) {
    uint64_t bits = (uint64_t)(1023 + e) << 52;
    double value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The double nearest to q * 2^e, ties to even. q must be exact, or above 2^64 with a last bit that
 * is set if anything follows it. */
static double round_u128(u128 q, int e) {
    uint64_t high = (uint64_t)(q >> 64);
    int bits = high != 0 ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)q);
    int drop = bits - 53;
    if (drop <= 0)
        return (double)(uint64_t)q * power_of_two(e);
    uint64_t kept = (uint64_t)(q >> drop);
    u128 remainder = q & (((u128)1 << drop) - 1), half = (u128)1 << (drop - 1);
    if (remainder > half || (remainder == half && (kept & 1) != 0))
        kept++;
    return (double)kept * power_of_two(e + drop);
}

/* digits * 10^tens, for digits > 0 and |tens| <= EXACT_FIVES. A quotient by a power of five has 65
 * bits or more. So its last bit, which is below every bit that decides the rounding, can record
 * whether there was a remainder. */
static double scale(uint64_t digits, int tens) {
    static const uint64_t powers[EXACT_FIVES + 1] = {
        1u,
        5u,
        25u,
        125u,
        625u,
        3125u,
        15625u,
        78125u,
        390625u,
        1953125u,
        9765625u,
        48828125u,
        244140625u,
        1220703125u,
        6103515625u,
        30517578125u,
        152587890625u,
        762939453125u,
        3814697265625u,
        19073486328125u,
        95367431640625u,
        476837158203125u,
        2384185791015625u,
        11920928955078125u,
        59604644775390625u,
        298023223876953125u,
        1490116119384765625u,
        7450580596923828125u,
    };
    const uint64_t fives = powers[tens < 0 ? -tens : tens];
    if (tens >= 0)
        return round_u128((u128)digits * fives, tens);
    int shift = __builtin_clzll(digits);
    u128 numerator = (u128)(digits << shift) << 64;
    u128 quotient = numerator / fives;
    if (quotient * fives != numerator)
        quotient |= 1;
    return round_u128(quotient, tens - shift - 64);
}

/* Computes the value without strtod; false if that would not be exact. */
static bool quick_value(const decimal *d, double *value) {
    static const double tens[EXACT_TENS + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double v = 0;
    if (d->digit_count > DIGITS_MAX)
        return false;
    if (d->digits <= (uint64_t)1 << 53 && d->exponent >= -EXACT_TENS && d->exponent <= EXACT_TENS)
        v = d->exponent < 0 ? (double)d->digits / tens[-d->exponent]
                            : (double)d->digits * tens[d->exponent];
    else if (d->digits != 0 && d->exponent >= -EXACT_FIVES && d->exponent <= EXACT_FIVES)
        v = scale(d->digits, (int)d->exponent);
    else
        return false;
    *value = d->negative ? -v : v;
    return true;
}

static bool is_not_finite(const char *p, const char *end) {
    static const char *const names[] = {"inf", "nan", "infinity"};
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((size_t)(end - p) == strlen(names[i]) &&
            strncasecmp(p, names[i], (size_t)(end - p)) == 0)
            return true;
    return false;
}

/* newlocale returns the "C" locale as a constant, without allocating. So there is nothing to keep
 * between calls. */
static number_kind slow_value(const char *start, size_t length, double *value) {
    char copy[NUMBER_BYTES_MAX + 1];
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0)
        return NUMBER_NONE;
    memcpy(copy, start, length);
    copy[length] = '\0';
    double v = strtod_l(copy, NULL, c_locale);
    freelocale(c_locale);
    if (!isfinite(v))
        return NUMBER_TOO_LARGE;
    *value = v;
    return NUMBER_OK;
}

number_kind number_parse(const char *start, const char *end, double *value) {
    decimal d;
    if (end - start > NUMBER_BYTES_MAX)
        return NUMBER_NONE;
    if (read_decimal(start, end, &d) != end)
        return is_not_finite(start, end) ? NUMBER_NOT_FINITE : NUMBER_NONE;
    if (quick_value(&d, value))
        return NUMBER_OK;
    return slow_value(start, (size_t)(end - start), value);
}

number_kind number_scan(const char *start, const char *end, const char **stop, double *value) {
    decimal d;
    const char *p = read_decimal(start, end, &d);
    if (p != NULL && (p == end || number_is_separator(*p)) && p - start <= NUMBER_BYTES_MAX &&
        quick_value(&d, value)) {
        *stop = p;
        return NUMBER_OK;
    }
    for (p = start; p < end && !number_is_separator(*p); p++) {
    }
    *stop = p;
    return number_parse(start, p, value);
}

/* ---- rounding ---- */

/* The decimal with this many digits that is nearest to x. */
static double nearest(double x, int digits) {
    char text[64];
    snprintf(text, sizeof text, "%.*e", digits - 1, x);
    return strtod(text, NULL);
}

/* One unit in the last digit of x. */
static double unit_of(double x, int digits) {
    return pow(10, floor(log10(x)) - (digits - 1));
}

double number_round_up(double x, int digits) {
    const double near = nearest(x, digits);
    return near >= x ? near : nearest(near + unit_of(near, digits), digits);
}

double number_round_down(double x, int digits) {
    const double near = nearest(x, digits);
    /* With four digits, 0.99996 is nearest to 1, and goes down to 0.9999, not to 0.999: below a
     * power of ten the unit is smaller. */
    return near <= x ? near : nearest(near - unit_of(x, digits), digits);
}
