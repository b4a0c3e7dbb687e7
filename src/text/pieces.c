/* pieces.c - from a text to the pieces that a mechanism replaces.
 *
 * Two ways lead to the folded text and its breaks: libunistring's for any text, and a
 * shortcut for ASCII, which is most of English and several times as fast. Everything after
 * the breaks is the same code. */
#include "text/pieces.h"

#include "core/memory.h"
#include "core/status.h"
#include "text/ascii.h"

#include <string.h>
#include <unicase.h>
#include <unictype.h>
#include <uninorm.h>
#include <unistr.h>
#include <uniwbrk.h>

void text_pieces_init(text_pieces *p, text_find *find, const void *vocabulary) {
    *p = (text_pieces){.find = find, .vocabulary = vocabulary};
}

/* The ids are as private as the text. */
static void free_pieces(text_pieces *p) {
    if (p->pieces != NULL)
        explicit_bzero(p->pieces, p->capacity * sizeof *p->pieces);
    core_free(p->pieces);
}

void text_pieces_free(text_pieces *p) {
    core_buffer_free(&p->text);
    core_buffer_free(&p->breaks);
    free_pieces(p);
    *p = (text_pieces){0};
}

/* Room for a folded text of so many bytes. */
static bool reserve_text(text_pieces *p, size_t bytes) {
    p->text.size = p->breaks.size = 0;
    return core_buffer_reserve(&p->text, bytes) && core_buffer_reserve(&p->breaks, bytes);
}

/* ---- the folded text and its breaks ---- */

/* U+2019, the typographer's apostrophe, in place: three bytes become one. */
static void plain_apostrophes(text_pieces *p) {
    size_t out = 0;
    for (size_t i = 0; i < p->text.size;) {
        if (p->text.size - i >= 3 && memcmp(p->text.data + i, "\xe2\x80\x99", 3) == 0) {
            p->text.data[out++] = '\'';
            i += 3;
        } else {
            p->text.data[out++] = p->text.data[i++];
        }
    }
    p->text.size = out;
}

/* Case folding and NFC; libunistring's folding takes the text to its normal form by itself
 * before and after. What it allocates for us is erased. */
static tem_status fold_unicode(text_pieces *p, const char *text, size_t bytes, tem_error *error) {
    size_t folded_bytes = 0;
    uint8_t *folded =
        u8_casefold((const uint8_t *)text, bytes, NULL, UNINORM_NFC, NULL, &folded_bytes);
    const bool done = folded != NULL && reserve_text(p, folded_bytes);
    if (done)
        memcpy(p->text.data, folded, folded_bytes);
    if (folded != NULL)
        explicit_bzero(folded, folded_bytes);
    core_free(folded);
    if (!done)
        return core_fail_memory(error);
    p->text.size = folded_bytes;
    plain_apostrophes(p);
    u8_wordbreaks((const uint8_t *)p->text.data, p->text.size, p->breaks.data);
    return TEM_OK;
}

/* ---- segments ---- */

/* The character at `at`, and its bytes. */
static unsigned character(const text_pieces *p, size_t at, ucs4_t *c) {
    *c = (unsigned char)p->text.data[at];
    if (*c < 0x80)
        return 1;
    return (unsigned)u8_mbtouc_unsafe(c, (const uint8_t *)p->text.data + at, p->text.size - at);
}

/* Letters, digits, and what may stand for them: anything alphabetic (circled letters), of
 * private use, or newer than the tables. */
static bool is_letter_or_digit(ucs4_t c) {
    if (c < 0x80)
        return ascii_is_letter_or_digit((char)c);
    return uc_is_property_alphabetic(c) ||
           uc_is_general_category_withtable(c, UC_CATEGORY_MASK_L | UC_CATEGORY_MASK_N |
                                                   UC_CATEGORY_MASK_Co | UC_CATEGORY_MASK_Cn);
}

/* White space and control characters are no text of their own. */
static bool is_blank(ucs4_t c) {
    return c <= 0x20 || c == 0x7f ||
           (c >= 0x80 && (uc_is_property_white_space(c) ||
                          uc_is_general_category_withtable(c, UC_CATEGORY_MASK_Cc)));
}

typedef enum segment_kind { SEGMENT_BLANK, SEGMENT_PUNCTUATION, SEGMENT_WORD } segment_kind;

typedef struct segment {
    size_t start, end;
    segment_kind kind;
} segment;

/* The segment that starts at `start`, which is before the end of the text. */
static segment segment_at(const text_pieces *p, size_t start) {
    segment s = {start, start, SEGMENT_BLANK};
    do {
        ucs4_t c = 0;
        s.end += character(p, s.end, &c);
        if (is_letter_or_digit(c))
            s.kind = SEGMENT_WORD;
        else if (s.kind == SEGMENT_BLANK && !is_blank(c))
            s.kind = SEGMENT_PUNCTUATION;
    } while (s.end < p->text.size && !p->breaks.data[s.end]);
    return s;
}

/* ---- pieces ---- */

static uint32_t find(const text_pieces *p, size_t start, size_t end) {
    if (end - start > TEM_WORD_BYTES_MAX)
        return TEM_NO_WORD;
    return p->find(p->vocabulary, p->text.data + start, end - start);
}

static tem_status add(text_pieces *p, size_t start, size_t end, uint32_t id, bool word,
                      tem_error *error) {
    if (p->count == p->capacity) {
        const size_t capacity = p->capacity + p->capacity / 2 + 256;
        text_piece *grown = core_alloc(capacity, sizeof *grown);
        if (grown == NULL)
            return core_fail_memory(error);
        if (p->count > 0)
            memcpy(grown, p->pieces, p->count * sizeof *grown);
        free_pieces(p);
        p->pieces = grown;
        p->capacity = capacity;
    }
    p->pieces[p->count++] = (text_piece){(uint32_t)start, (uint32_t)(end - start), id, word};
    return TEM_OK;
}

/* Where the Penn Treebank cuts a word: before "n't", "'s" and the like; `end` if
 * nowhere. */
static size_t treebank_cut(const text_pieces *p, size_t start, size_t end) {
    static const char *const endings[] = {"n't", "'s", "'re", "'ve", "'ll", "'d", "'m"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t length = strlen(endings[i]);
        if (end - start > length && memcmp(p->text.data + end - length, endings[i], length) == 0)
            return end - length;
    }
    return end;
}

/* Each run of letters and digits (and the marks on them) becomes a piece. */
static tem_status add_runs(text_pieces *p, size_t start, size_t end, tem_error *error) {
    tem_status status = TEM_OK;
    size_t run = start;
    bool in_run = false;
    for (size_t at = start; at < end && status == TEM_OK;) {
        ucs4_t c = 0;
        const unsigned bytes = character(p, at, &c);
        const bool separator = c == '\'' || (c < 0x80 && !is_letter_or_digit(c));
        if (separator && in_run)
            status = add(p, run, at, find(p, run, at), true, error);
        else if (!separator && !in_run)
            run = at;
        in_run = !separator;
        at += bytes;
    }
    if (in_run && status == TEM_OK)
        status = add(p, run, end, find(p, run, end), true, error);
    return status;
}

/* One word without hyphens. */
static tem_status add_word(text_pieces *p, size_t start, size_t end, tem_error *error) {
    const uint32_t id = find(p, start, end);
    if (id != TEM_NO_WORD || memchr(p->text.data + start, '\'', end - start) == NULL)
        return add(p, start, end, id, true, error);
    const size_t cut = treebank_cut(p, start, end);
    if (cut < end) {
        const uint32_t stem = find(p, start, cut), ending = find(p, cut, end);
        if (stem != TEM_NO_WORD && ending != TEM_NO_WORD) {
            tem_status status = add(p, start, cut, stem, true, error);
            return status == TEM_OK ? add(p, cut, end, ending, true, error) : status;
        }
    }
    return add_runs(p, start, end, error);
}

/* Words joined by single hyphens, beginning with the word `first`; *end receives where
 * they end. */
static tem_status add_chain(text_pieces *p, segment first, size_t *end, tem_error *error) {
    *end = first.end;
    while (*end + 1 < p->text.size && p->text.data[*end] == '-') {
        const segment next = segment_at(p, *end + 1);
        if (next.kind != SEGMENT_WORD)
            break;
        *end = next.end;
    }
    const uint32_t id = *end > first.end ? find(p, first.start, *end) : TEM_NO_WORD;
    if (id != TEM_NO_WORD)
        return add(p, first.start, *end, id, true, error);
    tem_status status = add_word(p, first.start, first.end, error);
    for (size_t at = first.end; at < *end && status == TEM_OK;) {
        const segment part = segment_at(p, at + 1);
        status = add_word(p, part.start, part.end, error);
        at = part.end;
    }
    return status;
}

static tem_status add_all(text_pieces *p, tem_error *error) {
    for (size_t at = 0; at < p->text.size;) {
        const segment s = segment_at(p, at);
        tem_status status = TEM_OK;
        at = s.end;
        if (s.kind == SEGMENT_WORD)
            status = add_chain(p, s, &at, error);
        else if (s.kind == SEGMENT_PUNCTUATION)
            status = add(p, s.start, s.end, find(p, s.start, s.end), false, error);
        if (status != TEM_OK)
            return status;
    }
    return TEM_OK;
}

tem_status text_check(const char *text, size_t bytes, tem_error *error) {
    if (bytes > TEXT_BYTES_MAX)
        return core_fail(error, TEM_ERR_RANGE, "a document is larger than 1 GiB");
    const uint8_t *bad = u8_check((const uint8_t *)text, bytes);
    if (bad != NULL)
        return core_fail_at(error, TEM_ERR_FORMAT, "", 0, (uint64_t)(bad - (const uint8_t *)text),
                            "not valid UTF-8; 'iconv' converts other encodings");
    return TEM_OK;
}

tem_status text_pieces_cut_unicode(text_pieces *p, const char *text, size_t bytes,
                                   tem_error *error) {
    tem_status status = text_check(text, bytes, error);
    p->count = p->text.size = 0;
    if (status == TEM_OK && bytes > 0)
        status = fold_unicode(p, text, bytes, error);
    return status == TEM_OK ? add_all(p, error) : status;
}

tem_status text_pieces_cut(text_pieces *p, const char *text, size_t bytes, tem_error *error) {
    if (bytes > TEXT_BYTES_MAX || !ascii_is_all(text, bytes))
        return text_pieces_cut_unicode(p, text, bytes, error);
    p->count = 0;
    if (!reserve_text(p, bytes))
        return core_fail_memory(error);
    ascii_fold(text, bytes, p->text.data);
    ascii_breaks(p->text.data, bytes, p->breaks.data);
    p->text.size = bytes;
    return add_all(p, error);
}
