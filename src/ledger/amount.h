/* amount.h - what is spent, as exact decimals.
 *
 * An amount is a whole number of steps of 10^-12 in 128 bits. Sums of amounts and products
 * with a number of words are exact, so a budget can be reached to the last digit: ten words
 * at epsilon 0.1 cost 1, which they do not in binary floating point. */
#ifndef LEDGER_AMOUNT_H
#define LEDGER_AMOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 amount;

enum { AMOUNT_DECIMALS = 12, AMOUNT_TEXT_BYTES = 48 };

/* One, and the most that can be taken from a double: 2^64 words at the largest epsilon, about
 * 2^23, stay below it, and so do sums of a few of these below 2^128. */
#define AMOUNT_ONE ((amount)1000000000000u)
#define AMOUNT_NUMBER_MAX 1e25

typedef enum amount_rounding { AMOUNT_UP, AMOUNT_DOWN } amount_rounding;

/* The amount that a number means: the shortest decimal that reads as this double if it has at
 * most 12 decimals (0.1 is a tenth, as it was typed), else the double's exact value, rounded. false
 * if it is negative, not a number or above AMOUNT_NUMBER_MAX. */
bool amount_from_number(double number, amount_rounding rounding, amount *out);

/* The nearest double, to within two roundings. For showing. */
double amount_to_number(amount a);

/* *sum += more; false, and nothing changed, if it does not fit. */
bool amount_add(amount *sum, amount more);

/* *product = a * count; false if it does not fit. */
bool amount_times(amount a, uint64_t count, amount *product);

/* In decimal, without needless zeros ("39", "0.3"), NUL-terminated; returns its length. */
size_t amount_write(amount a, char text[AMOUNT_TEXT_BYTES]);

/* The whole of a text as amount_write writes it; false for any other. */
bool amount_read(const char *text, size_t size, amount *a);

#endif
