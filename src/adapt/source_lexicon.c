/* source_lexicon.c - reads a lexicon: numbers for words. */
#include "adapt/adaptation.h"
#include "audit/public_text.h"
#include "core/memory.h"
#include "core/number.h"
#include "core/status.h"

#include <math.h>
#include <string.h>

typedef struct lexicon_reading {
    learned *learned;
    public_text text;
    double *sums;      /* per word: of the numbers of its entries, such as those of "ok" and "OK" */
    uint32_t *entries; /* per word: how many it has */
} lexicon_reading;

static tem_status refuse(const lexicon_reading *r, const char *what, tem_error *error) {
    return core_fail_at(error, TEM_ERR_FORMAT, r->text.path, r->text.line, 0, "%s", what);
}

/* Parses the column that starts at `start`. */
static tem_status read_number(const lexicon_reading *r, const char *start, const char *end,
                              double *value, tem_error *error) {
    const char *tab = start == end ? NULL : memchr(start, '\t', (size_t)(end - start));
    switch (number_parse(start, tab == NULL ? end : tab, value)) {
    case NUMBER_OK:
        return fabs(*value) <= LEARNED_NUMBER_MAX
                   ? TEM_OK
                   : refuse(r, "expected a number within 1e100", error);
    case NUMBER_NONE:
        return refuse(r, "expected a word, a tab and a number", error);
    default:
        return refuse(r, "expected a finite number", error);
    }
}

/* Keeps the number of an entry, if the entry is one word that the model has. "8)" is none: it is a
 * word and a sign. */
static tem_status keep_number(lexicon_reading *r, const char *entry, size_t bytes, double value,
                              tem_error *error) {
    const text_pieces *cut = &r->text.pieces;
    const tem_status status = text_pieces_cut(&r->text.pieces, entry, bytes, error);
    if (status == TEM_ERR_MEMORY)
        return status;
    if (status != TEM_OK)
        return refuse(r, "the line is not UTF-8", error);
    if (cut->count != 1 || !cut->pieces[0].word || cut->pieces[0].id == TEM_NO_WORD) {
        r->learned->left_out++;
        return TEM_OK;
    }
    r->sums[cut->pieces[0].id] += value;
    r->entries[cut->pieces[0].id]++;
    return TEM_OK;
}

static tem_status read_line(lexicon_reading *r, const char *line, size_t bytes, tem_error *error) {
    const char *tab = bytes == 0 ? NULL : memchr(line, '\t', bytes);
    double value = 0;
    if (bytes == 0 || line[0] == '#')
        return TEM_OK;
    if (tab == NULL || tab == line)
        return refuse(r, "expected a word, a tab and a number", error);
    TRY(read_number(r, tab + 1, line + bytes, &value, error));
    return keep_number(r, line, (size_t)(tab - line), value, error);
}

static tem_status read_lines(lexicon_reading *r, tem_error *error) {
    const char *line = NULL;
    size_t bytes = 0;
    tem_status status = TEM_OK;
    while (status == TEM_OK && public_text_line(&r->text, &line, &bytes))
        status = read_line(r, line, bytes, error);
    return status;
}

/* Adds the words that have a number, in the order of the vocabulary. */
static void add_rows(lexicon_reading *r) {
    learned *l = r->learned;
    const tem_adaptation *a = l->adaptation;
    for (uint32_t id = 0; id < a->model->words.count; id++) {
        if (r->entries[id] == 0)
            continue;
        const double *x = a->vectors + (size_t)id * a->columns;
        learned_add_number(l, x, r->sums[id] / r->entries[id]);
    }
}

tem_status source_read_lexicon(learned *l, tem_error *error) {
    const tem_model *model = l->adaptation->model;
    lexicon_reading r = {.learned = l};
    TRY(learned_add_target(l, "", 0, error));
    TRY(public_text_open(&r.text, model, l->source->path, l->run, "reading", error));
    r.sums = core_alloc_zero(model->words.count, sizeof *r.sums);
    r.entries = core_alloc_zero(model->words.count, sizeof *r.entries);
    tem_status status =
        r.sums == NULL || r.entries == NULL ? core_fail_memory(error) : read_lines(&r, error);
    if (status == TEM_OK)
        add_rows(&r);
    core_free(r.sums);
    core_free(r.entries);
    public_text_close(&r.text);
    return status;
}
