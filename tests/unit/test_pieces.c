/* test_pieces.c - splitting a text into pieces, and removing tags.
 *
 * There are three oracles: libunistring for the ASCII shortcuts, the Unicode consortium's own test
 * file for the boundaries, and small vocabularies with known answers for the rules above them.
 * Privacy rests on one property: every letter and digit is in exactly one word. The test checks it
 * for every text that it splits. */
#include "pseudo.h"
#include "slow.h"
#include "text/ascii.h"
#include "text/compose.h"
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

/* ---- vocabularies ---- */

/* A list of words, NULL at its end. */
static uint32_t find_in_list(const void *vocabulary, const char *word, size_t length) {
    const char *const *words = vocabulary;
    for (uint32_t id = 0; words[id] != NULL; id++)
        if (strlen(words[id]) == length && memcmp(words[id], word, length) == 0)
            return id;
    return TEM_NO_WORD;
}

/* A third of all possible words is known: so random texts meet every rule, with known and unknown
 * words. */
static uint32_t find_a_third(const void *vocabulary, const char *word, size_t length) {
    uint32_t hash = 2166136261u;
    (void)vocabulary;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)word[i]) * 16777619u;
    hash ^= hash >> 15;
    return hash % 3 == 0 ? hash % 1000 : TEM_NO_WORD;
}

/* ---- properties of every text ---- */

static bool is_letter_or_digit(ucs4_t c) {
    return uc_is_property_alphabetic(c) || uc_is_general_category(c, UC_CATEGORY_L) ||
           uc_is_general_category(c, UC_CATEGORY_N) || uc_is_general_category(c, UC_CATEGORY_Co) ||
           uc_is_general_category(c, UC_CATEGORY_Cn);
}

static bool is_blank(ucs4_t c) {
    return uc_is_property_white_space(c) || uc_is_general_category(c, UC_CATEGORY_Cc);
}

static size_t read_character(const text_pieces *p, size_t at, ucs4_t *c) {
    return (size_t)u8_mbtouc(c, (const uint8_t *)p->text.data + at, p->text.size - at);
}

/* Whether there is a letter or digit, and whether an apostrophe, from `at` to the next boundary. */
static void look_at_segment(const text_pieces *p, size_t at, bool *letter, bool *apostrophe) {
    *letter = *apostrophe = false;
    do {
        ucs4_t c = 0;
        at += read_character(p, at, &c);
        *letter |= is_letter_or_digit(c);
        *apostrophe |= c == '\'';
    } while (at < p->text.size && !p->breaks.data[at]);
}

/* Whether the character at `at` may be in no piece although it is not blank: a hyphen between two
 * words, or a separator between the parts of a word with an apostrophe. */
static bool is_joint(const text_pieces *p, size_t at, ucs4_t c) {
    bool letter = false, apostrophe = false, after = false;
    size_t start = at;
    while (start > 0 && !p->breaks.data[start])
        start--;
    look_at_segment(p, start, &letter, &apostrophe);
    if (letter && apostrophe && c < 0x80 && !is_letter_or_digit(c))
        return true;
    if (c != '-' || at == 0 || at + 1 == p->text.size)
        return false;
    look_at_segment(p, at + 1, &after, &apostrophe);
    for (start = at - 1; start > 0 && !p->breaks.data[start];)
        start--;
    look_at_segment(p, start, &letter, &apostrophe);
    return letter && after;
}

/* PRIVACY: every letter and digit is in exactly one word; a character in no piece is blank, or a
 * joint of a word that was split. Pieces are in order, disjoint, not empty, without blanks, and
 * have the ids that the vocabulary gives them. */
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
            const size_t bytes = read_character(p, at, &c);
            const bool outside = at < start;
            letters |= !outside && is_letter_or_digit(c);
            if (outside)
                assert_true(is_blank(c) || is_joint(p, at, c));
            else
                assert_false(is_blank(c));
            at += bytes;
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

/* Computes the folded text with libunistring alone. */
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
        const bool space = i + 2 < folded_bytes && memcmp(folded + i, "\u202f", 3) == 0;
        assert_true(at < p->text.size);
        assert_int_equal((unsigned char)p->text.data[at], quote ? '\'' : space ? ' ' : folded[i]);
        i += quote || space ? 3 : 1;
    }
    assert_int_equal(at, p->text.size);
    free(normal);
    free(folded);
}

static void cut(text_pieces *p, const char *text, size_t bytes) {
    assert_int_equal(text_pieces_cut(p, text, bytes, NULL), TEM_OK);
    check_cover(p);
}

/* ---- the shortcuts for ASCII ---- */

static void check_equal(text_pieces *fast, text_pieces *slow, const char *text, size_t bytes) {
    cut(fast, text, bytes);
    assert_int_equal(text_pieces_cut_unicode(slow, text, bytes, NULL), TEM_OK);
    assert_int_equal(fast->text.size, slow->text.size);
    assert_int_equal(fast->count, slow->count);
    if (bytes == 0)
        return;
    assert_memory_equal(fast->text.data, slow->text.data, slow->text.size);
    /* Nobody asks whether a text begins with a boundary: libunistring says no. */
    assert_memory_equal(fast->breaks.data + 1, slow->breaks.data + 1, slow->text.size - 1);
    for (size_t i = 0; i < fast->count; i++) {
        const text_piece *a = &fast->pieces[i], *b = &slow->pieces[i];
        assert_true(a->start == b->start && a->length == b->length && a->id == b->id &&
                    a->word == b->word);
    }
}

/* At least one character of each class; n, t and s for the Penn Treebank. */
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
    for (int i = 0; i < (SLOW ? 200000 : 1000000); i++) {
        char text[24];
        const size_t length = SHORT_TEXT + 1 + random_below(sizeof text - SHORT_TEXT);
        const bool any = i % 4 == 0; /* every ASCII character; otherwise mostly those of words */
        for (size_t k = 0; k < length; k++)
            text[k] = any ? (char)random_below(128) : ascii_classes[random_below(ASCII_CLASSES)];
        check_equal(&fast, &slow, text, length);
    }
    text_pieces_free(&fast);
    text_pieces_free(&slow);
}

/* Every ASCII character alone, and which texts take the shortcut. */
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

/* ---- ASCII and other characters in one text ---- */

/* Cases that the shortcuts must handle next to other characters: at least one character of each
 * class of ASCII; and others that compose with the letter before them, extend anything, join, are
 * blanks that stay with blanks, or fold to ASCII (U+212A to k, U+037E to ;, U+2019 to '). */
static const char *const mixed[] = {
    "a",      "S",      "7",      "_",      ":",      ",",          ".",      "'",
    "\"",     "-",      " ",      "\r",     "\n",     "#",          "\u0301", "\u00e9",
    "\u2019", "\u212a", "\u037e", "\uff9e", "\u200d", "\U0001f468", "\u3000", "\u00ad",
    "\u05d0", "\u00b7", "\u2028", "\u0661", "\u30a2", "\u0130",     "\u03a3", "\U0001f1e6"};
enum { MIXED = sizeof mixed / sizeof *mixed };

static size_t add_mixed(char *text, size_t bytes, size_t which) {
    const size_t length = strlen(mixed[which]);
    memcpy(text + bytes, mixed[which], length);
    return bytes + length;
}

/* Every text of up to four of them. */
static void test_mixed_short(void **state) {
    (void)state;
    text_pieces fast, slow;
    text_pieces_init(&fast, find_a_third, NULL);
    text_pieces_init(&slow, find_a_third, NULL);
    size_t total = 1;
    for (size_t length = 0; length <= SHORT_TEXT; length++, total *= MIXED)
        for (size_t number = 0; number < total; number++) {
            char text[4 * SHORT_TEXT];
            size_t bytes = 0;
            for (size_t i = 0, rest = number; i < length; i++, rest /= MIXED)
                bytes = add_mixed(text, bytes, rest % MIXED);
            check_equal(&fast, &slow, text, bytes);
        }
    text_pieces_free(&fast);
    text_pieces_free(&slow);
}

/* Two of them, a place where a text may be divided, and two more: no rule reaches across. */
static void test_mixed_divided(void **state) {
    (void)state;
    static const char *const divides[] = {"a ", ". ", "- "};
    text_pieces fast, slow;
    text_pieces_init(&fast, find_a_third, NULL);
    text_pieces_init(&slow, find_a_third, NULL);
    const size_t all = (size_t)MIXED * MIXED * MIXED * MIXED;
    for (size_t number = 0; number < all; number += SLOW ? 5 : 1) {
        char text[4 * 4 + 2];
        size_t bytes = add_mixed(text, 0, number % MIXED);
        bytes = add_mixed(text, bytes, number / MIXED % MIXED);
        memcpy(text + bytes, divides[number % 3], 2);
        bytes = add_mixed(text, bytes + 2, number / MIXED / MIXED % MIXED);
        bytes = add_mixed(text, bytes, number / MIXED / MIXED / MIXED);
        check_equal(&fast, &slow, text, bytes);
    }
    text_pieces_free(&fast);
    text_pieces_free(&slow);
}

/* Every character there is, between letters, between spaces, and with a space on one side. In the
 * sanitizer all up to U+3000 and a seventh of the others. */
static void test_mixed_all_characters(void **state) {
    (void)state;
    text_pieces fast, slow;
    text_pieces_init(&fast, find_a_third, NULL);
    text_pieces_init(&slow, find_a_third, NULL);
    for (ucs4_t c = 0; c < 0x110000; c += SLOW && c > 0x3000 ? 7 : 1) {
        uint8_t text[32];
        size_t bytes = 0;
        if (c >= 0xd800 && c < 0xe000)
            c = 0xe000;
        for (size_t i = 0; i < 4; i++) {
            text[bytes++] = (uint8_t)((i < 2 ? 'a' : 'A') + random_below(26));
            if (i % 2 == 1)
                text[bytes++] = ' ';
            bytes += (size_t)u8_uctomb(text + bytes, c, 4);
            if (i > 1)
                text[bytes++] = ' ';
        }
        check_equal(&fast, &slow, (const char *)text, bytes);
    }
    text_pieces_free(&fast);
    text_pieces_free(&slow);
}

/* Realistic lines: words, blanks, and sometimes something else. */
static void test_mixed_random(void **state) {
    (void)state;
    text_pieces fast, slow;
    text_pieces_init(&fast, find_a_third, NULL);
    text_pieces_init(&slow, find_a_third, NULL);
    for (int i = 0; i < (SLOW ? 60000 : 300000); i++) {
        char text[4 * 40];
        size_t bytes = 0;
        const uint64_t ascii = random_below(100);
        for (size_t left = 1 + random_below(40); left > 0; left--) {
            if (random_below(100) < ascii)
                text[bytes++] = "et n7-'. "[random_below(9)];
            else
                bytes = add_mixed(text, bytes, random_below(MIXED));
        }
        check_equal(&fast, &slow, text, bytes);
    }
    text_pieces_free(&fast);
    text_pieces_free(&slow);
}

/* ---- recently looked-up words ---- */

static unsigned asked;

static uint32_t find_and_count(const void *vocabulary, const char *word, size_t length) {
    asked++;
    return find_a_third(vocabulary, word, length);
}

/* Of all lengths around those that are kept, with zeros in them, and with bytes after them that do
 * not belong to them. */
static void test_recent(void **state) {
    (void)state;
    enum { WORDS = 1000000 };
    recent_word *places = recent_new();
    assert_non_null(places);
    asked = 0;
    for (int i = 0; i < WORDS; i++) {
        char word[RECENT_BYTES + 24];
        const size_t length = 1 + random_below(RECENT_BYTES + 8);
        for (size_t k = 0; k < sizeof word; k++)
            word[k] = "\0\xff"
                      "a"[random_below(32) < 30 ? 2 : random_below(2)];
        assert_int_equal(recent_find(places, find_and_count, NULL, word, length),
                         find_a_third(NULL, word, length));
    }
    assert_true(asked < WORDS * 9 / 10);
    recent_free(places);
}

/* If a text is split twice, its words are looked up once. */
static void test_recent_in_texts(void **state) {
    (void)state;
    enum { BYTES = 1 << 16 };
    static char text[BYTES];
    text_pieces p;
    text_pieces_init(&p, find_and_count, NULL);
    for (size_t i = 0; i < BYTES; i++)
        text[i] = i % 8 == 7 ? ' ' : (char)('a' + (i / 8) % 20);
    cut(&p, text, BYTES);
    asked = 0;
    assert_int_equal(text_pieces_cut(&p, text, BYTES, NULL), TEM_OK);
    assert_int_equal(p.count, BYTES / 8);
    assert_true(asked < 20);
    text_pieces_free(&p);
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

/* If folding leaves the text unchanged, the test goes through tem. Texts that folding changes
 * (mostly capital letters) have boundaries at other bytes; they are compared with libunistring
 * itself, so that at least the library is known to be right about them. */
static void check_break_case(text_pieces *p, const break_case *c, unsigned *through_tem) {
    char direct[256];
    assert_int_equal(text_pieces_cut_unicode(p, (const char *)c->text, c->bytes, NULL), TEM_OK);
    check_cover(p);
    const bool same = p->text.size == c->bytes && memcmp(p->text.data, c->text, c->bytes) == 0;
    if (!same)
        u8_wordbreaks(c->text, c->bytes, direct);
    assert_memory_equal((same ? p->breaks.data : direct) + 1, c->breaks + 1, c->bytes - 1);
    *through_tem += same;
}

static void test_unicode_vectors(void **state) {
    (void)state;
    FILE *file = fopen("/usr/share/unicode/auxiliary/WordBreakTest.txt", "r");
    if (file == NULL) {
        print_message("skipped: WordBreakTest.txt (Debian: unicode-data) is not installed\n");
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

/* ---- the rules of pieces.h ---- */

/* Pieces as one string: separated by |, with ? after an unknown word, and ~ before punctuation. */
static void print_pieces(const text_pieces *p, char *out, size_t room) {
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < p->count; i++) {
        const text_piece *piece = &p->pieces[i];
        const int put =
            snprintf(out + used, room - used, "%s%s%.*s%s", i > 0 ? "|" : "",
                     piece->word ? "" : "~", (int)piece->length, p->text.data + piece->start,
                     piece->word && piece->id == TEM_NO_WORD ? "?" : "");
        assert_true(put > 0 && used + (size_t)put < room);
        used += (size_t)put;
    }
}

static void expect_bytes(const char *const *words, const char *text, size_t bytes,
                         const char *wanted) {
    char found[1024];
    text_pieces p;
    text_pieces_init(&p, find_in_list, words);
    cut(&p, text, bytes);
    check_folding(&p, text, bytes);
    print_pieces(&p, found, sizeof found);
    assert_string_equal(found, wanted);
    assert_int_equal(text_pieces_cut_unicode(&p, text, bytes, NULL), TEM_OK);
    check_cover(&p);
    print_pieces(&p, found, sizeof found);
    assert_string_equal(found, wanted);
    text_pieces_free(&p);
}

static void expect(const char *const *words, const char *text, const char *wanted) {
    expect_bytes(words, text, strlen(text), wanted);
}

#define VOCABULARY(...)                                                                            \
    (const char *const[]) {                                                                        \
        __VA_ARGS__, NULL                                                                          \
    }
static const char *const nothing[] = {NULL};

static void test_plain(void **state) {
    (void)state;
    expect(nothing, "", "");
    expect(nothing, " \t\r\n", "");
    expect(VOCABULARY("the", "movie"), "The MOVIE, was", "the|movie|~,|was?");
    expect(nothing, "3.14 1,000 1.a a.1", "3.14?|1,000?|1?|~.|a?|a?|~.|1?");
    expect(VOCABULARY("3.14", "1,000"), "3.14 1,000", "3.14|1,000");
    expect(nothing, "a_b __ u.s.a. x:y", "a_b?|~__|u.s.a?|~.|x:y?");
    expect(VOCABULARY("?!"), "?! ?!", "~?|~!|~?|~!");
}

static void test_hyphens(void **state) {
    (void)state;
    expect(VOCABULARY("well-known", "well"), "Well-Known", "well-known");
    expect(VOCABULARY("well", "known"), "well-known", "well|known");
    expect(nothing, "well-known", "well?|known?");
    expect(VOCABULARY("state-of-the-art"), "state-of-the-art.", "state-of-the-art|~.");
    /* A chain is known as a whole or split completely: no part of it is tried. */
    expect(VOCABULARY("state-of", "the-art", "the"), "state-of-the-art", "state?|of?|the|art?");
    expect(VOCABULARY("e-mail"), "e-mail e-mails", "e-mail|e?|mails?");
    expect(VOCABULARY("a--b"), "a--b", "a?|~-|~-|b?");
    expect(VOCABULARY("-x-", "x-", "-x"), "-x-", "~-|x?|~-");
    expect(nothing, "semi- and", "semi?|~-|and?");
    expect(nothing, "a- b -c", "a?|~-|b?|~-|c?");
    expect(nothing, "a-", "a?|~-");
    expect(nothing, "1-2-3", "1?|2?|3?");
    /* Other hyphens join nothing. */
    expect(VOCABULARY("a\u2010b"), "a\u2010b", "a?|~\u2010|b?");
    /* A halfwidth sound mark is a letter that extends the hyphen before it. */
    expect(nothing, "a-\uff9eb", "a?|\uff9e?|b?");
    expect(nothing, "-\uff9e", "-\uff9e?");
    expect(VOCABULARY("a-\uff9e", "a- \uff9e"), "a- \uff9e", "a?|~-|\uff9e?");
}

static void test_apostrophes(void **state) {
    (void)state;
    expect(VOCABULARY("don't", "do", "n't", "don", "t"), "Don't", "don't");
    expect(VOCABULARY("do", "n't", "don", "t"), "don't", "do|n't");
    expect(VOCABULARY("do", "don", "t"), "don't", "don|t");
    expect(VOCABULARY("n't", "don"), "don't", "don|t?");
    expect(VOCABULARY("it", "'s"), "it\u2019s It's", "it|'s|it|'s");
    expect(VOCABULARY("it's"), "it\u2019s", "it's");
    expect(VOCABULARY("it\u2019s"), "it\u2019s", "it?|s?"); /* no input can reach it */
    expect(VOCABULARY("we", "'re", "'ve", "'ll", "'d", "i", "'m"), "we're we've we'll we'd I'm",
           "we|'re|we|'ve|we|'ll|we|'d|i|'m");
    expect(VOCABULARY("o'neill"), "O'Neill", "o'neill");
    expect(nothing, "O'Neill's", "o?|neill?|s?");
    expect(VOCABULARY("o'neill", "'s"), "O'Neill's", "o'neill|'s");
    expect(VOCABULARY("'tis", "tis"), "'tis", "~'|tis");
    expect(VOCABULARY("dogs", "dogs'"), "dogs' x", "dogs|~'|x?");
    expect(VOCABULARY("n't", "'s"), "n't 's", "n't|~'|s?"); /* a boundary follows a leading ' */
    expect(nothing, "rock-'n'-roll", "rock?|~-|~'|n?|~'|~-|roll?");
    expect(nothing, "rock'n'roll", "rock?|n?|roll?");
    expect(VOCABULARY("x-'s"), "x-'s", "x?|~-|~'|s?");
    expect(VOCABULARY("do", "n't", "x"), "x-don't-x", "x|do|n't|x");
    expect(VOCABULARY("x-don't"), "x-don\u2019t", "x-don't");
    expect(nothing, "a_'b _'_ 'a'", "a_?|~'|b?|~_|~'|~_|~'|a?|~'");
    expect(nothing, "c'e_3.a", "c?|e?|3?|~.|a?");
}

static void test_folding(void **state) {
    (void)state;
    expect(VOCABULARY("caf\u00e9"), "cafe\u0301 CAFE\u0301 caf\u00c9",
           "caf\u00e9|caf\u00e9|caf\u00e9");
    expect(VOCABULARY("strasse", "stra\u00dfe"), "Stra\u00dfe STRA\u1e9eE", "strasse|strasse");
    expect(VOCABULARY("fish"), "\ufb01sh", "fish");
    expect(VOCABULARY("i\u0307"), "\u0130", "i\u0307");
    expect(VOCABULARY("\u03bf\u03b4\u03bf\u03c3"),
           "\u039f\u0394\u039f\u03a3 \u03bf\u03b4\u03bf\u03c2",
           "\u03bf\u03b4\u03bf\u03c3|\u03bf\u03b4\u03bf\u03c3");
    expect(VOCABULARY("k", "\u00e5"), "\u212a \u212b", "k|\u00e5");
    expect(VOCABULARY("\u02bcn"), "\u0149", "\u02bcn");
    /* Folding may leave NFC, so the text is normalized again. */
    expect(VOCABULARY("\u0390"), "\u0390", "\u0390");
}

static void test_scripts(void **state) {
    (void)state;
    expect(nothing, "\u4e2d\u6587", "\u4e2d?|\u6587?");
    expect(VOCABULARY("\ud55c\uad6d"), "\u1112\u1161\u11ab\uad6d", "\ud55c\uad6d");
    expect(nothing, "\u30ab\u30bf\u30ab\u30ca", "\u30ab\u30bf\u30ab\u30ca?");
    expect(nothing, "\u0643\u064e\u062a\u064e\u0628\u064e \u0661\u0662",
           "\u0643\u064e\u062a\u064e\u0628\u064e?|\u0661\u0662?");
    expect(nothing, "\u0e01\u0e31\u0e19", "\u0e01\u0e31?|\u0e19?");
    expect(nothing, "\u05d0\"\u05d1 \u05d0' \u05d0\u2019", "\u05d0\"\u05d1?|\u05d0?|\u05d0?");
    /* Numbers in all their forms are words. */
    expect(nothing, "x\u00b2 \u00bd \u2167 \u3289", "x?|\u00b2?|\u00bd?|\u2177?|\u3289?");
    expect(nothing, "1\ufe0f\u20e3 \U0001d7d9", "1\ufe0f\u20e3?|\U0001d7d9?");
}

/* Families, flags and skin tones are symbols, one piece each. */
static void test_symbols(void **state) {
    (void)state;
    expect(nothing, "\U0001f468\u200d\U0001f469\u200d\U0001f466!",
           "~\U0001f468\u200d\U0001f469\u200d\U0001f466|~!");
    expect(nothing, "\U0001f44d\U0001f3fd", "~\U0001f44d\U0001f3fd");
    expect(nothing, "\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7",
           "~\U0001f1e9\U0001f1ea|~\U0001f1eb\U0001f1f7");
    expect(VOCABULARY("\u24d0"), "\u24b6", "\u24d0");    /* alphabetic, but not a letter */
    expect(nothing, "\ue000 \u0378", "\ue000?|\u0378?"); /* private, unassigned */
    expect(nothing, "\u0301 x", "~\u0301|x?");
    /* A mark extends the blank before it, but the blank is not part of its piece. */
    expect(nothing, " \u0301x", "~\u0301|x?");
    expect(nothing, "\t\u0301x", "~\u0301|x?");
    expect(nothing, "\n\u0301x", "~\u0301|x?");
    expect(nothing, "  \u3000 \u0301x", "~\u0301|x?");
    expect(VOCABULARY("\uff9e"), "a  \uff9e", "a?|\uff9e");
}

static void test_controls(void **state) {
    (void)state;
    expect_bytes(nothing, "a\0b", 3, "a?|b?");
    expect_bytes(nothing, "\0\0", 2, "");
    expect(nothing, "a\x01\x7f\xc2\x85\u2028\u00a0\u3000z", "a?|z?");
    expect(VOCABULARY("a", "z"), "a\u202fz\u202f!", "a|z|~!"); /* UAX #29 has no boundary there */
    expect(nothing, "a\u200bb", "a?|~\u200b|b?");              /* zero width space */
    expect(nothing, "a\u200db\u200cc", "a\u200db\u200cc?");    /* joiners */
    expect(nothing, "mo\u00advie", "mo\u00advie?");            /* soft hyphen */
    expect(nothing, "\ufeffmo\ufeffvie", "~\ufeff|mo\ufeffvie?");
    expect(nothing, "a\r\nb\rc\nd", "a?|b?|c?|d?");
    expect(nothing, "don\u0301't don'\u0301t", "do\u0144?|t?|don?|\u0301t?");
}

/* Longer than any word of a vocabulary: one piece, never looked up. */
static uint32_t find_short_only(const void *vocabulary, const char *word, size_t length) {
    (void)vocabulary, (void)word;
    assert_true(length <= TEM_WORD_BYTES_MAX);
    return 7;
}

static void test_long_word(void **state) {
    (void)state;
    enum { LENGTH = 3 * TEM_WORD_BYTES_MAX };
    static char text[LENGTH];
    text_pieces p;
    text_pieces_init(&p, find_short_only, NULL);
    memset(text, 'x', LENGTH);
    static const size_t lengths[] = {TEM_WORD_BYTES_MAX - 1, TEM_WORD_BYTES_MAX,
                                     TEM_WORD_BYTES_MAX + 1, LENGTH};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const size_t length = lengths[i];
        assert_int_equal(text_pieces_cut(&p, text, length, NULL), TEM_OK);
        assert_int_equal(p.count, 1);
        assert_int_equal(p.pieces[0].length, length);
        assert_int_equal(p.pieces[0].id, length <= TEM_WORD_BYTES_MAX ? 7 : TEM_NO_WORD);
    }
    /* A chain that is too long is split into its parts, each of which is known. */
    for (size_t i = 1; i < LENGTH; i += 2)
        text[i] = '-';
    assert_int_equal(text_pieces_cut(&p, text, LENGTH - 1, NULL), TEM_OK);
    assert_int_equal(p.count, LENGTH / 2);
    assert_int_equal(p.pieces[0].id, 7);
    text_pieces_free(&p);
}

/* ---- the property, on adversarial texts ---- */

/* Characters that matter to some rule: letters that extend, numbers that are not digits, marks,
 * every kind of apostrophe, joiner and blank, and characters that folding lengthens or splits. */
static const ucs4_t odd[] = {
    'a',    'S',    'n',    't',     '1',     '\'',    '-',     '_',     '.',     ':',    ',',
    '"',    ' ',    '\t',   '\r',    0,       '<',     0x7f,    0x85,    0xa0,    0xad,   0xb2,
    0xbd,   0xdf,   0x130,  0x149,   0x2bc,   0x301,   0x308,   0x345,   0x390,   0x3c2,  0x5d0,
    0x5f4,  0x627,  0x64b,  0x661,   0x66b,   0x6dd,   0x915,   0x94d,   0xe01,   0xe31,  0x1100,
    0x1161, 0x11a8, 0x1e9e, 0x200b,  0x200c,  0x200d,  0x2019,  0x2028,  0x203f,  0x20e3, 0x2163,
    0x24b6, 0x3000, 0x3007, 0x30a2,  0x30fc,  0x4e2d,  0xac00,  0xfb01,  0xfe0f,  0xfeff, 0xff07,
    0xff11, 0xff9e, 0xff9f, 0x1d160, 0x1d7d9, 0x1f1e6, 0x1f3fb, 0x1f468, 0xe0020, 0xe000, 0x10ffff};
enum { ODD = sizeof odd / sizeof *odd };

static size_t append(uint8_t *text, size_t bytes, ucs4_t c) {
    const int put = u8_uctomb(text + bytes, c, 4);
    assert_true(put > 0);
    return bytes + (size_t)put;
}

static void cut_and_check(text_pieces *p, const uint8_t *text, size_t bytes) {
    cut(p, (const char *)text, bytes);
    check_folding(p, (const char *)text, bytes);
}

static void test_cover_short(void **state) {
    (void)state;
    text_pieces p;
    text_pieces_init(&p, find_a_third, NULL);
    for (size_t a = 0; a < ODD; a++)
        for (size_t b = 0; b < ODD; b++)
            for (size_t c = 0; c < ODD; c++) {
                uint8_t text[16];
                cut_and_check(&p, text,
                              append(text, append(text, append(text, 0, odd[a]), odd[b]), odd[c]));
            }
    text_pieces_free(&p);
}

static ucs4_t random_character(void) {
    if (random_below(4) > 0)
        return odd[random_below(ODD)];
    const ucs4_t c = (ucs4_t)random_below(random_below(2) ? 0x3000 : 0x10ffff - 0x800);
    return c < 0xd800 ? c : c + 0x800;
}

static void test_cover_random(void **state) {
    (void)state;
    text_pieces p;
    text_pieces_init(&p, find_a_third, NULL);
    for (int i = 0; i < (SLOW ? 40000 : 200000); i++) {
        uint8_t text[4 * 24];
        size_t bytes = 0;
        for (size_t left = 1 + random_below(24); left > 0; left--)
            bytes = append(text, bytes, random_character());
        cut_and_check(&p, text, bytes);
    }
    text_pieces_free(&p);
}

/* Every character there is, alone and inside a word with an apostrophe; in the sanitizer a seventh
 * of those behind U+3000. */
static void test_cover_all_characters(void **state) {
    (void)state;
    text_pieces p;
    text_pieces_init(&p, find_in_list, nothing);
    for (ucs4_t c = 0; c < 0x110000; c += SLOW && c > 0x3000 ? 7 : 1) {
        uint8_t text[16];
        if (c >= 0xd800 && c < 0xe000)
            c = 0xe000;
        cut(&p, (const char *)text, append(text, 0, c));
        assert_true(!is_letter_or_digit(c) || p.count > 0);
        cut(&p, (const char *)text,
            append(text, append(text, append(text, append(text, 0, 'x'), '\''), c), 'x'));
        assert_true(p.count > 0);
    }
    text_pieces_free(&p);
}

/* ---- texts that differ only in their spelling ---- */

static void assert_same_pieces(const text_pieces *a, const text_pieces *b) {
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const text_piece *x = &a->pieces[i], *y = &b->pieces[i];
        assert_true(x->id == y->id && x->word == y->word);
        assert_int_equal(x->length, y->length);
        assert_memory_equal(a->text.data + x->start, b->text.data + y->start, x->length);
    }
}

/* One or more blanks, of any kind. */
static size_t append_blanks(uint8_t *text, size_t bytes) {
    static const ucs4_t blanks[] = {' ',    '\t',   '\n',   '\r',   0x0b,   0x0c,   0,
                                    0x01,   0x1f,   0x7f,   0x85,   0xa0,   0x1680, 0x2000,
                                    0x2003, 0x2007, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000};
    for (size_t left = 1 + random_below(3); left > 0; left--)
        bytes = append(text, bytes, blanks[random_below(sizeof blanks / sizeof *blanks)]);
    return bytes;
}

/* The text with its blanks replaced by others; at most four times as long plus 9 bytes. */
static size_t replace_blanks(const uint8_t *text, size_t bytes, uint8_t *out) {
    size_t written = 0;
    bool blank = false;
    for (size_t at = 0; at < bytes;) {
        ucs4_t c = 0;
        at += (size_t)u8_mbtouc(&c, text + at, bytes - at);
        if (!is_blank(c))
            written = append(out, written, c);
        else if (!blank)
            written = append_blanks(out, written);
        blank = is_blank(c);
    }
    return written;
}

static void check_normal_form(text_pieces *other, const text_pieces *p, const uint8_t *text,
                              size_t bytes, uninorm_t form) {
    size_t normal_bytes = 0;
    uint8_t *normal = u8_normalize(form, text, bytes, NULL, &normal_bytes);
    assert_non_null(normal);
    assert_int_equal(text_pieces_cut(other, (const char *)normal, normal_bytes, NULL), TEM_OK);
    assert_same_pieces(p, other);
    if (form == UNINORM_NFC) {
        core_buffer composed = {0};
        assert_true(compose((const char *)text, bytes, &composed));
        assert_int_equal(composed.size, normal_bytes);
        assert_memory_equal(composed.data, normal, normal_bytes);
        core_buffer_free(&composed);
    }
    free(normal);
}

/* PRIVACY: the kinds of blanks, and composed or decomposed accents, make no difference to the
 * pieces. */
static void test_spellings(void **state) {
    (void)state;
    text_pieces p, other;
    text_pieces_init(&p, find_a_third, NULL);
    text_pieces_init(&other, find_a_third, NULL);
    for (int i = 0; i < 60000; i++) {
        uint8_t text[4 * 24], blanks[13 * 24];
        size_t bytes = 0;
        for (size_t left = 1 + random_below(24); left > 0; left--)
            bytes = random_below(4) == 0 ? append(text, bytes, ' ')
                                         : append(text, bytes, random_character());
        cut(&p, (const char *)text, bytes);
        const size_t other_bytes = replace_blanks(text, bytes, blanks);
        assert_int_equal(text_pieces_cut(&other, (const char *)blanks, other_bytes, NULL), TEM_OK);
        assert_same_pieces(&p, &other);
        check_normal_form(&other, &p, text, bytes, UNINORM_NFC);
        check_normal_form(&other, &p, text, bytes, UNINORM_NFD);
    }
    text_pieces_free(&p);
    text_pieces_free(&other);
}

/* ---- windows ---- */

/* The pieces of a text do not depend on the ends of its windows: they equal those of the whole text
 * by libunistring alone. Returns the number of windows with pieces. */
static size_t check_windows(text_pieces *p, text_pieces *whole, const char *text, size_t bytes,
                            size_t window) {
    size_t count = 0, windows = 0;
    assert_int_equal(text_pieces_cut_unicode(whole, text, bytes, NULL), TEM_OK);
    p->window = window;
    assert_int_equal(text_pieces_begin(p, text, bytes, NULL), TEM_OK);
    for (;; windows++) {
        assert_int_equal(text_pieces_next(p, NULL), TEM_OK);
        if (p->count == 0)
            break;
        assert_true(count + p->count <= whole->count);
        for (size_t i = 0; i < p->count; i++, count++) {
            const text_piece *a = &p->pieces[i], *b = &whole->pieces[count];
            assert_true(a->id == b->id && a->word == b->word && a->length == b->length);
            assert_memory_equal(p->text.data + a->start, whole->text.data + b->start, a->length);
        }
    }
    assert_int_equal(count, whole->count);
    return windows;
}

/* Every text of three characters, between others that may belong to them. */
static void test_windows_short(void **state) {
    (void)state;
    text_pieces p, whole;
    text_pieces_init(&p, find_a_third, NULL);
    text_pieces_init(&whole, find_a_third, NULL);
    for (size_t number = 0; number < (size_t)MIXED * MIXED * MIXED; number++) {
        char text[4 * 7];
        size_t bytes = add_mixed(text, 0, random_below(MIXED));
        bytes = add_mixed(text, bytes, random_below(MIXED));
        bytes = add_mixed(text, bytes, number % MIXED);
        bytes = add_mixed(text, bytes, number / MIXED % MIXED);
        bytes = add_mixed(text, bytes, number / MIXED / MIXED);
        bytes = add_mixed(text, bytes, random_below(MIXED));
        bytes = add_mixed(text, bytes, random_below(MIXED));
        check_windows(&p, &whole, text, bytes, 1 + random_below(8));
    }
    text_pieces_free(&p);
    text_pieces_free(&whole);
}

/* Longer texts of all kinds of characters; most use few kinds, so that runs of each occur. */
static void test_windows_random(void **state) {
    (void)state;
    size_t windows = 0;
    text_pieces p, whole;
    text_pieces_init(&p, find_a_third, NULL);
    text_pieces_init(&whole, find_a_third, NULL);
    for (int i = 0; i < 60000; i++) {
        uint8_t text[4 * 40];
        size_t bytes = 0;
        ucs4_t few[4];
        for (size_t k = 0; k < 4; k++)
            few[k] = random_character();
        for (size_t left = 1 + random_below(40); left > 0; left--)
            bytes = append(text, bytes,
                           random_below(8) > 0 ? few[random_below(4)] : random_character());
        windows += check_windows(&p, &whole, (const char *)text, bytes, 1 + random_below(24));
    }
    assert_true(windows > 2 * 60000); /* otherwise nothing was divided */
    text_pieces_free(&p);
    text_pieces_free(&whole);
}

/* Texts without a space, and tem's own windows: each text has pieces in several windows. */
static void test_windows_large(void **state) {
    (void)state;
    static const char *const units[] = {"!",        "--",         "a!",      "\U0001f600",
                                        "\u6f22",   "\U0001d160", "\u3000",  "\u1100\u1161!",
                                        "a\u0301!", "x y",        "\u03b1 ", "\r",
                                        "a.,"};
    enum { BYTES = 200000 };
    char *text = malloc(BYTES + 16);
    text_pieces p, whole;
    assert_non_null(text);
    text_pieces_init(&p, find_a_third, NULL);
    text_pieces_init(&whole, find_a_third, NULL);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t bytes = 0;
        for (; bytes < BYTES; bytes += strlen(units[i]))
            memcpy(text + bytes, units[i], strlen(units[i]));
        const size_t windows = check_windows(&p, &whole, text, bytes, p.window);
        assert_true(whole.count == 0 ? windows == 0 : windows >= 4);
        assert_true(p.text.touched < BYTES);
    }
    free(text);
    text_pieces_free(&p);
    text_pieces_free(&whole);
}

/* Whether a character is the second half of an NFC composition. */
static bool composes[0x110000];

static void find_composing(void) {
    for (ucs4_t c = 0; c < 0x110000; c++) {
        ucs4_t parts[UC_DECOMPOSITION_MAX_LENGTH];
        if (uc_canonical_decomposition(c, parts) == 2 && uc_composition(parts[0], parts[1]) == c)
            composes[parts[1]] = true;
    }
}

/* Whether a text may be divided before its first character: the character is not a mark, and
 * composes with nothing. */
static bool begins_apart(const uint8_t *text, size_t bytes) {
    ucs4_t c = 0;
    u8_mbtouc(&c, text, bytes);
    return uc_combining_class(c) == 0 && !composes[c];
}

/* Every character before which a text may be divided: original, decomposed and folded. */
static void test_folds_apart(void **state) {
    (void)state;
    unsigned apart = 0;
    find_composing();
    assert_true(composes[0x301] && composes[0x11a8] && !composes['a']);
    for (ucs4_t c = 0x80; c < 0x110000; c++) {
        uint8_t text[8];
        if (c == 0xd800)
            c = 0xe000;
        if (!text_folds_apart(c))
            continue;
        apart++;
        const size_t bytes = append(text, 0, c);
        size_t taken_bytes = 0, folded_bytes = 0;
        uint8_t *taken = u8_normalize(UNINORM_NFD, text, bytes, NULL, &taken_bytes);
        uint8_t *folded = u8_casefold(text, bytes, NULL, NULL, NULL, &folded_bytes);
        assert_true(begins_apart(text, bytes) && begins_apart(taken, taken_bytes) &&
                    begins_apart(folded, folded_bytes));
        free(taken);
        free(folded);
    }
    assert_true(apart > 1000000);
}

/* The next window of a text, which may be refused. */
static tem_status next_of(const char *text, size_t bytes, tem_error *error) {
    text_pieces p;
    text_pieces_init(&p, find_in_list, nothing);
    tem_status status = text_pieces_begin(&p, text, bytes, NULL);
    do
        if (status == TEM_OK)
            status = text_pieces_next(&p, error);
    while (status == TEM_OK && p.count > 0);
    text_pieces_free(&p);
    return status;
}

/* A run without a place to end a window is refused once it is larger than in any real text, not
 * before. */
static void test_window_limits(void **state) {
    (void)state;
    const size_t most = TEXT_WORD_BYTES_MAX + 4;
    tem_error error;
    char *text = malloc(most + 2);
    assert_non_null(text);
    memset(text, ' ', most + 2);
    assert_int_equal(next_of(text, most, &error), TEM_OK);
    memset(text, 'a', most + 2);
    assert_int_equal(next_of(text, TEXT_WORD_BYTES_MAX, &error), TEM_OK);
    assert_int_equal(next_of(text, most, &error), TEM_ERR_RANGE);
    assert_non_null(strstr(error.message, "16 MiB"));
    for (size_t i = 1; i < most; i += 2)
        text[i] = '-';
    assert_int_equal(next_of(text, most, &error), TEM_ERR_RANGE);
    for (size_t i = 0; i < most; i += 2)
        memcpy(text + i, "\u0301", 2);
    assert_int_equal(next_of(text, TEXT_MARKS_BYTES_MAX, &error), TEM_OK);
    assert_int_equal(next_of(text, TEXT_MARKS_BYTES_MAX + 4, &error), TEM_ERR_RANGE);
    assert_non_null(strstr(error.message, "1 MiB"));
    memset(text, 'a', most / 8 * 2); /* in the middle of a large window */
    assert_int_equal(next_of(text, most, &error), TEM_ERR_RANGE);
    assert_non_null(strstr(error.message, "1 MiB"));
    memset(text, 0x81, most); /* no character begins */
    assert_int_equal(next_of(text, most, &error), TEM_ERR_FORMAT);
    assert_int_equal(error.byte, 1);
    free(text);
}

/* The byte of an error is an offset in the text, not in the window. */
static void test_windows_invalid(void **state) {
    (void)state;
    enum { BYTES = 100000 };
    static char text[BYTES];
    tem_error error;
    for (size_t bad = 7; bad < BYTES; bad += 9973) {
        for (size_t i = 0; i < BYTES; i++)
            text[i] = i % 5 == 4 ? ' ' : 'x';
        text[bad] = '\xe9';
        assert_int_equal(next_of(text, BYTES, &error), TEM_ERR_FORMAT);
        assert_int_equal(error.byte, bad + 1);
    }
}

/* ---- refusals ---- */

static void test_invalid_utf8(void **state) {
    (void)state;
    static const struct {
        const char *text;
        unsigned byte;
    } cases[] = {
        {"\x80", 1},         {"ab\xff", 3},         {"a\xc0\x80", 2},        {"caf\xe9 x", 4},
        {"\xed\xa0\x80", 1}, {"\u00e9\xe2\x80", 3}, {"x\xf4\x90\x80\x80", 2}};
    text_pieces p;
    text_pieces_init(&p, find_in_list, nothing);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tem_error error = {.status = TEM_OK};
        cut(&p, "left over", 9);
        assert_int_equal(text_pieces_cut(&p, cases[i].text, strlen(cases[i].text), &error),
                         TEM_ERR_FORMAT);
        assert_int_equal(error.status, TEM_ERR_FORMAT);
        assert_int_equal(error.byte, cases[i].byte);
        assert_int_equal(p.count, 0);
        assert_int_equal(text_pieces_cut(&p, cases[i].text, strlen(cases[i].text), NULL),
                         TEM_ERR_FORMAT);
    }
    text_pieces_free(&p);
}

/* The size is refused before a byte is read: there is only one to read. */
static void test_too_large(void **state) {
    (void)state;
    text_pieces p;
    tem_error error = {.status = TEM_OK};
    text_pieces_init(&p, find_in_list, nothing);
    assert_int_equal(text_pieces_cut(&p, "x", (size_t)TEXT_BYTES_MAX + 1, &error), TEM_ERR_RANGE);
    assert_int_equal(error.status, TEM_ERR_RANGE);
    assert_int_equal(text_pieces_cut_unicode(&p, "x", SIZE_MAX, &error), TEM_ERR_RANGE);
    assert_int_equal(p.count, 0);
    text_pieces_free(&p);
}

/* ---- tags ---- */

static void expect_stripped(const char *text, const char *wanted) {
    char out[256], in_place[256];
    const size_t bytes = tags_strip(text, strlen(text), out);
    assert_true(bytes <= strlen(text));
    out[bytes] = '\0';
    assert_string_equal(out, wanted);
    strcpy(in_place, text);
    assert_int_equal(tags_strip(in_place, strlen(text), in_place), bytes);
    assert_memory_equal(in_place, wanted, bytes);
}

static void test_tags(void **state) {
    (void)state;
    expect_stripped("good<br /><br />film", "good  film");
    expect_stripped("<B>x</B>", " x ");
    expect_stripped("a<b", "a<b");
    expect_stripped("a<b>c", "a c");
    expect_stripped("I <3 it > that", "I <3 it > that");
    expect_stripped("a < b > c", "a < b > c");
    expect_stripped("x <a <b> y", "x   y"); /* everything up to the next '>' */
    expect_stripped("<<b>>", "< >");
    expect_stripped("<!-- a > b -->c", "  b -->c");
    expect_stripped("<?xml?><p", " <p");
    expect_stripped("<a\nb>c", " c");
    expect_stripped("> <a", "> <a");
    expect_stripped("<", "<");
    expect_stripped("<>", "<>");
    expect_stripped("", "");
    expect_stripped("<\u00e9>", "<\u00e9>");
}

/* The definition in tags.h, character by character. */
static size_t strip_slowly(const char *text, size_t bytes, char *out) {
    size_t written = 0;
    for (size_t i = 0; i < bytes; i++) {
        const char *close = i + 1 < bytes ? memchr(text + i, '>', bytes - i) : NULL;
        const bool opens = close != NULL && text[i] == '<' && text[i + 1] != '\0' &&
                           strchr("aZ/!?", text[i + 1]) != NULL;
        out[written++] = opens ? ' ' : text[i];
        if (opens)
            i = (size_t)(close - text);
    }
    return written;
}

static void test_tags_random(void **state) {
    (void)state;
    for (int i = 0; i < 200000; i++) {
        char text[16], fast[16], slow[16];
        const size_t bytes = random_below(sizeof text + 1);
        for (size_t k = 0; k < bytes; k++)
            text[k] = "<<>aZ/!?3 \n"[random_below(11)];
        const size_t wanted = strip_slowly(text, bytes, slow);
        assert_int_equal(tags_strip(text, bytes, fast), wanted);
        assert_memory_equal(fast, slow, wanted);
    }
}

/* Ten million bytes in an order that makes a careless search quadratic: it would take minutes, not
 * the tenths of a second allowed for a slow machine under a sanitizer. */
static void test_tags_linear(void **state) {
    (void)state;
    enum { BYTES = 10000000 };
    static const char *const patterns[] = {"<", "<a", "><a", "<a>"};
    char *text = malloc(BYTES), *out = malloc(BYTES);
    assert_true(text != NULL && out != NULL);
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++) {
        for (size_t i = 0; i < BYTES; i++)
            text[i] = patterns[k][i % strlen(patterns[k])];
        const clock_t start = clock();
        assert_true(tags_strip(text, BYTES, out) <= BYTES);
        assert_true(clock() - start < 5 * CLOCKS_PER_SEC);
    }
    free(text);
    free(out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ascii_short),
        cmocka_unit_test(test_ascii_random),
        cmocka_unit_test(test_ascii_characters),
        cmocka_unit_test(test_mixed_short),
        cmocka_unit_test(test_mixed_divided),
        cmocka_unit_test(test_mixed_all_characters),
        cmocka_unit_test(test_mixed_random),
        cmocka_unit_test(test_recent),
        cmocka_unit_test(test_recent_in_texts),
        cmocka_unit_test(test_unicode_vectors),
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_hyphens),
        cmocka_unit_test(test_apostrophes),
        cmocka_unit_test(test_folding),
        cmocka_unit_test(test_scripts),
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_controls),
        cmocka_unit_test(test_long_word),
        cmocka_unit_test(test_cover_short),
        cmocka_unit_test(test_cover_random),
        cmocka_unit_test(test_cover_all_characters),
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_windows_short),
        cmocka_unit_test(test_windows_random),
        cmocka_unit_test(test_windows_large),
        cmocka_unit_test(test_folds_apart),
        cmocka_unit_test(test_window_limits),
        cmocka_unit_test(test_windows_invalid),
        cmocka_unit_test(test_invalid_utf8),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_tags),
        cmocka_unit_test(test_tags_random),
        cmocka_unit_test(test_tags_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
