/* pieces.h - from a text to the pieces that a mechanism replaces.
 *
 *  1. The text, UTF-8, is taken to NFC and case-folded; U+2019 becomes an apostrophe.
 *  2. It is cut at the word boundaries of Unicode (UAX #29). White space and control
 *     characters are left out: any run of them divides as any other does. What has a letter
 *     or a digit is a word, everything else punctuation.
 *  3. Words joined by single hyphens are one word if the vocabulary has it.
 *  4. Otherwise each part stands for itself: whole if the vocabulary has it; else, where
 *     it has an apostrophe, as the pieces of the Penn Treebank ("do" "n't", "it" "'s") if
 *     the vocabulary has all of them; else as its runs of letters and digits ("don" "t").
 *     A part without apostrophe stays whole.
 *
 * The vocabulary decides, since embeddings were tokenised in different ways. A piece that
 * it does not have is a word all the same, with the id TEM_NO_WORD.
 *
 * PRIVACY: every letter and digit of the text is in exactly one piece that is a word
 * (tests/unit/test_pieces.c), so nothing can pass a mechanism by. No piece has white space or a
 * control character in it, so no policy can release one. */
#ifndef TEXT_PIECES_H
#define TEXT_PIECES_H

#include "core/buffer.h"
#include "text/recent.h"

#include <stdbool.h>

/* A document may be this large; offsets are 32 bits. */
enum { TEXT_BYTES_MAX = 1 << 30 };

typedef struct text_piece {
    uint32_t start, length; /* in text_pieces.text.data */
    uint32_t id;            /* TEM_NO_WORD: not in the vocabulary */
    bool word;              /* else punctuation */
} text_piece;

/* The pieces of one text after the other; memory is kept between them. */
typedef struct text_pieces {
    text_find *find;
    const void *vocabulary;

    core_buffer text;    /* folded */
    core_buffer breaks;  /* for each byte of text, whether a segment starts there */
    recent_word *recent; /* NULL while so little was cut that it would not pay */
    size_t bytes_cut;    /* so far, up to where it pays */
    text_piece *pieces;
    size_t count, capacity;
} text_pieces;

void text_pieces_init(text_pieces *p, text_find *find, const void *vocabulary);
void text_pieces_free(text_pieces *p);

/* What every text must be: TEM_ERR_FORMAT with `byte` set if it is not UTF-8, TEM_ERR_RANGE if it
 * is larger than TEXT_BYTES_MAX, before a byte of it is read. */
tem_status text_check(const char *text, size_t bytes, tem_error *error);

/* Cuts a text into p->pieces. TEM_ERR_FORMAT with `byte` set if it is not UTF-8,
 * TEM_ERR_RANGE if it is larger than TEXT_BYTES_MAX, TEM_ERR_MEMORY. */
tem_status text_pieces_cut(text_pieces *p, const char *text, size_t bytes, tem_error *error);

/* The same without the shortcuts for ASCII, for tests. */
tem_status text_pieces_cut_unicode(text_pieces *p, const char *text, size_t bytes,
                                   tem_error *error);

#endif
