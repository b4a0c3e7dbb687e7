/* ascii.h - folding and word boundaries of ASCII: what libunistring gives, faster.
 *
 * tests/unit/test_pieces.c compares the two on every string of up to four characters of
 * each class, and on random ones. */
#ifndef TEXT_ASCII_H
#define TEXT_ASCII_H

#include <stdbool.h>
#include <stddef.h>

bool ascii_is_all(const char *text, size_t bytes);

bool ascii_is_letter_or_digit(char c);

/* Lower case. */
void ascii_fold(const char *text, size_t bytes, char *folded);

/* breaks[i] = 1 where UAX #29 has a word boundary before byte i, else 0. */
void ascii_breaks(const char *text, size_t bytes, char *breaks);

#endif
