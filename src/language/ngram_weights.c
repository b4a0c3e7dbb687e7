/* ngram_weights.c - the n-grams of a language model: reads NAME.temlm as NAME.arpa, to be
 * mixed with public texts of one's own, exported, and used by attackers.
 *
 * P(y | past) = a_y(past) / A(past), from the functions that a draw uses. A language model has no
 * end of a document, and no unknown word as an output; both get next to nothing. */
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "language/language_file.h"
#include "language/ngram_listed.h"

#include <string.h>

/* Of a pair whose second word no draw gives: it stays, since it begins trigrams. */
#define NEVER_DRAWN 1e-9

typedef struct weight_reader {
    const levels *l;
    ngram_listed *listed;
} weight_reader;

/* The symbol of the tables of n-grams, and what a past has for it. */
static uint32_t symbol_of(const weight_reader *r, uint32_t symbol) {
    if (symbol < r->l->outputs)
        return r->l->ids[symbol];
    return symbol == r->l->unknown ? r->listed->g->unknown : r->listed->g->edge;
}

static uint32_t past_of(const weight_reader *r, uint32_t symbol) {
    if (symbol < r->l->outputs)
        return r->l->ids[symbol];
    return symbol == r->l->unknown ? RELEASED_KEPT_WORD : RELEASED_LINE_END;
}

static tem_status position_after(const weight_reader *r, const uint32_t *past, size_t count,
                                 position_weights *at, tem_error *error) {
    const released_past words = {.words = past, .count = count, .before = 1};
    *at = (position_weights){.state = r->l};
    return levels_position(r->l, NULL, &words, at, error);
}

/* Lists the outputs of a row with what they weigh at the position. */
static void list_row(const weight_reader *r, const levels_rows *rows, uint32_t row, uint32_t order,
                     uint64_t history, const position_weights *at) {
    for (uint32_t i = rows->starts[row]; i < rows->starts[row + 1]; i++) {
        const uint32_t id = r->l->ids[rows->numbers[i]];
        ngram_list(r->listed, order, history << NGRAM_PART_BITS | id,
                   (double)levels_weight(at, id) / (double)at->total);
    }
}

static bool row_has(const levels_rows *rows, uint32_t row, uint32_t number) {
    for (uint32_t low = rows->starts[row], high = rows->starts[row + 1]; low < high;) {
        const uint32_t middle = low + (high - low) / 2;
        if (rows->numbers[middle] == number)
            return true;
        if (rows->numbers[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static void list_words(const weight_reader *r) {
    ngram_listed *l = r->listed;
    for (uint32_t n = 0; n < r->l->outputs; n++) {
        l->g->p[r->l->ids[n]] = (double)r->l->e1[n] / (double)r->l->e1_total;
        l->found[r->l->ids[n]] = true;
    }
}

/* The bigrams after a symbol: those with a weight, and those that begin trigrams. */
static tem_status list_two(const weight_reader *r, uint32_t g, tem_error *error) {
    const levels *l = r->l;
    const uint32_t past = past_of(r, g);
    position_weights at;
    TRY(position_after(r, &past, 1, &at, error));
    list_row(r, &l->two, g, 2, symbol_of(r, g), &at);
    if (l->three.count == 0)
        return TEM_OK;
    for (uint32_t i = l->pair_starts[g]; i < l->pair_starts[g + 1]; i++) {
        const uint32_t h = l->pair_seconds[i];
        if (h == l->begin || (h < l->outputs && row_has(&l->two, g, h)))
            continue;
        const double p =
            h < l->outputs ? (double)levels_weight(&at, l->ids[h]) / (double)at.total : NEVER_DRAWN;
        ngram_list(r->listed, 2, (uint64_t)symbol_of(r, g) << NGRAM_PART_BITS | symbol_of(r, h), p);
    }
    return TEM_OK;
}

static tem_status list_three(const weight_reader *r, uint32_t g, tem_error *error) {
    const levels *l = r->l;
    for (uint32_t i = l->pair_starts[g]; i < l->pair_starts[g + 1]; i++) {
        const uint32_t h = l->pair_seconds[i];
        const uint32_t past[] = {past_of(r, g), past_of(r, h)};
        position_weights at;
        if (h == l->begin)
            continue;
        TRY(position_after(r, past, 2, &at, error));
        list_row(r, &l->three, i, 3, (uint64_t)symbol_of(r, g) << NGRAM_PART_BITS | symbol_of(r, h),
                 &at);
    }
    return TEM_OK;
}

static tem_status list_all(const weight_reader *r, const tem_run *run, tem_error *error) {
    enum { ROWS_A_REPORT = 1024 };
    const levels *l = r->l;
    ngram_entry **entries = r->listed->entries;
    entries[2] = core_alloc((size_t)l->two.entries + l->three.count, sizeof **entries);
    entries[3] = core_alloc(l->three.entries, sizeof **entries);
    if (entries[2] == NULL || entries[3] == NULL)
        return core_fail_memory(error);
    list_words(r);
    for (uint32_t g = 0; l->two.count > 0 && g < l->symbols; g++) {
        if (g % ROWS_A_REPORT == 0)
            TRY(core_progress(run, "reading n-grams", g, l->symbols, error));
        TRY(list_two(r, g, error));
        if (l->three.count > 0)
            TRY(list_three(r, g, error));
    }
    return TEM_OK;
}

bool ngram_is_weights(const file_view *file) {
    const size_t bytes = sizeof LANGUAGE_MAGIC - 1;
    return file->size >= bytes && memcmp(file->data, LANGUAGE_MAGIC, bytes) == 0;
}

tem_status ngram_read_weights(file_view *file, const tem_run *run, ngram_listed *listed,
                              tem_error *error) {
    tem_language *language = NULL;
    const file_view view = *file;
    *file = (file_view){.mapped = false};
    TRY(language_from_view(view, listed->path, listed->g->model, &language, error));
    const ngram_language *n = language_state(language);
    const weight_reader r = {.l = &n->l, .listed = listed};
    text_sources sources;
    tem_status status = language_check(language, run, error);
    if (status == TEM_OK)
        status = language->ops->sources(n, &sources, error);
    if (status == TEM_OK)
        status = text_sources_add(&listed->g->sources, &sources, error);
    if (status == TEM_OK)
        status = list_all(&r, run, error);
    const uint32_t order = n->header.order;
    language_free(language);
    return status == TEM_OK ? ngram_from_listed(listed, order, error) : status;
}
