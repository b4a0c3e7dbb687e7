/* markup.c - writing SVG and HTML: escaped text and numbers, the same in every locale. */
#include "picture/markup.h"

#include "core/status.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <unistr.h>

enum { DIGITS_BYTES = 64 };

static void put_bytes(markup *m, const char *bytes, size_t count) {
    if (m->status == TEM_OK && !core_buffer_add(m->out, bytes, count))
        m->status = core_fail_memory(m->error);
}

void markup_put(markup *m, const char *literal) {
    put_bytes(m, literal, strlen(literal));
}

/* ---- text ---- */

/* Whether XML 1.0 and HTML allow the character in a document. */
static bool is_allowed(ucs4_t c) {
    if (c < 0x20)
        return c == '\t' || c == '\n';
    return (c < 0x7f || c > 0x9f) && (c & 0xfffe) != 0xfffe && (c < 0xfdd0 || c > 0xfdef);
}

/* The character's escape, or NULL if it needs none. */
static const char *escape_of(ucs4_t c) {
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case 0x22: /* a double quote */
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return is_allowed(c) ? NULL : "\xef\xbf\xbd";
    }
}

void markup_bytes(markup *m, const char *text, size_t bytes) {
    const uint8_t *at = (const uint8_t *)text;
    while (bytes > 0 && m->status == TEM_OK) {
        ucs4_t c = 0;
        const int valid = u8_mbtoucr(&c, at, bytes);
        const size_t length = valid > 0 ? (size_t)valid : 1;
        const char *escape = valid > 0 ? escape_of(c) : "\xef\xbf\xbd";
        if (escape != NULL)
            markup_put(m, escape);
        else
            put_bytes(m, (const char *)at, length);
        at += length;
        bytes -= length;
    }
}

void markup_text(markup *m, const char *text) {
    markup_bytes(m, text, strlen(text));
}

/* ---- numbers ---- */

/* Writes the digits of `value` before *at, backwards; with commas if `grouped`. */
static char *write_backwards(char *at, uint64_t value, bool grouped) {
    for (int digits = 0; digits == 0 || value > 0; digits++, value /= 10) {
        if (grouped && digits > 0 && digits % 3 == 0)
            *--at = ',';
        *--at = (char)('0' + value % 10);
    }
    return at;
}

const char *markup_grouped(uint64_t count, char room[MARKUP_COUNT_BYTES]) {
    char *end = room + MARKUP_COUNT_BYTES - 1;
    *end = '\0';
    return write_backwards(end, count, true);
}

void markup_count(markup *m, uint64_t count) {
    char room[MARKUP_COUNT_BYTES];
    markup_put(m, markup_grouped(count, room));
}

/* Appends x with exactly `decimals` decimals, or without zeros at its end. printf would take the
 * decimal point from the locale. */
static void put_decimal(markup *m, double x, int decimals, bool grouped, bool keeps_zeros) {
    uint64_t unit = 1;
    for (int i = 0; i < decimals; i++)
        unit *= 10;
    const double size = fabs(x) * (double)unit;
    if (!(size < 9e18)) {
        markup_put(m, x > 0 ? "over 9e18" : "unknown");
        return;
    }
    const uint64_t steps = (uint64_t)llround(size);
    char digits[DIGITS_BYTES], *end = digits + sizeof digits;
    if (x < 0 && steps > 0)
        markup_put(m, "-");
    const char *whole = write_backwards(end, steps / unit, grouped);
    put_bytes(m, whole, (size_t)(end - whole));
    uint64_t part = steps % unit;
    while (!keeps_zeros && decimals > 0 && part % 10 == 0) {
        part /= 10;
        decimals--;
    }
    if (decimals > 0) {
        char *start = write_backwards(end, part, false);
        while (end - start < decimals)
            *--start = '0';
        *--start = '.';
        put_bytes(m, start, (size_t)(end - start));
    }
}

void markup_number(markup *m, double x, int decimals) {
    put_decimal(m, x, decimals, false, false);
}

void markup_fixed(markup *m, double x, int decimals) {
    put_decimal(m, x, decimals, false, true);
}

void markup_digits(markup *m, double x, int digits) {
    int before = 1; /* digits before the point; 0 or less: zeros after it */
    double size = fabs(x);
    for (; size >= 10 && before < 20; before++)
        size /= 10;
    for (; size > 0 && size < 1 && before > -12; before--)
        size *= 10;
    put_decimal(m, x, before < digits ? digits - before : 0, true, false);
}

void markup_percent(markup *m, double probability) {
    const double percent = 100 * probability;
    if (percent > 0 && percent < 0.01)
        markup_put(m, "under 0.01");
    else if (percent < 100 && percent >= 99.995)
        markup_put(m, "over 99.99");
    else
        put_decimal(m, percent,
                    percent >= 100 || percent <= 0  ? 0
                    : percent < 1 || percent > 99.9 ? 2
                    : percent < 10 || percent > 99  ? 1
                                                    : 0,
                    false, true);
    markup_put(m, "\xc2\xa0%"); /* no line may end before the sign */
}
