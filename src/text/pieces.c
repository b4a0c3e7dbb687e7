/* pieces.c - cuts a text into the pieces that a mechanism replaces.
 *
 * libunistring folds any text and finds its word boundaries. This file does the same for ASCII,
 * which is most of English, many times as fast. One letter with an accent must not slow down a
 * whole document, so a text is divided twice:
 *
 *  - For folding, before ASCII characters. No ASCII character ever composes with the character
 *    before it, and folding looks at one character at a time, so the parts can be folded
 *    separately. Characters beyond ASCII go to libunistring together with the character before
 *    them, with which they may compose.
 *  - For boundaries, the folded text is divided into stretches, before a space that follows an
 *    ASCII character other than a space. A boundary is always there, and no rule of UAX #29 looks
 *    across it. The rules that look further than the next character want a letter or a digit there,
 *    or a character in the middle of two of these (WB6, WB7, WB11, WB12). A space is none of them.
 *
 * The code for everything after the boundaries is the same for ASCII and for other text.
 *
 * A large text is divided a third time, into windows. tem folds the text up to a character that
 * composes with nothing before it (text_folds_apart). It then cuts the folded text up to a boundary
 * that is certain, whatever the rest of the text is:
 *
 *  - a place where a stretch may end; or, if there is no such place,
 *  - a boundary that another boundary follows in the window. From a boundary, the rules of UAX #29
 *    look at most two characters ahead, not counting characters that extend the one before them.
 *    The second of these two is at the second boundary, or before it. A boundary next to a hyphen
 *    does not count, since a hyphen may join words.
 *
 * A window without such a boundary is one word, or nearly one. It grows, up to a limit. */
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

/* After how much text the cache of recent words is made. Making and erasing it takes as long as
 * some hundred look-ups, and a short text does not have many more. */
enum { RECENT_AFTER_BYTES = 16 << 10 };

/* Most documents are smaller than one window. The memory of a window fits into a small L2 cache. */
enum { WINDOW_BYTES = 32 << 10 };

void text_pieces_init(text_pieces *p, text_find *find, const void *vocabulary) {
    *p = (text_pieces){.find = find, .vocabulary = vocabulary, .window = WINDOW_BYTES};
}

/* Erases the pieces and frees them. The ids are as private as the text. */
static void free_pieces(text_pieces *p) {
    if (p->pieces != NULL)
        explicit_bzero(p->pieces, p->capacity * sizeof *p->pieces);
    core_free(p->pieces);
}

void text_pieces_free(text_pieces *p) {
    core_buffer_free(&p->text);
    core_buffer_free(&p->breaks);
    recent_free(p->recent);
    free_pieces(p);
    *p = (text_pieces){0};
}

/* ---- the folded text ---- */

/* Returns the ASCII character that replaces U+2019, the typographer's apostrophe, or U+202F at the
 * beginning of the text; 0 for any other character. U+202F is the only white space that UAX #29
 * does not cut at. */
static char plain_character(const char *text, size_t bytes) {
    if (bytes < 3 || memcmp(text, "\xe2\x80", 2) != 0)
        return 0;
    return text[2] == '\x99' ? '\'' : text[2] == '\xaf' ? ' ' : 0;
}

/* Replaces these two characters in place, from the byte `from` on: three bytes become one. */
static void make_plain(text_pieces *p, size_t from) {
    size_t out = from;
    for (size_t i = from; i < p->text.size;) {
        const char plain = plain_character(p->text.data + i, p->text.size - i);
        p->text.data[out++] = plain != 0 ? plain : p->text.data[i];
        i += plain != 0 ? 3 : 1;
    }
    p->text.size = out;
}

/* Appends the case-folded text in NFC; libunistring's folding normalizes before and after by
 * itself. Erases the memory that libunistring allocates for the result. */
static bool fold_unicode(text_pieces *p, const char *text, size_t bytes) {
    size_t folded_bytes = 0;
    const size_t before = p->text.size;
    uint8_t *folded =
        u8_casefold((const uint8_t *)text, bytes, NULL, UNINORM_NFC, NULL, &folded_bytes);
    const bool done = folded != NULL && core_buffer_add(&p->text, folded, folded_bytes);
    if (folded != NULL)
        explicit_bzero(folded, folded_bytes);
    core_free(folded);
    if (done)
        make_plain(p, before);
    return done;
}

static bool fold_ascii(text_pieces *p, const char *text, size_t bytes) {
    if (!core_buffer_reserve(&p->text, bytes))
        return false;
    ascii_fold(text, bytes, p->text.data + p->text.size);
    p->text.size += bytes;
    return true;
}

/* Returns the end of the run of characters beyond ASCII that starts at `at`. */
static size_t end_of_unicode(const char *text, size_t bytes, size_t at) {
    while (at < bytes && (unsigned char)text[at] >= 0x80)
        at++;
    return at;
}

/* Appends the folded form of a text. */
static bool fold(text_pieces *p, const char *text, size_t bytes) {
    if (!core_buffer_reserve(&p->text, bytes)) /* enough for most texts, at once */
        return false;
    for (size_t at = 0; at < bytes;) {
        size_t ascii = ascii_length(text + at, bytes - at);
        const size_t end = end_of_unicode(text, bytes, at + ascii);
        ascii -= ascii > 0 && at + ascii < end; /* the last may compose with what follows */
        if (!fold_ascii(p, text + at, ascii))
            return false;
        at += ascii;
        if (at < end && !fold_unicode(p, text + at, end - at))
            return false;
        at = end;
    }
    return true;
}

/* Puts zeros after the text, as ascii_segment and recent_find need them, and clears all breaks. */
static bool end_text(text_pieces *p) {
    _Static_assert((int)ASCII_PADDING >= (int)RECENT_READS, "room to read at the last word");
    p->breaks.size = 0;
    if (!core_buffer_reserve(&p->text, ASCII_PADDING) ||
        !core_buffer_reserve(&p->breaks, p->text.size))
        return false;
    memset(p->text.data + p->text.size, 0, ASCII_PADDING);
    memset(p->breaks.data, 0, p->text.size);
    return true;
}

/* ---- stretches ---- */

/* A part of the folded text that is cut by itself. A stretch of ASCII ends with the text, or before
 * a space that follows another character. */
typedef struct stretch {
    size_t start, end;
    bool ascii;
} stretch;

/* Whether a stretch may end before `at`, which is not 0. */
static bool divides(const char *text, size_t at) {
    const unsigned char before = (unsigned char)text[at - 1];
    return text[at] == ' ' && before < 0x80 && before != ' ';
}

/* Returns the stretch that starts at `start`, in a text that ends at `text_end`. If ASCII comes
 * first, the stretch is ASCII and ends with the text, or at the last place that divides it from the
 * characters beyond ASCII. If there is no such place, the stretch is not ASCII and ends at the
 * first place after these characters that divides it from ASCII again. */
static stretch stretch_at(const text_pieces *p, size_t start, size_t text_end) {
    const char *text = p->text.data;
    size_t end = start + ascii_length(text + start, text_end - start);
    if (end == text_end)
        return (stretch){start, end, true};
    size_t divide = end;
    while (divide > start && !divides(text, divide))
        divide--;
    if (divide > start)
        return (stretch){start, divide, true};
    do
        end++;
    while (end < text_end && !divides(text, end));
    return (stretch){start, end, false};
}

/* Finds the boundaries in a stretch. For ASCII, segment_at finds them segment by segment. */
static void find_breaks(const text_pieces *p, const stretch *t) {
    if (!t->ascii)
        u8_wordbreaks((const uint8_t *)p->text.data + t->start, t->end - t->start,
                      p->breaks.data + t->start);
}

/* ---- segments ---- */

/* *c receives the character at `at`. Returns its number of bytes. */
static unsigned character(const text_pieces *p, size_t at, ucs4_t *c) {
    *c = (unsigned char)p->text.data[at];
    if (*c < 0x80)
        return 1;
    return (unsigned)u8_mbtouc_unsafe(c, (const uint8_t *)p->text.data + at, p->text.size - at);
}

/* Whether a character is a letter or a digit, or may stand for one: anything alphabetic (circled
 * letters), for private use, or newer than the tables. */
static bool is_letter_or_digit(ucs4_t c) {
    if (c < 0x80)
        return ascii_is_letter_or_digit((char)c);
    return uc_is_property_alphabetic(c) ||
           uc_is_general_category_withtable(c, UC_CATEGORY_MASK_L | UC_CATEGORY_MASK_N |
                                                   UC_CATEGORY_MASK_Co | UC_CATEGORY_MASK_Cn);
}

/* Whether a character is white space or a control character, which are not text by themselves. */
static bool is_blank(ucs4_t c) {
    return c <= 0x20 || c == 0x7f ||
           (c >= 0x80 && (uc_is_property_white_space(c) ||
                          uc_is_general_category_withtable(c, UC_CATEGORY_MASK_Cc)));
}

/* Returns the segment that starts at `start`. A mark extends the character before it, even a blank
 * (WB4).
 * PRIVACY: the blanks before a mark are not part of its piece. Otherwise a policy that releases the
 * piece would release them. */
static segment unicode_segment(const text_pieces *p, size_t start, size_t text_end) {
    segment s = {start, start, SEGMENT_BLANK};
    do {
        ucs4_t c = 0;
        s.end += character(p, s.end, &c);
        if (is_letter_or_digit(c))
            s.kind = SEGMENT_WORD;
        else if (s.kind == SEGMENT_BLANK && !is_blank(c))
            s.kind = SEGMENT_PUNCTUATION;
        if (s.kind == SEGMENT_BLANK)
            s.start = s.end;
    } while (s.end < text_end && !p->breaks.data[s.end]);
    return s;
}

/* Returns the segment that starts at `start`, which is before the end of the stretch. */
static segment segment_at(const text_pieces *p, const stretch *t, size_t start) {
    p->breaks.data[start] = 1;
    return t->ascii ? ascii_segment(p->text.data, start) : unicode_segment(p, start, t->end);
}

/* ---- pieces ---- */

static uint32_t find(const text_pieces *p, size_t start, size_t end) {
    if (end - start > TEM_WORD_BYTES_MAX)
        return TEM_NO_WORD;
    if (p->recent == NULL)
        return p->find(p->vocabulary, p->text.data + start, end - start);
    return recent_find(p->recent, p->find, p->vocabulary, p->text.data + start, end - start);
}

/* For functions that are rarely called. They stay out of the functions that handle every word.
 * Inlined, grow_pieces and add_parts made their callers save all registers for nothing, which was
 * an eighth of all instructions. */
#define RARE __attribute__((noinline)) static

RARE bool grow_pieces(text_pieces *p) {
    const size_t capacity = p->capacity + p->capacity / 2 + 256;
    text_piece *grown = core_alloc(capacity, sizeof *grown);
    if (grown == NULL)
        return false;
    if (p->count > 0)
        memcpy(grown, p->pieces, p->count * sizeof *grown);
    free_pieces(p);
    p->pieces = grown;
    p->capacity = capacity;
    return true;
}

/* Adds a piece. Returns false if there is no memory, as all functions that add pieces do. */
static bool add(text_pieces *p, size_t start, size_t end, uint32_t id, bool word) {
    if (p->count == p->capacity && !grow_pieces(p))
        return false;
    p->pieces[p->count++] = (text_piece){(uint32_t)start, (uint32_t)(end - start), id, word};
    return true;
}

/* Returns where the Penn Treebank cuts a word: before "n't", "'s" and the like; `end` if
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

/* Adds each run of letters and digits (and the marks on them) as a piece. Only ASCII characters
 * that are neither letters nor digits, such as apostrophes, separate runs. */
static bool add_runs(text_pieces *p, size_t start, size_t end) {
    size_t run = start;
    bool in_run = false;
    for (size_t at = start; at < end;) {
        ucs4_t c = 0;
        const unsigned bytes = character(p, at, &c);
        const bool separator = c == '\'' || (c < 0x80 && !is_letter_or_digit(c));
        if (separator && in_run && !add(p, run, at, find(p, run, at), true))
            return false;
        if (!separator && !in_run)
            run = at;
        in_run = !separator;
        at += bytes;
    }
    return !in_run || add(p, run, end, find(p, run, end), true);
}

/* Adds the parts of a word that has an apostrophe and is not in the vocabulary. */
RARE bool add_parts(text_pieces *p, size_t start, size_t end) {
    const size_t cut = treebank_cut(p, start, end);
    if (cut < end) {
        const uint32_t stem = find(p, start, cut), ending = find(p, cut, end);
        if (stem != TEM_NO_WORD && ending != TEM_NO_WORD)
            return add(p, start, cut, stem, true) && add(p, cut, end, ending, true);
    }
    return add_runs(p, start, end);
}

/* Adds one word without hyphens. */
static bool add_word(text_pieces *p, size_t start, size_t end) {
    const uint32_t id = find(p, start, end);
    if (id != TEM_NO_WORD || memchr(p->text.data + start, '\'', end - start) == NULL)
        return add(p, start, end, id, true);
    return add_parts(p, start, end);
}

/* Adds words joined by single hyphens. The first word ends at `first_end`; *end receives where the
 * last one ends. */
static bool add_chain(text_pieces *p, const stretch *t, size_t start, size_t first_end,
                      size_t *end) {
    *end = first_end;
    while (*end + 1 < t->end && p->text.data[*end] == '-') {
        p->breaks.data[*end] = 1;
        const segment next = segment_at(p, t, *end + 1);
        if (next.kind != SEGMENT_WORD || next.start > *end + 1)
            break;
        *end = next.end;
    }
    const uint32_t id = *end > first_end ? find(p, start, *end) : TEM_NO_WORD;
    if (id != TEM_NO_WORD)
        return add(p, start, *end, id, true);
    bool done = add_word(p, start, first_end);
    for (size_t at = first_end; at < *end && done;) {
        const segment part = segment_at(p, t, at + 1);
        done = add_word(p, part.start, part.end);
        at = part.end;
    }
    return done;
}

static bool add_stretch(text_pieces *p, const stretch *t) {
    for (size_t at = t->start; at < t->end;) {
        const segment s = segment_at(p, t, at);
        bool done = true;
        at = s.end;
        if (s.kind == SEGMENT_WORD && p->text.data[at] == '-')
            done = add_chain(p, t, s.start, s.end, &at);
        else if (s.kind == SEGMENT_WORD)
            done = add_word(p, s.start, s.end);
        else if (s.kind == SEGMENT_PUNCTUATION)
            done = add(p, s.start, s.end, find(p, s.start, s.end), false);
        if (!done)
            return false;
    }
    return true;
}

tem_status text_check(const char *text, size_t bytes, tem_error *error) {
    if (bytes > TEXT_BYTES_MAX)
        return core_fail(error, TEM_ERR_RANGE, "a document is larger than 1 GiB");
    for (size_t at = 0; at < bytes;) {
        const size_t start = at + ascii_length(text + at, bytes - at);
        at = end_of_unicode(text, bytes, start);
        const uint8_t *bad = u8_check((const uint8_t *)text + start, at - start);
        if (bad != NULL)
            return core_fail_at(error, TEM_ERR_FORMAT, "", 0,
                                (uint64_t)(bad - (const uint8_t *)text) + 1, "not valid UTF-8");
    }
    return TEM_OK;
}

/* Cuts the folded text up to `end`, a stretch at a time. */
static bool add_all(text_pieces *p, size_t end) {
    for (size_t at = 0; at < end;) {
        const stretch t = stretch_at(p, at, end);
        find_breaks(p, &t);
        if (!add_stretch(p, &t))
            return false;
        at = t.end;
    }
    p->cut = end;
    return true;
}

tem_status text_pieces_cut_unicode(text_pieces *p, const char *text, size_t bytes,
                                   tem_error *error) {
    tem_status status = text_check(text, bytes, error);
    p->count = p->text.size = 0;
    if (status != TEM_OK || bytes == 0)
        return status;
    if (!fold_unicode(p, text, bytes) || !end_text(p))
        return core_fail_memory(error);
    const stretch all = {0, p->text.size, false};
    find_breaks(p, &all);
    return add_stretch(p, &all) ? TEM_OK : core_fail_memory(error);
}

/* ---- windows ---- */

/* Marks compose with the character before them. So do vowels and finals of Hangul, and the vowel
 * signs of Kirat Rai, which are letters (Unicode 16). */
bool text_folds_apart(uint32_t c) {
    const bool hangul = (c >= 0x1160 && c <= 0x11ff) || (c >= 0xd7b0 && c <= 0xd7ff);
    const bool kirat_rai = c >= 0x16d40 && c <= 0x16d7f;
    return !hangul && !kirat_rai && !uc_is_general_category_withtable(c, UC_CATEGORY_MASK_M);
}

static bool is_continuation(char c) {
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Whether the rest may be divided at `at`. It may also be divided at a character that is not UTF-8:
 * fold_next will refuse that character. */
static bool rest_folds_apart(const text_pieces *p, size_t at) {
    ucs4_t c = 0;
    if ((unsigned char)p->rest[at] < 0x80)
        return true;
    if (is_continuation(p->rest[at]))
        return false;
    return u8_mbtoucr(&c, (const uint8_t *)p->rest + at, p->rest_bytes - at) < 0 ||
           text_folds_apart(c);
}

/* Returns how many bytes of the rest to fold now: up to the last place within `most` bytes where
 * the rest may be divided, or else up to the first such place beyond. *marks receives whether the
 * search gave up: after TEXT_MARKS_BYTES_MAX bytes or more there was no such place. */
static size_t fold_end(const text_pieces *p, size_t most, bool *marks) {
    *marks = false;
    if (p->rest_bytes <= most)
        return p->rest_bytes;
    size_t end = most;
    while (end > 0 && !rest_folds_apart(p, end))
        end--;
    if (end > 0)
        return end;
    for (end = most; end < p->rest_bytes && !rest_folds_apart(p, end); end++) {
        *marks = end >= TEXT_MARKS_BYTES_MAX && !is_continuation(p->rest[end]);
        if (*marks)
            break;
    }
    return end;
}

/* Folds about `most` bytes of the rest. */
static tem_status fold_next(text_pieces *p, size_t most, tem_error *error) {
    bool marks = false;
    const size_t bytes = fold_end(p, most, &marks);
    const tem_status status = text_check(p->rest, bytes, error);
    if (status != TEM_OK) {
        if (error != NULL)
            error->byte += p->done;
        return status;
    }
    if (marks)
        return core_fail(error, TEM_ERR_RANGE,
                         "a document has more than 1 MiB of combining marks in a row");
    if (!fold(p, p->rest, bytes) || !end_text(p))
        return core_fail_memory(error);
    p->rest += bytes;
    p->rest_bytes -= bytes;
    p->done += bytes;
    return TEM_OK;
}

/* Whether a hyphen next to the boundary `at` may join words across it. A hyphen after another
 * hyphen joins nothing, unless the character after it makes it a word (U+FF9E). */
static bool may_be_joined(const text_pieces *p, size_t at) {
    const char *text = p->text.data;
    if (text[at] == '-' && text[at - 1] == '-')
        return (unsigned char)text[at + 1] >= 0x80;
    return text[at] == '-' || text[at - 1] == '-';
}

/* Returns where to end a window whose last segment, from `start` on, is a long run of blanks.
 * TEM_WORD_BYTES_MAX bytes of them stay for the next window. Blanks are in no piece, however many
 * they are. A letter may extend the last of them (U+FF9E), but its piece starts after the blanks,
 * so the number of blanks that stay does not matter. */
static size_t end_in_blanks(const text_pieces *p, size_t start) {
    size_t end = p->text.size - TEM_WORD_BYTES_MAX;
    while (end > start && is_continuation(p->text.data[end]))
        end--;
    return end;
}

/* Returns the last boundary that is certain and at which nothing may be joined; 0 if there is none.
 * A boundary is where a segment begins. segment.start may be after it: the piece starts there,
 * after the blanks that a mark extends. */
static size_t certain_end(const text_pieces *p) {
    size_t certain = 0, begin = 0;
    segment last = {0, 0, SEGMENT_BLANK};
    for (size_t start = 0; start < p->text.size;) {
        const stretch t = stretch_at(p, start, p->text.size);
        find_breaks(p, &t);
        for (; start < t.end; start = last.end) {
            if (begin > 0 && !may_be_joined(p, begin))
                certain = begin;
            begin = start;
            last = segment_at(p, &t, start);
        }
    }
    const bool joined = begin > 0 && may_be_joined(p, begin);
    if (last.kind == SEGMENT_BLANK && last.end - begin > 2 * TEM_WORD_BYTES_MAX && !joined)
        return end_in_blanks(p, begin);
    return certain;
}

/* Returns where to end the window if more of the text follows; 0 if there is no such place. */
static size_t window_end(const text_pieces *p) {
    for (size_t at = p->text.size; at-- > 1;)
        if (divides(p->text.data, at))
            return at;
    return certain_end(p);
}

/* Removes from p->text what was cut. */
static void drop_cut(text_pieces *p) {
    p->text.size -= p->cut;
    if (p->cut > 0 && p->text.size > 0)
        memmove(p->text.data, p->text.data + p->cut, p->text.size);
    p->cut = 0;
}

/* Folds until there is a place to end the window, which *end receives. Each time the folded text
 * about doubles. */
static tem_status next_window(text_pieces *p, size_t *end, tem_error *error) {
    do {
        if (p->text.size > TEXT_WORD_BYTES_MAX)
            return core_fail(error, TEM_ERR_RANGE,
                             "a document has more than 16 MiB that cannot be divided: one word, or "
                             "words joined by hyphens");
        const size_t room = TEXT_WORD_BYTES_MAX + (size_t)1 - p->text.size;
        const size_t most = p->text.size > p->window ? p->text.size : p->window;
        TRY(fold_next(p, most < room ? most : room, error));
        *end = p->rest_bytes == 0 ? p->text.size : window_end(p);
    } while (*end == 0 && p->rest_bytes > 0);
    return TEM_OK;
}

tem_status text_pieces_window(text_pieces *p, tem_error *error) {
    size_t end = 0;
    p->count = 0;
    drop_cut(p);
    TRY(next_window(p, &end, error));
    return add_all(p, end) ? TEM_OK : core_fail_memory(error);
}

tem_status text_pieces_next(text_pieces *p, tem_error *error) {
    tem_status status = TEM_OK;
    p->count = 0;
    while (status == TEM_OK && p->count == 0 && p->rest_bytes > 0)
        status = text_pieces_window(p, error);
    return status;
}

/* Makes the cache of recent words once enough text came for it to pay. Returns false if there is no
 * memory. */
static bool keep_recent(text_pieces *p, size_t bytes) {
    if (p->recent != NULL || (p->bytes_cut += bytes) < RECENT_AFTER_BYTES)
        return true;
    p->recent = recent_new();
    return p->recent != NULL;
}

tem_status text_pieces_begin(text_pieces *p, const char *text, size_t bytes, tem_error *error) {
    core_buffer_clear(&p->text);
    core_buffer_clear(&p->breaks);
    p->count = p->cut = p->done = 0;
    p->rest = text;
    p->rest_bytes = 0;
    if (bytes > TEXT_BYTES_MAX)
        return text_check(text, bytes, error);
    p->rest_bytes = bytes;
    return keep_recent(p, bytes) ? TEM_OK : core_fail_memory(error);
}

tem_status text_pieces_cut(text_pieces *p, const char *text, size_t bytes, tem_error *error) {
    tem_status status = text_pieces_begin(p, text, bytes, error);
    if (status == TEM_OK && bytes > 0)
        status = fold_next(p, bytes, error);
    if (status == TEM_OK && !add_all(p, p->text.size))
        status = core_fail_memory(error);
    return status;
}
