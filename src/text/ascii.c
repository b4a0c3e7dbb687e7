/* ascii.c - folds ASCII and finds its word boundaries. */
#include "text/ascii.h"

#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "the first of eight characters is the lowest byte of a word");

/* The word break properties of ASCII characters (UAX #29, table 3), and which of them are blank. */
enum {
    OTHER = 0,
    LETTER = 1,
    DIGIT = 2,
    CONNECTOR = 4, /* ExtendNumLet: _ */
    /* No boundary between any two of these, whatever follows (WB5, WB8 to WB10, WB13). */
    OF_WORD = LETTER | DIGIT | CONNECTOR,
    MID_LETTER = 8,                  /* MidLetter: : */
    MID_DIGIT = 16,                  /* MidNum: , ; */
    MIDDLE = MID_LETTER | MID_DIGIT, /* MidNumLet and Single_Quote are both: . ' */
    CONTROL = 32,                    /* blank; breaks as OTHER does, except CR LF */
    SPACE = 64                       /* WSegSpace */
};

/* Indexed by any byte; those beyond ASCII are OTHER. */
/* clang-format off */
#define FIVE(c) c, c, c, c, c
#define TEN(c) FIVE(c), FIVE(c)
static const uint8_t classes[256] = {
    /* 00 */ TEN(CONTROL), TEN(CONTROL), TEN(CONTROL), CONTROL, CONTROL,
    /* ' ' to ' */ SPACE, OTHER, FIVE(OTHER), MIDDLE,
    /* ( to / */ OTHER, OTHER, OTHER, OTHER, MID_DIGIT, OTHER, MIDDLE, OTHER,
    /* 0 to ? */ TEN(DIGIT), MID_LETTER, MID_DIGIT, OTHER, OTHER, OTHER, OTHER,
    /* @ to Z */ OTHER, TEN(LETTER), TEN(LETTER), FIVE(LETTER), LETTER,
    /* [ to _ */ OTHER, OTHER, OTHER, OTHER, CONNECTOR,
    /* ` to z */ OTHER, TEN(LETTER), TEN(LETTER), FIVE(LETTER), LETTER,
    /* { to 7f */ OTHER, OTHER, OTHER, OTHER, CONTROL,
};
#undef FIVE
#undef TEN
/* clang-format on */

static unsigned class_of(char c) {
    return classes[(unsigned char)c];
}

static uint64_t load_eight(const char *text) {
    uint64_t eight = 0;
    memcpy(&eight, text, sizeof eight);
    return eight;
}

static const uint64_t ones = 0x0101010101010101u, high_bits = 0x8080808080808080u;

size_t ascii_length(const char *text, size_t bytes) {
    size_t i = 0;
    for (; i + 32 <= bytes; i += 32) {
        const uint64_t any = load_eight(text + i) | load_eight(text + i + 8) |
                             load_eight(text + i + 16) | load_eight(text + i + 24);
        if ((any & high_bits) != 0)
            break;
    }
    while (i < bytes && (unsigned char)text[i] < 0x80)
        i++;
    return i;
}

bool ascii_is_all(const char *text, size_t bytes) {
    return ascii_length(text, bytes) == bytes;
}

bool ascii_is_letter_or_digit(char c) {
    return (class_of(c) & (LETTER | DIGIT)) != 0;
}

void ascii_fold(const char *text, size_t bytes, char *folded) {
    for (size_t i = 0; i < bytes; i++) {
        const bool upper = text[i] >= 'A' && text[i] <= 'Z';
        folded[i] = (char)(text[i] + (upper ? 'a' - 'A' : 0));
    }
}

/* Whether a and b stay together with `middle` between them (WB6, WB7, WB11, WB12). */
static bool joins(unsigned a, unsigned middle, unsigned b) {
    return a == b && ((a == LETTER && (middle & MID_LETTER) != 0) ||
                      (a == DIGIT && (middle & MID_DIGIT) != 0));
}

/* Returns how many of the eight bytes at `text` are lower-case letters, up to the first other byte.
 * In the two sums, the high bit of a byte is set where the byte is at least 'a', and where it is
 * beyond 'z'. A carry out of a byte beyond ASCII spoils only the bytes after it. Most words end
 * within eight letters, and this finds their end without a branch per letter. */
static size_t count_letters(const char *text) {
    const uint64_t eight = load_eight(text);
    const uint64_t at_least_a = eight + ones * (0x80 - 'a');
    const uint64_t beyond_z = eight + ones * (0x7f - 'z');
    const uint64_t others = ~(at_least_a & ~beyond_z) & high_bits;
    return others == 0 ? 8 : (size_t)__builtin_ctzll(others) / 8;
}

/* Returns the end of the segment at `at`, which begins with a letter, a digit or a connector. */
static size_t word_end(const char *text, size_t at) {
    for (;;) {
        size_t letters = 0;
        do {
            letters = count_letters(text + at);
            at += letters;
        } while (letters == 8);
        while ((class_of(text[at]) & OF_WORD) != 0)
            at++;
        const unsigned middle = class_of(text[at]);
        if ((middle & MIDDLE) == 0 ||
            !joins(class_of(text[at - 1]), middle, class_of(text[at + 1])))
            return at;
        at++;
    }
}

/* Connectors alone are not a word. */
static segment_kind kind_of_word(const char *text, size_t start, size_t end) {
    while (start < end && !ascii_is_letter_or_digit(text[start]))
        start++;
    return start < end ? SEGMENT_WORD : SEGMENT_PUNCTUATION;
}

segment ascii_segment(const char *text, size_t start) {
    const unsigned first = class_of(text[start]);
    segment s = {start, start + 1, SEGMENT_PUNCTUATION};
    if ((first & OF_WORD) != 0) {
        s.end = word_end(text, start);
        s.kind = kind_of_word(text, start, s.end);
    } else if (first == SPACE) { /* WB3d */
        while (text[s.end] == ' ')
            s.end++;
        s.kind = SEGMENT_BLANK;
    } else if (first == CONTROL) {
        s.end += text[start] == '\r' && text[s.end] == '\n'; /* WB3 */
        s.kind = SEGMENT_BLANK;
    }
    return s;
}
