/* ascii.h - folding and word boundaries of ASCII: what libunistring gives, faster.
 *
 * tests/unit/test_pieces.c compares the two on every string of up to four characters of
 * each class, and on random ones. */
#ifndef TEXT_ASCII_H
#define TEXT_ASCII_H

#include "text/segment.h"

#include <stdbool.h>

/* How many bytes at the beginning of a text are ASCII. */
size_t ascii_length(const char *text, size_t bytes);

bool ascii_is_all(const char *text, size_t bytes);

bool ascii_is_letter_or_digit(char c);

/* Lower case. */
void ascii_fold(const char *text, size_t bytes, char *folded);

/* The segment of UAX #29 that starts at `start`, in a folded text. The text ends before a NUL, or
 * before a space that follows another character, and ASCII_PADDING bytes may be read from there
 * on: that way nothing has to be compared with the end. Not inlined on purpose: inlined into the
 * loop over a text it took more registers than there are, and 4 % longer. */
enum { ASCII_PADDING = 16 };
segment ascii_segment(const char *text, size_t start);

#endif
