/* ascii.c - folding and word boundaries of ASCII. */
#include "text/ascii.h"

#include <stdint.h>
#include <string.h>

/* The word break properties that occur in ASCII (UAX #29, table 3). */
typedef enum break_class {
    OTHER,
    LETTER,
    DIGIT,
    CONNECTOR,  /* ExtendNumLet: _ */
    MID_LETTER, /* MidLetter: : */
    MID_DIGIT,  /* MidNum: , ; */
    MID_EITHER, /* MidNumLet and Single_Quote: . ' */
    SPACE,      /* WSegSpace */
    CR,
    LF
} break_class;

static break_class class_of(char c) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
        return LETTER;
    if (c >= '0' && c <= '9')
        return DIGIT;
    switch (c) {
    case '_':
        return CONNECTOR;
    case ':':
        return MID_LETTER;
    case ',':
    case ';':
        return MID_DIGIT;
    case '.':
    case '\'':
        return MID_EITHER;
    case ' ':
        return SPACE;
    case '\r':
        return CR;
    case '\n':
        return LF;
    default:
        return OTHER;
    }
}

bool ascii_is_all(const char *text, size_t bytes) {
    uint64_t all = 0, word = 0;
    size_t i = 0;
    for (; i + sizeof word <= bytes; i += sizeof word) {
        memcpy(&word, text + i, sizeof word);
        all |= word;
    }
    for (; i < bytes; i++)
        all |= (unsigned char)text[i];
    return (all & 0x8080808080808080u) == 0;
}

bool ascii_is_letter_or_digit(char c) {
    const break_class k = class_of(c);
    return k == LETTER || k == DIGIT;
}

void ascii_fold(const char *text, size_t bytes, char *folded) {
    for (size_t i = 0; i < bytes; i++) {
        const bool upper = text[i] >= 'A' && text[i] <= 'Z';
        folded[i] = (char)(text[i] + (upper ? 'a' - 'A' : 0));
    }
}

/* Whether a and b stay together with `middle` between them (WB6, WB7, WB11, WB12). */
static bool joins(break_class a, break_class middle, break_class b) {
    if (a == LETTER && b == LETTER)
        return middle == MID_LETTER || middle == MID_EITHER;
    if (a == DIGIT && b == DIGIT)
        return middle == MID_DIGIT || middle == MID_EITHER;
    return false;
}

/* Whether a and b stay together (WB3, WB3d, WB5, WB8 to WB10, WB13). */
static bool stays(break_class a, break_class b) {
    const bool a_word = a == LETTER || a == DIGIT || a == CONNECTOR;
    const bool b_word = b == LETTER || b == DIGIT || b == CONNECTOR;
    return (a_word && b_word) || (a == SPACE && b == SPACE) || (a == CR && b == LF);
}

void ascii_breaks(const char *text, size_t bytes, char *breaks) {
    break_class before = OTHER, last = OTHER; /* of the characters at i - 2 and i - 1 */
    for (size_t i = 0; i < bytes; i++) {
        const break_class now = class_of(text[i]);
        const break_class next = i + 1 < bytes ? class_of(text[i + 1]) : OTHER;
        const bool together =
            i > 0 && (stays(last, now) || joins(last, now, next) || joins(before, last, now));
        breaks[i] = (char)!together;
        before = last;
        last = now;
    }
}
