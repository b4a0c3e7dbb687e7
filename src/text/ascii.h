/* ascii.h - folds ASCII and finds its word boundaries: the results of libunistring, faster.
 *
 * tests/unit/test_pieces.c compares the two on every string of up to four characters, taken from a
 * set with characters of each class, and on random strings. */
#ifndef TEXT_ASCII_H
#define TEXT_ASCII_H

#include "text/segment.h"

#include <stdbool.h>

/* Returns how many bytes at the beginning of a text are ASCII. */
size_t ascii_length(const char *text, size_t bytes);

bool ascii_is_all(const char *text, size_t bytes);

bool ascii_is_letter_or_digit(char c);

/* Writes the lower-case form of an ASCII text to folded, which has room for `bytes`. */
void ascii_fold(const char *text, size_t bytes, char *folded);

/* Returns the segment of UAX #29 that starts at `start` in a folded text. The text must end before
 * a NUL, or before a space that follows another character, and ASCII_PADDING bytes from its end on
 * must be readable: so nothing has to be compared with the end. Not inlined on purpose: inlined
 * into the loop over a text it needed more registers than there are, and took 4 % longer. */
enum { ASCII_PADDING = 16 };
segment ascii_segment(const char *text, size_t start);

#endif
