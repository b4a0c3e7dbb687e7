/* pieces.h - cuts a text into the pieces that a mechanism replaces.
 *
 *  1. tem folds the text, which is UTF-8: to NFC and to one case. U+2019 becomes an apostrophe, and
 *     U+202F a space.
 *  2. tem cuts the text at the word boundaries of Unicode (UAX #29). It leaves out white space and
 *     control characters: every run of them separates pieces in the same way. A segment with a
 *     letter or a digit is a word; every other segment is punctuation.
 *  3. Words joined by single hyphens are one word if the vocabulary has it.
 *  4. Otherwise each part is handled by itself. It stays whole if the vocabulary has it, or if it
 *     has no apostrophe. Else it becomes the pieces of the Penn Treebank ("do" "n't", "it" "'s") if
 *     the vocabulary has all of them. Else it becomes its runs of letters and digits ("don" "t").
 *
 * The vocabulary decides, since embeddings were tokenized in different ways. A word that the
 * vocabulary does not have is a piece all the same, with the id TEM_NO_WORD.
 *
 * tem folds and cuts a text one window at a time, as a rule 32 KiB. So even a huge text takes only
 * the memory of one window here, and the caller can ask between windows whether to go on. The
 * pieces are those of the whole text, wherever its windows end (tests/unit/test_pieces.c).
 *
 * PRIVACY: every letter and digit of the text is in exactly one piece that is a word
 * (tests/unit/test_pieces.c), so nothing can bypass a mechanism. No piece has white space or a
 * control character in it, so no policy can release one. */
#ifndef TEXT_PIECES_H
#define TEXT_PIECES_H

#include "core/buffer.h"
#include "text/recent.h"

#include <stdbool.h>

enum {
    TEXT_BYTES_MAX = 1 << 30,       /* the largest document; offsets have 32 bits */
    TEXT_WORD_BYTES_MAX = 16 << 20, /* largest undivided part: a word, or words joined by hyphens */
    TEXT_MARKS_BYTES_MAX = 1 << 20  /* the longest run of combining marks */
};

typedef struct text_piece {
    uint32_t start, length; /* in text_pieces.text.data */
    uint32_t id;            /* TEM_NO_WORD: not in the vocabulary */
    bool word;              /* false: punctuation */
} text_piece;

/* Cuts one text after the other, and keeps its memory between them. */
typedef struct text_pieces {
    text_find *find;
    const void *vocabulary;
    size_t window; /* bytes of text to fold at a time; tests choose other numbers */

    const char *rest; /* the part of the text that is not folded yet */
    size_t rest_bytes;
    size_t done; /* bytes of the text before the rest */

    core_buffer text;    /* folded: the text of p->pieces, then what is not cut yet */
    size_t cut;          /* bytes of `text` that p->pieces were made from */
    core_buffer breaks;  /* for each byte of `text`, whether a segment starts there */
    recent_word *recent; /* NULL until enough text came for the cache to pay */
    size_t bytes_cut;    /* bytes of all texts so far, until `recent` is made */
    text_piece *pieces;
    size_t count, capacity;
} text_pieces;

void text_pieces_init(text_pieces *p, text_find *find, const void *vocabulary);
void text_pieces_free(text_pieces *p);

/* Checks a text. TEM_ERR_FORMAT with `byte` set if it is not UTF-8. TEM_ERR_RANGE if it is larger
 * than TEXT_BYTES_MAX; then no byte of it was read. */
tem_status text_check(const char *text, size_t bytes, tem_error *error);

/* Begins a text. It must stay where it is until all its windows are cut. TEM_ERR_RANGE if it is
 * larger than TEXT_BYTES_MAX, TEM_ERR_MEMORY. */
tem_status text_pieces_begin(text_pieces *p, const char *text, size_t bytes, tem_error *error);

/* Cuts the next window into p->pieces, which stay until the next call. A window may have no piece.
 * Call it only while p->rest_bytes is not 0. Takes some milliseconds at most. Fails as
 * text_pieces_next does. */
tem_status text_pieces_window(text_pieces *p, tem_error *error);

/* The same for the next window that has pieces. p->count is 0 if there is none. TEM_ERR_FORMAT with
 * `byte` set if the text is not UTF-8, TEM_ERR_RANGE for a word or a run of marks beyond the limits
 * above, TEM_ERR_MEMORY. */
tem_status text_pieces_next(text_pieces *p, tem_error *error);

/* Cuts a whole text into p->pieces at once: for words, and for tests. The limits on words and marks
 * do not apply. Otherwise fails as text_pieces_begin and text_pieces_next do. */
tem_status text_pieces_cut(text_pieces *p, const char *text, size_t bytes, tem_error *error);

/* Whether a text may be divided before this character and folded, or composed, part by part. */
bool text_folds_apart(uint32_t character);

/* text_pieces_cut without the shortcuts for ASCII, for tests. */
tem_status text_pieces_cut_unicode(text_pieces *p, const char *text, size_t bytes,
                                   tem_error *error);

#endif
