/* fuzz_pieces.c - any bytes as a text to split into pieces.
 *
 * tem must refuse a text that is not UTF-8. In any other text, every letter and digit is in exactly
 * one piece that is a word, no piece has white space in it, and pieces are in order and do not
 * overlap. The shortcuts for ASCII and for words that repeat must give the same pieces as
 * libunistring and the vocabulary. */
#include "target.h"

#include "text/pieces.h"
#include "text/tags.h"

#include <stdlib.h>
#include <string.h>
#include <unictype.h>
#include <unistr.h>

static void require(bool holds) {
    if (!holds)
        abort();
}

/* The hash of a word, under a key from the input, decides whether the word is known. So every rule
 * that asks the vocabulary is tested both ways. */
static uint32_t find(const void *vocabulary, const char *word, size_t length) {
    uint32_t hash = 2166136261u ^ *(const uint8_t *)vocabulary;
    require(length > 0 && length <= TEM_WORD_BYTES_MAX);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)word[i]) * 16777619u;
    return (hash >> 13) % 3 == 0 ? hash >> 8 : TEM_NO_WORD;
}

static bool is_letter_or_digit(ucs4_t c) {
    return uc_is_property_alphabetic(c) || uc_is_general_category(c, UC_CATEGORY_L) ||
           uc_is_general_category(c, UC_CATEGORY_N) || uc_is_general_category(c, UC_CATEGORY_Co) ||
           uc_is_general_category(c, UC_CATEGORY_Cn);
}

static bool is_blank(ucs4_t c) {
    return uc_is_property_white_space(c) || uc_is_general_category(c, UC_CATEGORY_Cc);
}

static void check_order(const text_pieces *p) {
    size_t next = 0;
    for (size_t i = 0; i < p->count; i++) {
        const text_piece *piece = &p->pieces[i];
        require(piece->start >= next && piece->length > 0);
        next = (size_t)piece->start + piece->length;
        require(next <= p->text.size);
    }
}

/* Relies on the order of the pieces. */
static void check_letters(const text_pieces *p) {
    size_t i = 0;
    for (size_t at = 0; at < p->text.size;) {
        ucs4_t c = 0;
        const uint8_t *text = (const uint8_t *)p->text.data;
        const size_t bytes = (size_t)u8_mbtouc(&c, text + at, p->text.size - at);
        while (i < p->count && at >= (size_t)p->pieces[i].start + p->pieces[i].length)
            i++;
        const bool inside = i < p->count && at >= p->pieces[i].start;
        if (is_letter_or_digit(c))
            require(inside && p->pieces[i].word &&
                    at + bytes <= (size_t)p->pieces[i].start + p->pieces[i].length);
        require(!inside || !is_blank(c));
        at += bytes;
    }
}

static void compare(const text_pieces *a, const text_pieces *b) {
    require(a->text.size == b->text.size && a->count == b->count);
    require(a->text.size == 0 || memcmp(a->text.data, b->text.data, a->text.size) == 0);
    for (size_t i = 0; i < a->count; i++) {
        const text_piece *x = &a->pieces[i], *y = &b->pieces[i];
        require(x->start == y->start && x->length == y->length && x->id == y->id &&
                x->word == y->word);
    }
}

/* Checks that a window of a few bytes at a time gives the same pieces. */
static void compare_windows(text_pieces *p, const text_pieces *whole, const char *text,
                            size_t bytes) {
    size_t count = 0;
    require(text_pieces_begin(p, text, bytes, NULL) == TEM_OK);
    do {
        require(text_pieces_next(p, NULL) == TEM_OK);
        require(count + p->count <= whole->count);
        for (size_t i = 0; i < p->count; i++, count++) {
            const text_piece *x = &p->pieces[i], *y = &whole->pieces[count];
            require(x->length == y->length && x->id == y->id && x->word == y->word &&
                    memcmp(p->text.data + x->start, whole->text.data + y->start, x->length) == 0);
        }
    } while (p->count > 0);
    require(count == whole->count);
}

static void check_tags(const char *text, size_t size) {
    char *out = malloc(size + 1);
    if (out == NULL)
        return;
    const size_t bytes = size == 0 ? 0 : tags_strip(text, size, out);
    require(bytes <= size);
    require(memchr(text, '<', size) != NULL || memcmp(text, out, bytes) == 0);
    free(out);
}

/* The first byte is the key of the vocabulary and the window size; the rest is the text. */
bool fuzz_input(const uint8_t *data, size_t size) {
    if (size < 2)
        return false;
    const char *text = (const char *)data + 1;
    const size_t bytes = size - 1;
    const bool valid = u8_check(data + 1, bytes) == NULL;
    text_pieces fast, slow;
    text_pieces_init(&fast, find, data);
    text_pieces_init(&slow, find, data);
    fast.recent = recent_new(); /* as after about 16 kB; NULL (no memory) is allowed */
    require((text_pieces_cut(&fast, text, bytes, NULL) == TEM_OK) == valid);
    require((text_pieces_cut_unicode(&slow, text, bytes, NULL) == TEM_OK) == valid);
    if (valid) {
        check_order(&fast);
        check_letters(&fast);
        compare(&fast, &slow);
        fast.window = 1 + data[0] % 32;
        compare_windows(&fast, &slow, text, bytes);
    }
    check_tags(text, bytes);
    text_pieces_free(&fast);
    text_pieces_free(&slow);
    return valid;
}
