/* prior_file.c - a prior from a file: counts of words, or a text whose words are counted. */
#include "audit/prior.h"
#include "core/status.h"
#include "core/threads.h"
#include "io/file.h"
#include "model/model.h"
#include "text/pieces.h"

#include <string.h>

/* The state while a file is counted, line by line. */
typedef struct counting {
    const char *path;
    const tem_run *run;
    tem_prior *prior;
    text_pieces pieces;
    bool counts; /* lines are WORD<TAB>COUNT, else text */
    uint64_t line;
    const char *text; /* the whole file */
    size_t bytes;
    size_t untold; /* bytes counted since the last progress report */
} counting;

/* Splits a line WORD<TAB>COUNT. *word receives the length of the word in bytes. Returns false if
 * the line has another form, or the count does not fit into 64 bits. */
static bool split_counts(const char *line, size_t bytes, size_t *word, uint64_t *count) {
    const char *tab = bytes == 0 ? NULL : memchr(line, '\t', bytes);
    const char *end = line + bytes;
    uint64_t value = 0;
    if (tab == NULL || tab == line || tab + 1 == end)
        return false;
    for (const char *c = tab + 1; c < end; c++)
        if (*c < '0' || *c > '9' || __builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*c - '0'), &value))
            return false;
    *word = (size_t)(tab - line);
    *count = value;
    return true;
}

/* Counts each word of c->pieces `count` times, and reports progress now and then. */
static tem_status count_pieces(counting *c, double count, tem_error *error) {
    enum { BYTES_A_REPORT = 1 << 20 };
    for (size_t i = 0; i < c->pieces.count; i++)
        if (c->pieces.pieces[i].word && c->pieces.pieces[i].id != TEM_NO_WORD)
            c->prior->frequencies[c->pieces.pieces[i].id] += count;
        else if (c->pieces.pieces[i].word)
            c->prior->info.unknown += count;
    c->untold += c->pieces.cut;
    if (c->untold < BYTES_A_REPORT)
        return TEM_OK;
    c->untold = 0;
    return core_progress(c->run, "counting words", (uint64_t)(c->pieces.rest - c->text), c->bytes,
                         error);
}

static tem_status count_line(counting *c, const char *line, size_t bytes, tem_error *error) {
    uint64_t count = 1;
    if (c->counts && !split_counts(line, bytes, &bytes, &count))
        return core_fail_at(error, TEM_ERR_FORMAT, c->path, c->line, 0,
                            "expected a word, a tab and a whole number: the first line has a tab, "
                            "so these are counts");
    tem_status status = text_pieces_begin(&c->pieces, line, bytes, error);
    do {
        if (status == TEM_OK)
            status = text_pieces_next(&c->pieces, error);
        if (status == TEM_OK)
            status = count_pieces(c, (double)count, error);
    } while (status == TEM_OK && c->pieces.count > 0);
    if (status == TEM_ERR_FORMAT)
        return core_fail_at(error, status, c->path, c->line, 0, "the line is not UTF-8");
    if (status == TEM_ERR_RANGE)
        return core_fail_at(error, TEM_ERR_FORMAT, c->path, c->line, 0,
                            "the line, or a word in it, is too long");
    return status;
}

/* The length of a line without a carriage return at its end. `end` points to its line feed, or to
 * the end of the file. */
static size_t line_bytes(const char *start, const char *end) {
    return (size_t)(end - start) - (end > start && end[-1] == '\r');
}

static tem_status count_lines(counting *c, const file_view *file, tem_error *error) {
    const char *start = file->data, *end = file->data + file->size;
    tem_status status = TEM_OK;
    while (status == TEM_OK && start < end) {
        const char *stop = memchr(start, '\n', (size_t)(end - start));
        stop = stop == NULL ? end : stop;
        const size_t bytes = line_bytes(start, stop);
        if (c->line++ == 0)
            c->counts = bytes > 0 && memchr(start, '\t', bytes) != NULL;
        status = count_line(c, start, bytes, error);
        start = stop + 1;
    }
    return status;
}

static uint32_t find_word(const void *vocabulary, const char *word, size_t length) {
    return vocab_find(vocabulary, word, length);
}

tem_status prior_load(const tem_model *model, const char *path, const tem_run *run,
                      tem_prior **prior, tem_error *error) {
    file_view file = {0};
    tem_status status = file_open(path, run, &file, error);
    if (status != TEM_OK)
        return status;
    counting c = {.path = path,
                  .run = run,
                  .text = file.data,
                  .bytes = file.size,
                  .prior = prior_make(model, model->words.count)};
    text_pieces_init(&c.pieces, find_word, &model->words);
    status = c.prior == NULL ? core_fail_memory(error) : count_lines(&c, &file, error);
    if (status == TEM_OK)
        c.prior->info = (tem_prior_info){.is_counts = c.counts,
                                         .counted = prior_scale(c.prior),
                                         .unknown = c.prior->info.unknown};
    if (status == TEM_OK && !(c.prior->info.counted > 0))
        status = core_fail_at(error, TEM_ERR_FORMAT, path, 0, 0,
                              "no word of it is in the model's vocabulary");
    text_pieces_free(&c.pieces);
    file_close(&file);
    if (status == TEM_OK)
        *prior = c.prior;
    else
        prior_free(c.prior);
    return status;
}
