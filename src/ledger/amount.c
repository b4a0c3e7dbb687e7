/* amount.c - costs as exact decimals. */
#include "ledger/amount.h"

#include "core/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static uint64_t power_of_ten(unsigned exponent) {
    uint64_t power = 1;
    while (exponent-- > 0)
        power *= 10;
    return power;
}

/* Returns number * 10^decimals, rounded down, for number = mantissa * 2^-shift. *remainder receives
 * what rounding left over: 0 nothing, 1 less than a half, 2 a half or more. */
static amount scaled(uint64_t mantissa, unsigned shift, unsigned decimals, unsigned *remainder) {
    const amount product = (amount)mantissa * power_of_ten(decimals); /* below 2^93 */
    *remainder = shift > 0 && mantissa > 0;
    if (shift >= 128) /* then the number is below 2^-75, and the remainder below a half */
        return 0;
    const amount whole = product >> shift, left = product - (whole << shift);
    if (shift == 0 || left == 0)
        *remainder = 0;
    else
        *remainder = left >= (amount)1 << (shift - 1) ? 2 : 1;
    return whole;
}

/* Whether value / 10^decimals, written in decimal, reads as `number`. This does not use strtod,
 * which takes the decimal point from the locale of the process. */
static bool reads_as(amount value, unsigned decimals, double number) {
    char text[AMOUNT_TEXT_BYTES];
    double found = 0;
    const uint64_t power = power_of_ten(decimals);
    const int length =
        snprintf(text, sizeof text, "%" PRIu64 ".%0*" PRIu64 "0", (uint64_t)(value / power),
                 (int)decimals, (uint64_t)(value % power));
    return number_parse(text, text + length, &found) == NUMBER_OK && !(found < number) &&
           !(found > number);
}

bool amount_from_number(double number, amount_rounding rounding, amount *out) {
    if (!(number >= 0 && number <= AMOUNT_NUMBER_MAX))
        return false;
    int exponent = 0;
    unsigned remainder = 0;
    const uint64_t mantissa = (uint64_t)ldexp(frexp(number, &exponent), 53);
    exponent -= 53;
    if (exponent >= 0) { /* a whole number */
        *out = ((amount)mantissa << exponent) * AMOUNT_ONE;
        return true;
    }
    for (unsigned decimals = 0; decimals <= AMOUNT_DECIMALS; decimals++) {
        const amount nearest =
            scaled(mantissa, (unsigned)-exponent, decimals, &remainder) + (remainder == 2);
        if (reads_as(nearest, decimals, number)) {
            *out = nearest * power_of_ten(AMOUNT_DECIMALS - decimals);
            return true;
        }
    }
    const amount below = scaled(mantissa, (unsigned)-exponent, AMOUNT_DECIMALS, &remainder);
    *out = below + (rounding == AMOUNT_UP && remainder > 0);
    return true;
}

double amount_to_number(amount a) {
    return (double)a / (double)AMOUNT_ONE;
}

bool amount_add(amount *sum, amount more) {
    amount total = 0;
    if (__builtin_add_overflow(*sum, more, &total))
        return false;
    *sum = total;
    return true;
}

bool amount_times(amount a, uint64_t count, amount *product) {
    return !__builtin_mul_overflow(a, (amount)count, product);
}

size_t amount_write(amount a, char text[AMOUNT_TEXT_BYTES]) {
    char digits[AMOUNT_TEXT_BYTES];
    size_t start = sizeof digits, size = 0;
    unsigned place = 0;
    bool written = false; /* leaves out zeros at the end of the decimals */
    for (; a > 0 || place <= AMOUNT_DECIMALS; a /= 10, place++) {
        if (place == AMOUNT_DECIMALS && written)
            digits[--start] = '.';
        written |= a % 10 > 0 || place >= AMOUNT_DECIMALS;
        if (written)
            digits[--start] = (char)('0' + (int)(a % 10));
    }
    while (start < sizeof digits)
        text[size++] = digits[start++];
    text[size] = '\0';
    return size;
}

bool amount_read(const char *text, size_t size, amount *a) {
    amount value = 0;
    unsigned decimals = 0;
    bool point = false;
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '.' && !point && i > 0) {
            point = true;
            continue;
        }
        if (text[i] < '0' || text[i] > '9' || decimals == AMOUNT_DECIMALS ||
            __builtin_mul_overflow(value, (amount)10, &value) ||
            __builtin_add_overflow(value, (amount)(text[i] - '0'), &value))
            return false;
        decimals += point;
    }
    const bool zero_first = size > 1 && text[0] == '0' && text[1] != '.';
    const bool zero_last = point && (decimals == 0 || text[size - 1] == '0');
    if (size == 0 || zero_first || zero_last)
        return false;
    return !__builtin_mul_overflow(value, (amount)power_of_ten(AMOUNT_DECIMALS - decimals), a);
}
