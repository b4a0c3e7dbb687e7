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
 * A text is folded and cut a window at a time, so that a huge one takes no more memory than a page
 * of a book, and whoever reads the pieces can ask in between whether to go on. The pieces are those
 * of the whole text, wherever its windows end (tests/unit/test_pieces.c).
 *
 * PRIVACY: every letter and digit of the text is in exactly one piece that is a word
 * (tests/unit/test_pieces.c), so nothing can pass a mechanism by. No piece has white space or a
 * control character in it, so no policy can release one. */
#ifndef TEXT_PIECES_H
#define TEXT_PIECES_H

#include "core/buffer.h"
#include "text/recent.h"

#include <stdbool.h>

enum {
    TEXT_BYTES_MAX = 1 << 30,       /* of a document; offsets are 32 bits */
    TEXT_WORD_BYTES_MAX = 16 << 20, /* of what must be looked at as one: words joined by hyphens */
    TEXT_MARKS_BYTES_MAX = 1 << 20  /* of marks that follow one another */
};

typedef struct text_piece {
    uint32_t start, length; /* in text_pieces.text.data */
    uint32_t id;            /* TEM_NO_WORD: not in the vocabulary */
    bool word;              /* else punctuation */
} text_piece;

/* The pieces of one text after the other; memory is kept between them. */
typedef struct text_pieces {
    text_find *find;
    const void *vocabulary;
    size_t window; /* bytes of a text that are folded at a time; tests choose others */

    const char *rest; /* of the text, not folded yet */
    size_t rest_bytes;
    size_t done; /* bytes of it before the rest */

    core_buffer text;    /* folded, from the first byte that is not cut yet or of p->pieces */
    size_t cut;          /* bytes of it that p->pieces were made from */
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

/* Begins with a text, which must stay where it is until all its pieces were had. TEM_ERR_RANGE if
 * it is larger than TEXT_BYTES_MAX, TEM_ERR_MEMORY. */
tem_status text_pieces_begin(text_pieces *p, const char *text, size_t bytes, tem_error *error);

/* Cuts the next window into p->pieces, which are gone after the next call; only while p->rest_bytes
 * is not 0. A window may have no piece. Takes some milliseconds at most. Fails as text_pieces_next
 * does. */
tem_status text_pieces_window(text_pieces *p, tem_error *error);

/* The same for the next window that has pieces; p->count 0: there are no more. TEM_ERR_FORMAT with
 * `byte` set if the text is not UTF-8, TEM_ERR_RANGE for a word or marks beyond the limits above,
 * TEM_ERR_MEMORY. */
tem_status text_pieces_next(text_pieces *p, tem_error *error);

/* All pieces of a text at once: for words, and for tests. Fails as the two above do. */
tem_status text_pieces_cut(text_pieces *p, const char *text, size_t bytes, tem_error *error);

/* Whether a text may be divided before this character and folded part by part; for tests. */
bool text_folds_apart(uint32_t character);

/* text_pieces_cut without the shortcuts for ASCII, for tests. */
tem_status text_pieces_cut_unicode(text_pieces *p, const char *text, size_t bytes,
                                   tem_error *error);

#endif
