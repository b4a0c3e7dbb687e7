/* amount.h - costs as exact decimals.
 *
 * An amount is a whole number of steps of 10^-12 in 128 bits. Sums of amounts and products with a
 * number of words are exact, so a run can use a budget to the last digit: ten words at epsilon 0.1
 * cost 1, which is not so in binary floating point. */
#ifndef LEDGER_AMOUNT_H
#define LEDGER_AMOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 amount;

enum { AMOUNT_DECIMALS = 12, AMOUNT_TEXT_BYTES = 48 };

/* AMOUNT_ONE is the number 1. AMOUNT_NUMBER_MAX is the largest double that amount_from_number
 * takes: 10^37 steps, so that a sum of 34 such amounts is still below 2^128. The cost of 2^64 words
 * at the largest epsilon, about 2^23, is below 2^128 steps, too. */
#define AMOUNT_ONE ((amount)1000000000000u)
#define AMOUNT_NUMBER_MAX 1e25

typedef enum amount_rounding { AMOUNT_UP, AMOUNT_DOWN } amount_rounding;

/* Converts a double to the amount that the user meant: the shortest decimal that reads as this
 * double, if it has at most 12 decimals (0.1 is a tenth, as it was typed); otherwise the exact
 * value of the double, rounded. Returns false if the number is negative, NaN or above
 * AMOUNT_NUMBER_MAX. */
bool amount_from_number(double number, amount_rounding rounding, amount *out);

/* Returns the nearest double, to within two roundings. Only for display. */
double amount_to_number(amount a);

/* *sum += more. Returns false, and changes nothing, if the sum does not fit. */
bool amount_add(amount *sum, amount more);

/* *product = a * count. Returns false if it does not fit; then *product is no valid amount. */
bool amount_times(amount a, uint64_t count, amount *product);

/* Writes an amount in decimal, without needless zeros ("39", "0.3"), NUL-terminated. Returns the
 * length of the text. */
size_t amount_write(amount a, char text[AMOUNT_TEXT_BYTES]);

/* Reads a whole text that has the form of amount_write. Returns false for any other text. */
bool amount_read(const char *text, size_t size, amount *a);

#endif
