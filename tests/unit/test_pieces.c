/* test_pieces.c - from a text to its pieces, and texts without their tags.
 *
 * Three oracles: libunistring for the ASCII shortcut, the Unicode consortium's own test file for
 * the boundaries, and for the rules above them small vocabularies with the answer written down.
 * The property that privacy rests on, every letter and digit in exactly one word, is asked of
 * every text that any of these tests cuts. */
#include "text/ascii.h"
#include "text/pieces.h"
#include "text/tags.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unicase.h>
#include <unictype.h>
#include <uninorm.h>
#include <unistr.h>
#include <uniwbrk.h>

#include <cmocka.h>

/* splitmix64: the same texts in every run. */
static uint64_t random_state = 1;

static uint64_t random_word(void) {
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static size_t random_below(size_t bound) {
    return (size_t)(random_word() % bound);
}

/* ---- vocabularies ---- */

/* A list of words, NULL at its end. */
static uint32_t find_in_list(const void *vocabulary, const char *word, size_t length) {
    const char *const *words = vocabulary;
    for (uint32_t id = 0; words[id] != NULL; id++)
        if (strlen(words[id]) == length && memcmp(words[id], word, length) == 0)
            return id;
    return TEM_NO_WORD;
}

/* A third of all words there are: random texts then meet every rule, known and unknown. */
static uint32_t find_a_third(const void *vocabulary, const char *word, size_t length) {
    uint32_t hash = 2166136261u;
    (void)vocabulary;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)word[i]) * 16777619u;
    hash ^= hash >> 15;
    return hash % 3 == 0 ? hash % 1000 : TEM_NO_WORD;
}

/* ---- what holds for every text ---- */

static bool is_letter_or_digit(ucs4_t c) {
    return uc_is_general_category(c, UC_CATEGORY_L) || uc_is_general_category(c, UC_CATEGORY_N);
}

static bool is_blank(ucs4_t c) {
    return uc_is_property_white_space(c) || uc_is_general_category(c, UC_CATEGORY_Cc);
}

/* PRIVACY: every letter and digit is in exactly one word; what is in no piece is blank, or the
 * joint of a word that was taken apart. Pieces are in order, apart from each other, not empty, and
 * have the id that the vocabulary gives them. */
static void check_cover(const text_pieces *p) {
    size_t next = 0, at = 0;
    for (size_t i = 0; i <= p->count; i++) {
        const size_t start = i < p->count ? p->pieces[i].start : p->text.size;
        assert_true(start >= next && start <= p->text.size);
        next = i < p->count ? start + p->pieces[i].length : start;
        assert_true(i == p->count || (next > start && next <= p->text.size));
        bool letters = false;
        while (at < next) {
            ucs4_t c = 0;
            const bool outside = at < start;
            at += (size_t)u8_mbtouc(&c, (const uint8_t *)p->text.data + at, p->text.size - at);
            letters |= !outside && is_letter_or_digit(c);
            if (outside)
                assert_true(is_blank(c) || (c < 0x80 && !is_letter_or_digit(c)));
            assert_true(!outside || at <= start); /* no piece begins within a character */
        }
        assert_int_equal(at, next);
        if (i == p->count)
            break;
        assert_true(p->pieces[i].word || !letters);
        assert_int_equal(p->pieces[i].id,
                         p->find(p->vocabulary, p->text.data + start, next - start));
    }
}

/* The folded text, from libunistring alone. */
static void check_folding(const text_pieces *p, const char *text, size_t bytes) {
    size_t normal_bytes = 0, folded_bytes = 0, at = 0;
    if (bytes == 0) {
        assert_int_equal(p->text.size, 0);
        return;
    }
    uint8_t *normal = u8_normalize(UNINORM_NFC, (const uint8_t *)text, bytes, NULL, &normal_bytes);
    uint8_t *folded = u8_casefold(normal, normal_bytes, NULL, UNINORM_NFC, NULL, &folded_bytes);
    assert_non_null(folded);
    for (size_t i = 0; i < folded_bytes; at++) {
        const bool quote = i + 2 < folded_bytes && memcmp(folded + i, "\u2019", 3) == 0;
        assert_true(at < p->text.size);
        assert_int_equal((unsigned char)p->text.data[at], quote ? '\'' : folded[i]);
        i += quote ? 3 : 1;
    }
    assert_int_equal(at, p->text.size);
    free(normal);
    free(folded);
}

static void cut(text_pieces *p, const char *text, size_t bytes) {
    assert_int_equal(text_pieces_cut(p, text, bytes, NULL), TEM_OK);
    check_cover(p);
}

/* ---- the shortcut for ASCII ---- */

static void check_equal(text_pieces *fast, text_pieces *slow, const char *text, size_t bytes) {
    cut(fast, text, bytes);
    assert_int_equal(text_pieces_cut_unicode(slow, text, bytes, NULL), TEM_OK);
    assert_int_equal(fast->text.size, slow->text.size);
    assert_int_equal(fast->count, slow->count);
    if (bytes == 0)
        return;
    assert_memory_equal(fast->text.data, slow->text.data, bytes);
    assert_memory_equal(fast->breaks.data, slow->breaks.data, bytes);
    for (size_t i = 0; i < fast->count; i++) {
        const text_piece *a = &fast->pieces[i], *b = &slow->pieces[i];
        assert_true(a->start == b->start && a->length == b->length && a->id == b->id &&
                    a->word == b->word);
    }
}

/* One or more of each class; n, t and s for the Penn Treebank. */
static const char ascii_classes[] = "aBnts7_:,;.'\"- \t\r\n\0#\x7f";
enum { ASCII_CLASSES = sizeof ascii_classes - 1, SHORT_TEXT = 4 };

static void test_ascii_short(void **state) {
    (void)state;
    text_pieces fast, slow;
    text_pieces_init(&fast, find_a_third, NULL);
    text_pieces_init(&slow, find_a_third, NULL);
    size_t total = 1;
    for (size_t length = 0; length <= SHORT_TEXT; length++, total *= ASCII_CLASSES)
        for (size_t number = 0; number < total; number++) {
            char text[SHORT_TEXT];
            for (size_t i = 0, rest = number; i < length; i++, rest /= ASCII_CLASSES)
                text[i] = ascii_classes[rest % ASCII_CLASSES];
            check_equal(&fast, &slow, text, length);
        }
    text_pieces_free(&fast);
    text_pieces_free(&slow);
}

static void test_ascii_random(void **state) {
    (void)state;
    text_pieces fast, slow;
    text_pieces_init(&fast, find_a_third, NULL);
    text_pieces_init(&slow, find_a_third, NULL);
    for (int i = 0; i < 1000000; i++) {
        char text[24];
        const size_t length = SHORT_TEXT + 1 + random_below(sizeof text - SHORT_TEXT);
        const bool any = i % 4 == 0; /* every ASCII character; else mostly what makes words */
        for (size_t k = 0; k < length; k++)
            text[k] = any ? (char)random_below(128) : ascii_classes[random_below(ASCII_CLASSES)];
        check_equal(&fast, &slow, text, length);
    }
    text_pieces_free(&fast);
    text_pieces_free(&slow);
}

/* Every ASCII character alone, and which texts take the shortcut at all. */
static void test_ascii_characters(void **state) {
    (void)state;
    text_pieces fast, slow;
    text_pieces_init(&fast, find_a_third, NULL);
    text_pieces_init(&slow, find_a_third, NULL);
    for (int c = 0; c < 128; c++) {
        const char text[] = {(char)c, 'x', (char)c, (char)c, '1', (char)c, '1'};
        check_equal(&fast, &slow, text, 1);
        check_equal(&fast, &slow, text, sizeof text);
        assert_int_equal(ascii_is_letter_or_digit((char)c), is_letter_or_digit((ucs4_t)c));
    }
    for (size_t bytes = 0; bytes < 40; bytes++)
        for (size_t at = 0; at < bytes; at++) {
            char text[40];
            memset(text, 'a', sizeof text);
            assert_true(ascii_is_all(text, bytes));
            text[at] = (char)0x80;
            assert_false(ascii_is_all(text, bytes));
            assert_true(ascii_is_all(text, at));
        }
    text_pieces_free(&fast);
    text_pieces_free(&slow);
}

/* ---- the boundaries of Unicode ---- */

/* One line of WordBreakTest.txt, "÷ 0001 × 0308 ÷ # ...", ÷ being a boundary. */
typedef struct break_case {
    uint8_t text[256];
    char breaks[256];
    size_t bytes;
} break_case;

static bool read_break_case(const char *line, break_case *c) {
    *c = (break_case){.bytes = 0};
    bool boundary = false;
    for (const char *p = line; *p != '\0' && *p != '#' && *p != '\n';) {
        if (*p == ' ' || *p == '\t') {
            p++;
        } else if (memcmp(p, "\u00f7", 2) == 0 || memcmp(p, "\u00d7", 2) == 0) {
            boundary = memcmp(p, "\u00f7", 2) == 0;
            p += 2;
        } else {
            char *end = NULL;
            const ucs4_t character = (ucs4_t)strtoul(p, &end, 16);
            const int put = u8_uctomb(c->text + c->bytes, character, 8);
            assert_true(end > p && put > 0 && c->bytes + 16 < sizeof c->text);
            c->breaks[c->bytes] = boundary;
            c->bytes += (size_t)put;
            p = end;
        }
    }
    return c->bytes > 0;
}

/* Through tem where folding leaves the text as it is; the texts that it changes (capital letters,
 * mostly) have boundaries at other bytes and are compared with libunistring itself, so that at
 * least the library is known to be right about them. */
static void check_break_case(text_pieces *p, const break_case *c, unsigned *through_tem) {
    char direct[256];
    assert_int_equal(text_pieces_cut_unicode(p, (const char *)c->text, c->bytes, NULL), TEM_OK);
    check_cover(p);
    const bool same = p->text.size == c->bytes && memcmp(p->text.data, c->text, c->bytes) == 0;
    if (!same)
        u8_wordbreaks(c->text, c->bytes, direct);
    assert_memory_equal(same ? p->breaks.data : direct, c->breaks, c->bytes);
    *through_tem += same;
}

static void test_unicode_vectors(void **state) {
    (void)state;
    FILE *file = fopen("/usr/share/unicode/auxiliary/WordBreakTest.txt", "r");
    if (file == NULL) {
        print_message("skipped: WordBreakTest.txt (Debian: unicode-data) is not here\n");
        skip();
    }
    char line[4096];
    unsigned lines = 0, through_tem = 0;
    break_case c;
    text_pieces p;
    text_pieces_init(&p, find_a_third, NULL);
    while (fgets(line, sizeof line, file) != NULL)
        if (read_break_case(line, &c)) {
            lines++;
            check_break_case(&p, &c, &through_tem);
        }
    fclose(file);
    text_pieces_free(&p);
    assert_true(lines > 1500 && through_tem > 1000);
}
