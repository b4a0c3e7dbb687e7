/* ngram.c - the tables of an n-gram model, and probabilities from them. */
#include "language/ngram.h"

#include "core/memory.h"
#include "core/status.h"
#include "model/model.h"

#include <math.h>

tem_status ngram_check_model(const tem_model *model, tem_error *error) {
    if (model->words.count > TEM_NGRAM_WORDS_MAX)
        return core_fail(error, TEM_ERR_UNSUPPORTED,
                         "the model has more than %u words, too many for n-grams",
                         TEM_NGRAM_WORDS_MAX);
    return TEM_OK;
}

tem_ngram *ngram_make(const tem_model *model) {
    tem_ngram *g = core_alloc_zero(1, sizeof *g);
    if (g == NULL)
        return NULL;
    g->model = model;
    g->words = model->words.count;
    g->unknown = g->words;
    g->edge = g->words + 1;
    g->symbols = g->words + 2;
    g->p = core_alloc_zero(g->symbols, sizeof *g->p);
    if (g->p == NULL) {
        core_free(g);
        return NULL;
    }
    return g;
}

bool ngram_rows_alloc(ngram_rows *rows, uint64_t count, uint64_t entries) {
    *rows = (ngram_rows){.starts = core_alloc_zero(count + 1, sizeof *rows->starts),
                         .ids = core_alloc(entries, sizeof *rows->ids),
                         .extra = core_alloc(entries, sizeof *rows->extra),
                         .bow = core_alloc(count, sizeof *rows->bow)};
    for (uint64_t r = 0; rows->bow != NULL && r < count; r++)
        rows->bow[r] = 1;
    return rows->starts != NULL && rows->ids != NULL && rows->extra != NULL && rows->bow != NULL;
}

static void rows_free(ngram_rows *rows) {
    core_free(rows->bow);
    core_free(rows->extra);
    core_free(rows->ids);
    core_free(rows->starts);
}

void ngram_free(tem_ngram *g) {
    if (g == NULL)
        return;
    rows_free(&g->three);
    rows_free(&g->two);
    text_sources_free(&g->sources);
    core_free(g->p);
    core_free(g);
}

uint64_t ngram_find(const ngram_rows *rows, uint64_t row, uint32_t id) {
    uint64_t low = rows->starts[row], high = rows->starts[row + 1];
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (rows->ids[middle] == id)
            return middle;
        if (rows->ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return NGRAM_NONE;
}

double ngram_two(const tem_ngram *g, uint32_t v, uint32_t w) {
    const uint64_t entry = ngram_find(&g->two, v, w);
    return g->two.bow[v] * g->p[w] + (entry == NGRAM_NONE ? 0 : g->two.extra[entry]);
}

double ngram_three(const tem_ngram *g, uint64_t bigram, uint32_t v, uint32_t w) {
    const double lower = ngram_two(g, v, w);
    if (bigram == NGRAM_NONE || g->three.starts == NULL)
        return lower;
    const uint64_t entry = ngram_find(&g->three, bigram, w);
    return g->three.bow[bigram] * lower + (entry == NGRAM_NONE ? 0 : g->three.extra[entry]);
}

/* The symbol of an id of the public header; `symbols` for others. */
static uint32_t symbol_of(const tem_ngram *g, uint32_t id) {
    if (id == TEM_NO_WORD)
        return g->unknown;
    if (id == TEM_NGRAM_END)
        return g->edge;
    return id < g->words ? id : g->symbols;
}

double ngram_probability(const tem_ngram *g, const uint32_t *history, size_t count, uint32_t word) {
    const uint32_t w = symbol_of(g, word);
    const uint32_t v = count > 0 ? symbol_of(g, history[count - 1]) : 0;
    const uint32_t u = count > 1 ? symbol_of(g, history[count - 2]) : 0;
    if (w == g->symbols || v == g->symbols || u == g->symbols)
        return NAN;
    if (count == 0)
        return g->p[w];
    if (count == 1 || v == g->edge || g->three.starts == NULL)
        return ngram_two(g, v, w);
    return ngram_three(g, ngram_find(&g->two, u, v), v, w);
}
