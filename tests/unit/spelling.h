/* spelling.h - a stream of records, written in many ways.
 *
 * An abstract stream holds only what may show in the output: a format, policies, records, and for
 * each record its other fields and the pieces of its private field, by lines. A spelling is a
 * stream with the same abstract content. Everything else is chosen freely: white space, case,
 * normal form, apostrophes, tags, quotes, escapes, line ends, blank lines, the byte order mark, the
 * end of the last line, null for "", and how records are divided among inputs.
 *
 * test_spelling.c chooses at random, fuzz/fuzz_spelling.c by the bytes of its input. */
#ifndef TESTS_SPELLING_H
#define TESTS_SPELLING_H

#include "core/buffer.h"
#include "tem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unistr.h>

enum { RECORDS_MAX = 6, LINES_MAX = 3, PIECES_MAX = 5, INPUTS_MAX = 2 };

/* ---- choices ---- */

/* A source of choices: given bytes, then zeros; or, without bytes, pseudo-random numbers. */
typedef struct chooser {
    const uint8_t *bytes;
    size_t size;
    uint64_t state;
} chooser;

static inline size_t choose(chooser *c, size_t bound) {
    if (c->bytes == NULL) {
        c->state ^= c->state >> 12;
        c->state ^= c->state << 25;
        c->state ^= c->state >> 27;
        return (size_t)((c->state * 2685821657736338717u >> 32) % bound);
    }
    if (c->size == 0)
        return 0;
    c->size--;
    return *c->bytes++ % bound;
}

/* Chooses one of the first `count` strings of a list. */
static inline const char *choose_of(chooser *c, const char *const *list, size_t count) {
    return list[choose(c, count)];
}
#define CHOOSE_OF(c, list) choose_of(c, list, sizeof(list) / sizeof *(list))

/* ---- pieces ---- */

/* Each row is one or more pieces, in spellings that folding makes equal. Rows from
 * FIRST_PUNCTUATION on have no letter or digit. */
static const char *const pieces[][4] = {
    {"the", "The", "THE", "tHe"},
    {"movie", "Movie", "MOVIE", "movIe"},
    {"caf\u00e9", "cafe\u0301", "CAF\u00c9", "CAFE\u0301"},
    {"it's", "it\u2019s", "IT'S", "It\u2019S"},
    {"don't", "don\u2019t", "DON'T", "Don't"}, /* do n't, as in the vocabulary */
    {"well-known", "Well-Known", "WELL-KNOWN", "well-KNOWN"},
    {"x-ray", "X-ray", "X-RAY", "x-Ray"}, /* unknown, two words */
    {"zyx", "Zyx", "ZYX", "zyX"},         /* unknown */
    {"strasse", "stra\u00dfe", "STRASSE", "STRA\u1e9eE"},
    {"\u00e5", "a\u030a", "\u212b", "A\u030a"},
    {"k", "K", "\u212a", "k"},
    {"\u03c3\u03b1\u03c3", "\u03a3\u0391\u03a3", "\u03c3\u03b1\u03c2", "\u03a3\u03b1\u03c2"},
    {"\ud55c", "\u1112\u1161\u11ab", "\ud558\u11ab", "\ud55c"},
    {"42", "42", "42", "42"},
    {"3.14", "3.14", "3.14", "3.14"},
    {"\uff9e", "\uff9e", "\uff9e", "\uff9e"}, /* a letter that extends the space before it */
    {"\u0301", "\u0301", "\u0301", "\u0301"}, /* a mark, which also extends it */
    {"!", "!", "!", "!"},
    {",", ",", ",", ","},
    {"\"", "\"", "\"", "\""},
    {";", "\u037e", ";", "\u037e"},
    {"`", "\u1fef", "`", "\u1fef"},
    {"<", "<", "<", "<"},
    {"\U0001f44d\U0001f3fd", "\U0001f44d\U0001f3fd", "\U0001f44d\U0001f3fd",
     "\U0001f44d\U0001f3fd"},
};
enum { PIECES = sizeof pieces / sizeof *pieces, FIRST_PUNCTUATION = 16 };

typedef struct abstract_record {
    size_t line_count; /* at least 1; more than one counts only with keep_lines */
    size_t piece_counts[LINES_MAX];
    size_t pieces[LINES_MAX][PIECES_MAX]; /* rows of `pieces` */
    bool null;                            /* JSONL: null under TEM_MISSING_KEEP */
} abstract_record;

typedef struct abstract_stream {
    tem_format format;
    tem_missing missing;
    tem_text_options text;
    size_t columns, column; /* TSV, CSV */
    size_t record_count;
    abstract_record records[RECORDS_MAX];
} abstract_stream;

static inline void make_record(chooser *c, abstract_record *r) {
    *r = (abstract_record){.line_count = 1 + choose(c, LINES_MAX)};
    r->null = choose(c, 4) == 0;
    if (r->null) {
        r->line_count = 1;
        return;
    }
    for (size_t line = 0; line < r->line_count; line++) {
        r->piece_counts[line] = choose(c, PIECES_MAX + 1);
        for (size_t i = 0; i < r->piece_counts[line]; i++)
            r->pieces[line][i] = choose(c, PIECES);
    }
}

/* Makes the rest of a stream whose policies and format are already set. */
static inline void make_stream(chooser *c, abstract_stream *s) {
    s->columns = 1 + choose(c, 3);
    s->column = choose(c, s->columns);
    s->record_count = choose(c, RECORDS_MAX + 1);
    for (size_t i = 0; i < s->record_count; i++)
        make_record(c, &s->records[i]);
}

/* ---- the private text ---- */

static inline void put_bytes(core_buffer *out, const char *bytes, size_t count) {
    if (!core_buffer_add(out, bytes, count))
        abort();
}

static inline void put_string(core_buffer *out, const char *string) {
    put_bytes(out, string, strlen(string));
}

/* Puts white space that the format allows in its private field: a prefix of the list. In CSV,
 * quotes allow all of it. */
static inline void put_blank(chooser *c, const abstract_stream *s, core_buffer *out) {
    static const char *const blanks[] = {
        " ",    "   ",  "\u00a0", "\u2003", "\u202f", "\u3000", "\u2028", "\xc2\x85",
        "\x01", "\x7f", "\x0b",   "\x0c",   "\t",     "\r",     "\n",     "\r\n"};
    enum { TSV = 12, TEXT = 14, ALL = 16 };
    const bool one_line = s->format == TEM_FORMAT_TEXT || s->text.keep_lines;
    put_string(out, blanks[choose(c, s->format == TEM_FORMAT_TSV ? TSV : one_line ? TEXT : ALL)]);
}

/* Puts text between pieces. This may include text that the policies leave out. */
static inline void put_between(chooser *c, const abstract_stream *s, core_buffer *out) {
    static const char *const tags[] = {"<br />", "<b>", "</p >", "<a href=\"x, y\">", "<!-- - -->"};
    static const char *const dropped[] = {",",   " ! ",    "\"",         " ... ",
                                          " ( ", "\u200b", "\U0001f600", ";"};
    const bool may_drop = s->text.punctuation == TEM_PUNCTUATION_DROP;
    const size_t kind = choose(c, 8);
    if (kind == 0 && s->text.strip_tags) {
        put_string(out, CHOOSE_OF(c, tags));
        return;
    }
    if (kind == 1 && may_drop)
        put_string(out, CHOOSE_OF(c, dropped));
    for (size_t left = 1 + choose(c, 2); left > 0; left--)
        put_blank(c, s, out);
}

static inline void put_line(chooser *c, const abstract_stream *s, const abstract_record *r,
                            size_t line, core_buffer *out) {
    if (choose(c, 3) == 0)
        put_between(c, s, out);
    for (size_t i = 0; i < r->piece_counts[line]; i++) {
        if (i > 0)
            put_between(c, s, out);
        put_string(out, pieces[r->pieces[line][i]][choose(c, 4)]);
    }
    if (choose(c, 3) == 0)
        put_between(c, s, out);
}

/* The text of a private field, before it is quoted or escaped. */
static inline void put_text(chooser *c, const abstract_stream *s, const abstract_record *r,
                            core_buffer *out) {
    for (size_t line = 0; line < r->line_count; line++) {
        if (line > 0 && s->text.keep_lines && s->format >= TEM_FORMAT_CSV)
            put_string(out, choose(c, 2) ? "\n" : "\r\n");
        else if (line > 0)
            put_between(c, s, out);
        put_line(c, s, r, line, out);
    }
}

/* ---- as a field ---- */

static inline void put_json(chooser *c, const core_buffer *text, core_buffer *out) {
    put_string(out, "\"");
    for (size_t at = 0; at < text->size;) {
        ucs4_t ch = 0;
        char escape[16];
        const char *letters = "\"\\/\b\f\n\r\t", *names = "\"\\/bfnrt", *letter = NULL;
        const char *raw = text->data + at;
        const int bytes = u8_mbtouc(&ch, (const uint8_t *)raw, text->size - at);
        at += (size_t)bytes;
        if (ch > 0 && ch < 0x80)
            letter = strchr(letters, (int)ch);
        const bool must = ch < 0x20 || ch == '"' || ch == '\\';
        if (!must && choose(c, 3) > 0)
            put_bytes(out, raw, (size_t)bytes);
        else if (letter != NULL && choose(c, 2)) {
            snprintf(escape, sizeof escape, "\\%c", names[letter - letters]);
            put_string(out, escape);
        } else if (ch < 0x10000) {
            snprintf(escape, sizeof escape, choose(c, 2) ? "\\u%04x" : "\\u%04X", ch);
            put_string(out, escape);
        } else {
            ch -= 0x10000;
            snprintf(escape, sizeof escape, "\\u%04x\\u%04x", 0xd800 + (ch >> 10),
                     0xdc00 + (ch & 0x3ff));
            put_string(out, escape);
        }
    }
    put_string(out, "\"");
}

static inline void put_csv(chooser *c, const abstract_stream *s, const core_buffer *text,
                           core_buffer *out) {
    bool must = text->size == 0 && s->columns == 1;
    for (size_t i = 0; i < text->size; i++)
        must |= strchr("\",\r\n", text->data[i]) != NULL && text->data[i] != '\0';
    if (!must && choose(c, 2)) {
        put_bytes(out, text->data, text->size);
        return;
    }
    put_string(out, "\"");
    for (size_t i = 0; i < text->size; i++)
        put_bytes(out, text->data[i] == '"' ? "\"\"" : text->data + i,
                  text->data[i] == '"' ? 2 : 1);
    put_string(out, "\"");
}

/* Puts a field that is not only blanks, and whose first quote cannot be taken for quoting. */
static inline void put_tsv(const abstract_stream *s, const core_buffer *text, core_buffer *out) {
    if (text->size == 0 ? s->columns == 1 : text->data[0] == '"')
        put_string(out, " ");
    put_bytes(out, text->data, text->size);
}

static inline bool has_pieces(const abstract_record *r) {
    for (size_t line = 0; line < r->line_count; line++)
        if (r->piece_counts[line] > 0)
            return true;
    return false;
}

static inline bool is_null(chooser *c, const abstract_stream *s, const abstract_record *r) {
    if (s->missing == TEM_MISSING_KEEP)
        return r->null;
    return !has_pieces(r) && (r->line_count == 1 || !s->text.keep_lines) && choose(c, 2);
}

static inline void put_field(chooser *c, const abstract_stream *s, const abstract_record *r,
                             core_buffer *out) {
    core_buffer text = {0};
    put_text(c, s, r, &text);
    switch (s->format) {
    case TEM_FORMAT_CSV:
        put_csv(c, s, &text, out);
        break;
    case TEM_FORMAT_TSV:
        put_tsv(s, &text, out);
        break;
    case TEM_FORMAT_JSONL:
        if (is_null(c, s, r))
            put_string(out, "null");
        else
            put_json(c, &text, out);
        break;
    default:
        put_bytes(out, text.data, text.size);
    }
    core_buffer_free(&text);
}

/* ---- records and inputs ---- */

/* The other fields of a record, equal in every spelling. */
static inline const char *other_field(const abstract_stream *s, size_t number) {
    static const char *const fields[] = {"", "7", " The Movie\t", "\"a, \"\"b\"\"\r\n\n\""};
    static const char *const tabs[] = {"", "7", " The Movie", "\"a\" b"};
    return (s->format == TEM_FORMAT_CSV ? fields : tabs)[number % 4];
}

/* Puts a record, or the header if `r` is NULL. */
static inline void put_row(chooser *c, const abstract_stream *s, const abstract_record *r,
                           size_t number, core_buffer *out) {
    for (size_t column = 0; column < s->columns; column++) {
        char name[24];
        snprintf(name, sizeof name, "id%zu", column);
        if (column > 0)
            put_string(out, s->format == TEM_FORMAT_CSV ? "," : "\t");
        if (column != s->column)
            put_string(out, r == NULL ? name : other_field(s, number + column));
        else if (r == NULL)
            put_string(out, "text");
        else
            put_field(c, s, r, out);
    }
}

static inline void put_record(chooser *c, const abstract_stream *s, const abstract_record *r,
                              size_t number, core_buffer *out) {
    char prefix[64];
    if (s->format == TEM_FORMAT_TSV || s->format == TEM_FORMAT_CSV) {
        put_row(c, s, r, number, out);
        return;
    }
    if (s->format == TEM_FORMAT_JSONL) {
        snprintf(prefix, sizeof prefix, " {\"id\" : [%zu, \"A\\u0041\"], \"te\\u0078t\":", number);
        put_string(out, prefix);
    }
    put_field(c, s, r, out);
    if (s->format == TEM_FORMAT_JSONL)
        put_string(out, " }");
}

static inline void put_line_end(chooser *c, const abstract_stream *s, core_buffer *out) {
    static const char *const ends[] = {"\n", "\r\n", "\r\r\n"};
    put_string(out, ends[choose(c, s->format == TEM_FORMAT_JSONL ? 3 : 2)]);
}

static inline void put_blank_lines(chooser *c, const abstract_stream *s, core_buffer *out) {
    for (size_t left = choose(c, 3); left > 0 && s->format != TEM_FORMAT_TEXT; left--)
        put_line_end(c, s, out);
}

/* Puts the records from `first` to `end` as one input. */
static inline void put_input(chooser *c, const abstract_stream *s, size_t first, size_t end,
                             core_buffer *out) {
    const bool table = s->format == TEM_FORMAT_TSV || s->format == TEM_FORMAT_CSV;
    size_t content = 0; /* where the last record ends, without its line end */
    if (choose(c, 3) == 0)
        put_string(out, "\ufeff");
    put_blank_lines(c, s, out);
    if (table) {
        put_row(c, s, NULL, 0, out);
        content = out->size;
        put_line_end(c, s, out);
        put_blank_lines(c, s, out);
    }
    for (size_t i = first; i < end; i++) {
        const size_t start = out->size;
        put_record(c, s, &s->records[i], i, out);
        content = out->size > start ? out->size : 0; /* an empty line needs its line end */
        put_line_end(c, s, out);
        put_blank_lines(c, s, out);
    }
    if (content > 0 && choose(c, 2))
        out->size = content;
}

/* A stream as one input or two. Free both. */
typedef struct spelling {
    core_buffer inputs[INPUTS_MAX];
    size_t count;
} spelling;

static inline spelling spell(chooser *c, const abstract_stream *s) {
    spelling made = {.count = 1 + choose(c, INPUTS_MAX)};
    const size_t split = made.count == 1 ? s->record_count : choose(c, s->record_count + 1);
    put_input(c, s, 0, split, &made.inputs[0]);
    if (made.count > 1)
        put_input(c, s, split, s->record_count, &made.inputs[1]);
    return made;
}

static inline void free_spelling(spelling *s) {
    for (size_t i = 0; i < INPUTS_MAX; i++)
        core_buffer_free(&s->inputs[i]);
}

/* ---- what comes out ---- */

static inline int memory_file(const core_buffer *content) {
    const int file = memfd_create("spelling", MFD_CLOEXEC);
    if (file < 0 ||
        (content->size > 0 && write(file, content->data, content->size) != (ssize_t)content->size))
        abort();
    return file;
}

static inline core_buffer read_memory_file(int file) {
    core_buffer content = {0};
    const off_t size = lseek(file, 0, SEEK_END);
    if (size < 0 || !core_buffer_reserve(&content, (size_t)size + 1) ||
        pread(file, content.data, (size_t)size, 0) != size)
        abort();
    content.size = (size_t)size;
    content.data[size] = '\0';
    return content;
}

/* Runs tem on a spelling; inputs and standard output are files in memory. Free the output. */
static inline tem_status run_spelling(const tem_mechanism *mechanism, const abstract_stream *s,
                                      const spelling *given, core_buffer *out, tem_counts *counts,
                                      tem_error *error) {
    char paths[INPUTS_MAX][32];
    const char *inputs[INPUTS_MAX];
    int files[INPUTS_MAX];
    const core_buffer nothing = {0};
    const tem_run run = {.threads = 1};
    const tem_job job = {.text = s->text,
                         .missing = s->missing,
                         .format = s->format,
                         .field = s->format == TEM_FORMAT_TEXT ? NULL : "text",
                         .inputs = inputs,
                         .input_count = given->count,
                         .insecure_seeded = 1,
                         .insecure_seed = 18};
    for (size_t i = 0; i < given->count; i++) {
        files[i] = memory_file(&given->inputs[i]);
        snprintf(paths[i], sizeof paths[i], "/proc/self/fd/%d", files[i]);
        inputs[i] = paths[i];
    }
    fflush(stdout);
    const int result = memory_file(&nothing), saved = dup(STDOUT_FILENO);
    if (saved < 0 || dup2(result, STDOUT_FILENO) < 0)
        abort();
    const tem_status status = tem_privatize_files(mechanism, &job, &run, counts, NULL, NULL, error);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    *out = read_memory_file(result);
    close(result);
    for (size_t i = 0; i < given->count; i++)
        close(files[i]);
    return status;
}

/* ---- a model with difficult words ---- */

/* Some words need quotes or escapes, so that the output decides about quoting. */
static inline tem_mechanism *spelling_mechanism(tem_model **model) {
    static const char *const words[] = {
        "the",    "movie", "caf\u00e9", "it's", "do",  "n't", "well-known", "strasse",
        "\u00e5", "k",     "!",         "a\"b", "c,d", "\\e", "\"",         "\u03c3\u03b1\u03c3"};
    enum { WORDS = sizeof words / sizeof *words };
    float values[WORDS];
    tem_vectors *vectors = NULL;
    tem_mechanism *mechanism = NULL;
    const tem_mechanism_options options = {.epsilon = 0.5, .gamma = 4};
    for (int i = 0; i < WORDS; i++)
        values[i] = (float)i;
    if (tem_vectors_create(words, values, WORDS, 1, &vectors, NULL) != TEM_OK ||
        tem_model_build(vectors, NULL, NULL, model, NULL) != TEM_OK ||
        tem_mechanism_create(*model, &options, &mechanism, NULL) != TEM_OK)
        abort();
    tem_vectors_free(vectors);
    return mechanism;
}

#endif
