/* ngram_arpa.c - n-gram models as files in ARPA format.
 *
 * ARPA is text: counts, then one section per order, each line a logarithm to base 10, the words and
 * a back-off weight. The reader ignores the back-off weights and computes them anew: files have few
 * digits, and the reader leaves out n-grams with words that the model does not have, so that the
 * weights of the file would no longer make the probabilities add up to 1. */
#include "language/ngram_listed.h"

#include "core/memory.h"
#include "core/number.h"
#include "core/status.h"
#include "core/threads.h"
#include "io/file.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------- reading -- */

typedef struct arpa_reader {
    ngram_listed *listed;
    const char *at, *end; /* the rest of the file */
    const char *line;     /* the line read last, without its end */
    size_t bytes;
    uint64_t number;                        /* of that line, from 1 */
    uint64_t promised[NGRAM_ORDER_MAX + 1]; /* n-grams per order */
} arpa_reader;

static tem_status fail_line(const arpa_reader *r, tem_error *error, const char *message) {
    return core_fail_at(error, TEM_ERR_FORMAT, r->listed->path, r->number, 0, "%s", message);
}

/* The next line that is not empty. False at the end of the file. */
static bool next_line(arpa_reader *r) {
    do {
        if (r->at == r->end)
            return false;
        const char *feed = memchr(r->at, '\n', (size_t)(r->end - r->at));
        const char *stop = feed == NULL ? r->end : feed;
        r->line = r->at;
        r->bytes = (size_t)(stop - r->at);
        r->at = feed == NULL ? r->end : feed + 1;
        while (r->bytes > 0 && (r->line[r->bytes - 1] == '\r' || r->line[r->bytes - 1] == ' '))
            r->bytes--;
        r->number++;
    } while (r->bytes == 0);
    return true;
}

static bool is_line(const arpa_reader *r, const char *text) {
    return r->bytes == strlen(text) && memcmp(r->line, text, r->bytes) == 0;
}

/* Reads "ngram N=COUNT". */
static bool read_count(arpa_reader *r, uint32_t order) {
    static const char start[] = "ngram ";
    const size_t before = sizeof start - 1 + 2; /* with "N=" */
    if (r->bytes <= before || memcmp(r->line, start, sizeof start - 1) != 0 ||
        r->line[before - 2] != (char)('0' + order) || r->line[before - 1] != '=')
        return false;
    uint64_t count = 0;
    for (size_t i = before; i < r->bytes; i++) {
        if (r->line[i] < '0' || r->line[i] > '9' || count > UINT32_MAX)
            return false;
        count = count * 10 + (uint64_t)(r->line[i] - '0');
    }
    r->promised[order] = count;
    return true;
}

static tem_status read_counts(arpa_reader *r, uint32_t *orders, tem_error *error) {
    uint32_t order = 0;
    do
        if (!next_line(r))
            return fail_line(r, error, "expected \\data\\, found the end: not an ARPA file");
    while (!is_line(r, "\\data\\"));
    while (next_line(r) && r->line[0] != '\\') {
        if (order == NGRAM_ORDER_MAX || !read_count(r, order + 1))
            return fail_line(r, error,
                             "expected the number of n-grams of the next order, up to 3: "
                             "tem reads ARPA files of order 1 to 3");
        order++;
    }
    if (order < 1)
        return fail_line(r, error, "expected n-grams of order 1 to 3");
    *orders = order;
    return TEM_OK;
}

/* Takes the next field of a line, between blanks. */
static bool take_field(const char **at, const char *end, const char **field, size_t *bytes) {
    while (*at < end && number_is_separator(**at))
        (*at)++;
    *field = *at;
    while (*at < end && !number_is_separator(**at))
        (*at)++;
    *bytes = (size_t)(*at - *field);
    return *bytes > 0;
}

static bool is_word(const char *field, size_t bytes, const char *word) {
    return bytes == strlen(word) && memcmp(field, word, bytes) == 0;
}

/* The symbol of a word at place `i` of an n-gram of this order; `symbols` for a word that the model
 * does not have, or that cannot stand there. */
static uint32_t symbol_at(const arpa_reader *r, const char *field, size_t bytes, uint32_t i,
                          uint32_t order) {
    const tem_ngram *g = r->listed->g;
    if (is_word(field, bytes, "<s>"))
        return i == 0 && order > 1 ? g->edge : g->symbols;
    if (is_word(field, bytes, "</s>"))
        return i == order - 1 ? g->edge : g->symbols;
    if (is_word(field, bytes, "<unk>") || is_word(field, bytes, "<UNK>"))
        return g->unknown;
    const uint32_t id = vocab_find(&g->model->words, field, bytes);
    return id == TEM_NO_WORD ? g->symbols : id;
}

static tem_status add_word(arpa_reader *r, uint32_t symbol, bool is_begin, double p,
                           tem_error *error) {
    tem_ngram *g = r->listed->g;
    if (is_begin)
        return TEM_OK;
    if (symbol == g->symbols) {
        g->info.outside++;
        r->listed->spare += p;
        return TEM_OK;
    }
    if (r->listed->found[symbol])
        return fail_line(r, error, "the n-gram occurs twice");
    r->listed->found[symbol] = true;
    if (symbol == g->unknown)
        r->listed->spare += p;
    else
        g->p[symbol] = p;
    return TEM_OK;
}

/* Reads one n-gram: a logarithm, `order` words, and perhaps a back-off weight. */
static tem_status read_ngram(arpa_reader *r, uint32_t order, tem_error *error) {
    const char *at = r->line, *end = r->line + r->bytes, *field = NULL;
    size_t bytes = 0;
    double logarithm = 0, bow = 0;
    uint64_t key = 0;
    bool known = true, is_begin = false;
    uint32_t symbol = 0;
    if (!take_field(&at, end, &field, &bytes) ||
        number_parse(field, field + bytes, &logarithm) != NUMBER_OK || logarithm > 0)
        return fail_line(r, error, "expected the logarithm of a probability, 0 or less");
    for (uint32_t i = 0; i < order; i++) {
        if (!take_field(&at, end, &field, &bytes))
            return fail_line(r, error, "the n-gram has too few words");
        symbol = symbol_at(r, field, bytes, i, order);
        is_begin = is_word(field, bytes, "<s>");
        known &= symbol != r->listed->g->symbols;
        key = key << NGRAM_PART_BITS | symbol;
    }
    if (take_field(&at, end, &field, &bytes) &&
        number_parse(field, field + bytes, &bow) != NUMBER_OK)
        return fail_line(r, error, "expected a back-off weight after the n-gram");
    if (take_field(&at, end, &field, &bytes))
        return fail_line(r, error, "something follows the back-off weight");
    const double p = pow(10, logarithm);
    if (order == 1)
        return add_word(r, symbol, is_begin, p, error);
    if (known)
        ngram_list(r->listed, order, key, p);
    return TEM_OK;
}

static tem_status read_section(arpa_reader *r, uint32_t order, const tem_run *run,
                               tem_error *error) {
    enum { LINES_A_REPORT = 65536, LINE_LEAST = 4 };
    char head[16];
    tem_status status = TEM_OK;
    snprintf(head, sizeof head, "\\%u-grams:", order);
    if (!is_line(r, head))
        return fail_line(r, error, "expected the heading of the n-grams of the next order");
    /* Each n-gram takes a line, so a count that the file cannot hold allocates nothing. */
    if (r->promised[order] > (uint64_t)(r->end - r->at) / LINE_LEAST)
        return fail_line(r, error, "the file is too short for the n-grams that it promises");
    if (order > 1)
        r->listed->entries[order] =
            core_alloc(r->promised[order], sizeof *r->listed->entries[order]);
    if (order > 1 && r->listed->entries[order] == NULL)
        return core_fail_memory(error);
    for (uint64_t i = 0; status == TEM_OK && i < r->promised[order]; i++) {
        if (!next_line(r) || r->line[0] == '\\')
            return fail_line(r, error, "fewer n-grams than the file promises");
        status = read_ngram(r, order, error);
        if (status == TEM_OK && i % LINES_A_REPORT == 0)
            status = core_progress(run, "reading n-grams", i, r->promised[order], error);
    }
    if (status == TEM_OK && !next_line(r))
        return fail_line(r, error, "the file is cut short: no \\end\\");
    return status;
}

/* ------------------------------------------------------------ the file -- */

static tem_status read_file(arpa_reader *r, const tem_run *run, tem_error *error) {
    uint32_t orders = 0;
    tem_status status = read_counts(r, &orders, error);
    for (uint32_t order = 1; status == TEM_OK && order <= orders; order++)
        status = read_section(r, order, run, error);
    if (status == TEM_OK && !is_line(r, "\\end\\"))
        return fail_line(r, error, "expected \\end\\: the file has more n-grams than it promises");
    if (status == TEM_OK)
        status = core_progress(run, "sorting n-grams", 0, 0, error);
    return status == TEM_OK ? ngram_from_listed(r->listed, orders, error) : status;
}

tem_status ngram_read_arpa(const file_view *file, const tem_run *run, ngram_listed *listed,
                           tem_error *error) {
    arpa_reader r = {.listed = listed, .at = file->data, .end = file->data + file->size};
    return read_file(&r, run, error);
}

/* -------------------------------------------------------------- writing -- */

typedef struct arpa_writer {
    const tem_ngram *g;
    file_writer file;
    const tem_run *run;
    bool *left_out; /* per symbol: ARPA cannot have it */
    char *text;     /* what is not yet written */
    size_t bytes;
    uint64_t lines, all;
    tem_status status;
    tem_error *error;
} arpa_writer;

enum { TEXT_ROOM = 1 << 20, LINE_ROOM = 4 * TEM_WORD_BYTES_MAX };

static void flush_text(arpa_writer *w) {
    if (w->status == TEM_OK)
        w->status = file_writer_put(&w->file, w->text, w->bytes, w->error);
    if (w->status == TEM_OK)
        w->status = core_progress(w->run, "writing n-grams", w->lines, w->all, w->error);
    w->bytes = 0;
}

static void put_bytes(arpa_writer *w, const char *bytes, size_t count) {
    if (w->bytes + count > TEXT_ROOM)
        flush_text(w);
    if (count > 0)
        memcpy(w->text + w->bytes, bytes, count);
    w->bytes += count;
}

static void put_text(arpa_writer *w, const char *text) {
    put_bytes(w, text, strlen(text));
}

/* Writes log10(p) with seven digits after the point. By integers, because printf takes the decimal
 * point from the locale. -99 stands for 0. */
static void put_logarithm(arpa_writer *w, double p) {
    static const double unit = 1e7, least = -99;
    const double logarithm = p > 0 ? fmax(log10(p), least) : least;
    const int64_t steps = llround(logarithm * unit), size = steps < 0 ? -steps : steps;
    char text[32];
    snprintf(text, sizeof text, "%s%lld.%07lld", steps < 0 ? "-" : "", (long long)(size / 10000000),
             (long long)(size % 10000000));
    put_text(w, text);
}

static void put_symbol(arpa_writer *w, uint32_t symbol, bool is_history) {
    const tem_ngram *g = w->g;
    size_t bytes = 0;
    if (symbol == g->edge)
        put_text(w, is_history ? "<s>" : "</s>");
    else if (symbol == g->unknown)
        put_text(w, "<unk>");
    else {
        const char *word = vocab_word(&g->model->words, symbol, &bytes);
        put_bytes(w, word, bytes);
    }
}

/* Words that an ARPA file cannot have. */
static void find_left_out(arpa_writer *w) {
    static const char *const special[] = {"<s>", "</s>", "<unk>", "<UNK>"};
    for (uint32_t id = 0; id < w->g->words; id++) {
        size_t bytes = 0;
        const char *word = vocab_word(&w->g->model->words, id, &bytes);
        bool odd = word == NULL;
        for (size_t i = 0; i < bytes; i++)
            odd |= word[i] == ' ' || word[i] == '\t' || word[i] == '\v' || word[i] == '\f';
        for (size_t i = 0; i < sizeof special / sizeof *special; i++)
            odd |= is_word(word, bytes, special[i]);
        w->left_out[id] = odd;
    }
}

static void put_head(arpa_writer *w, const uint64_t counts[NGRAM_ORDER_MAX + 1]) {
    char line[64];
    put_text(w, "\\data\\\n");
    for (uint32_t order = 1; order <= w->g->info.order; order++) {
        snprintf(line, sizeof line, "ngram %u=%llu\n", order, (unsigned long long)counts[order]);
        put_text(w, line);
    }
}

static void put_words(arpa_writer *w) {
    const tem_ngram *g = w->g;
    put_text(w, "\n\\1-grams:\n-99.0000000\t<s>\t");
    put_logarithm(w, g->two.bow[g->edge]);
    put_text(w, "\n");
    for (uint32_t s = 0; s < g->symbols && w->status == TEM_OK; s++) {
        if (w->left_out[s])
            continue;
        put_logarithm(w, g->p[s]);
        put_text(w, "\t");
        put_symbol(w, s, false);
        if (s != g->edge) {
            put_text(w, "\t");
            put_logarithm(w, g->two.bow[s]);
        }
        put_text(w, "\n");
        w->lines++;
    }
}

/* Calls `each` for every bigram that can be written. */
static void each_bigram(arpa_writer *w, void (*each)(arpa_writer *, uint32_t v, uint64_t entry)) {
    const ngram_rows *two = &w->g->two;
    for (uint32_t v = 0; v < w->g->symbols; v++)
        for (uint64_t i = two->starts[v]; i < two->starts[v + 1] && w->status == TEM_OK; i++)
            if (!w->left_out[v] && !w->left_out[two->ids[i]])
                each(w, v, i);
}

static void put_bigram(arpa_writer *w, uint32_t v, uint64_t entry) {
    const tem_ngram *g = w->g;
    const uint32_t word = g->two.ids[entry];
    put_logarithm(w, g->two.extra[entry] + g->two.bow[v] * g->p[word]);
    put_text(w, "\t");
    put_symbol(w, v, true);
    put_text(w, " ");
    put_symbol(w, word, false);
    if (g->three.starts != NULL && word != g->edge) {
        put_text(w, "\t");
        put_logarithm(w, g->three.bow[entry]);
    }
    put_text(w, "\n");
    w->lines++;
}

static void put_trigrams(arpa_writer *w, uint32_t u, uint64_t entry) {
    const tem_ngram *g = w->g;
    const uint32_t v = g->two.ids[entry];
    for (uint64_t i = g->three.starts[entry]; i < g->three.starts[entry + 1]; i++) {
        const uint32_t word = g->three.ids[i];
        if (w->left_out[word])
            continue;
        put_logarithm(w, g->three.extra[i] + g->three.bow[entry] * ngram_two(g, v, word));
        put_text(w, "\t");
        put_symbol(w, u, true);
        put_text(w, " ");
        put_symbol(w, v, true);
        put_text(w, " ");
        put_symbol(w, word, false);
        put_text(w, "\n");
        w->lines++;
    }
}

/* Counts what the sections will have; `lines` is used for it, and 0 again afterwards. */
static void count_bigram(arpa_writer *w, uint32_t v, uint64_t entry) {
    (void)v, (void)entry;
    w->lines++;
}

static void count_trigrams(arpa_writer *w, uint32_t u, uint64_t entry) {
    const ngram_rows *three = &w->g->three;
    (void)u;
    for (uint64_t i = three->starts[entry]; i < three->starts[entry + 1]; i++)
        w->lines += !w->left_out[three->ids[i]];
}

static void put_file(arpa_writer *w) {
    uint64_t counts[NGRAM_ORDER_MAX + 1] = {0, 1, 0, 0}; /* <s> */
    const bool three = w->g->three.starts != NULL;
    for (uint32_t s = 0; s < w->g->symbols; s++)
        counts[1] += !w->left_out[s];
    each_bigram(w, count_bigram);
    counts[2] = w->lines;
    if (three)
        each_bigram(w, count_trigrams);
    counts[3] = w->lines - counts[2];
    w->all = counts[1] + counts[2] + counts[3];
    w->lines = 0;
    put_head(w, counts);
    put_words(w);
    if (w->g->info.order >= 2)
        put_text(w, "\n\\2-grams:\n");
    each_bigram(w, put_bigram);
    if (three) {
        put_text(w, "\n\\3-grams:\n");
        each_bigram(w, put_trigrams);
    }
    put_text(w, "\n\\end\\\n");
    flush_text(w);
}

tem_status ngram_save(const tem_ngram *g, const char *path, tem_overwrite overwrite,
                      const tem_run *run, tem_error *error) {
    arpa_writer w = {.g = g,
                     .run = run,
                     .left_out = core_alloc_zero(g->symbols, sizeof(bool)),
                     .text = core_alloc(TEXT_ROOM + LINE_ROOM, 1),
                     .error = error};
    tem_status status = w.left_out == NULL || w.text == NULL
                            ? core_fail_memory(error)
                            : file_writer_open(&w.file, path, overwrite, error);
    if (status == TEM_OK) {
        find_left_out(&w);
        put_file(&w);
        status = w.status == TEM_OK ? file_writer_commit(&w.file, error) : w.status;
        if (w.status != TEM_OK)
            file_writer_abandon(&w.file);
    }
    core_free(w.text);
    core_free(w.left_out);
    return status;
}
