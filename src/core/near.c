/* near.c - the distance of Damerau and Levenshtein, in which no letter moves twice. */
#include "core/near.h"

#include <stdbool.h>
#include <string.h>

enum { LONGEST = 64, MOST = 3 };

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_same(char a, char b) {
    return lower(a) == lower(b);
}

static unsigned least(unsigned a, unsigned b) {
    return a < b ? a : b;
}

static bool begins_with(const char *name, size_t bytes, const char *typed, size_t typed_bytes) {
    for (size_t i = 0; i < typed_bytes; i++)
        if (i == bytes || !is_same(name[i], typed[i]))
            return false;
    return typed_bytes >= 3;
}

/* rows[i % 3][j]: the edits that make the first j bytes of b from the first i bytes of a. */
static unsigned count_edits(const char *a, size_t a_bytes, const char *b, size_t b_bytes) {
    unsigned rows[3][LONGEST + 1];
    for (size_t j = 0; j <= b_bytes; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= a_bytes; i++) {
        unsigned *row = rows[i % 3];
        const unsigned *before = rows[(i + 2) % 3], *two_before = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_bytes; j++) {
            row[j] = least(least(before[j], row[j - 1]) + 1,
                           before[j - 1] + !is_same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) && is_same(a[i - 2], b[j - 1]))
                row[j] = least(row[j], two_before[j - 2] + 1);
        }
    }
    return rows[a_bytes % 3][b_bytes];
}

unsigned near_edits(const char *typed, size_t typed_bytes, const char *name, size_t name_bytes) {
    if (typed_bytes == 0 || name_bytes == 0 || typed_bytes > LONGEST || name_bytes > LONGEST)
        return NEAR_NOT;
    const unsigned edits = count_edits(typed, typed_bytes, name, name_bytes);
    const unsigned longest = (unsigned)(typed_bytes > name_bytes ? typed_bytes : name_bytes);
    if (edits <= least((longest + 1) / 3, MOST))
        return edits;
    return begins_with(name, name_bytes, typed, typed_bytes) ? 1 : NEAR_NOT;
}
