/* markup.h - writing SVG and HTML: escaped text and numbers, the same in every locale.
 *
 * Nothing reaches the output but literals of this program, escaped text and numbers. The first
 * failure stays in `status`; later calls do nothing. */
#ifndef PICTURE_MARKUP_H
#define PICTURE_MARKUP_H

#include "core/buffer.h"
#include "tem.h"

typedef struct markup {
    core_buffer *out;
    tem_status status;
    tem_error *error;
} markup;

/* Appends markup as it is. Only for literals of this program. */
void markup_put(markup *m, const char *literal);

/* Appends text of others, escaped for elements and for attributes in double quotes. U+FFFD replaces
 * characters that XML forbids and bytes that are not UTF-8. markup_text takes a string. */
void markup_bytes(markup *m, const char *text, size_t bytes);
void markup_text(markup *m, const char *text);

/* Appends x with at most this many decimals (0 to 6), without zeros at its end. */
void markup_number(markup *m, double x, int decimals);

/* Appends x with exactly this many decimals. */
void markup_fixed(markup *m, double x, int decimals);

/* Appends x with this many significant digits (1 to 15) as people write it: "0.0012", "13,560". */
void markup_digits(markup *m, double x, int digits);

/* Appends a count with a comma between thousands; markup_grouped returns it as a string in room. */
enum { MARKUP_COUNT_BYTES = 28 };
void markup_count(markup *m, uint64_t count);
const char *markup_grouped(uint64_t count, char room[MARKUP_COUNT_BYTES]);

/* Appends a probability as a percentage: "12 %", "0.31 %", "under 0.01 %", with a no-break
 * space. It says 0 % and 100 %
 * only where they are exact. */
void markup_percent(markup *m, double probability);

#endif
