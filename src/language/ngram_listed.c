/* ngram_listed.c - makes the tables of a back-off model from listed n-grams. */
#include "language/ngram_listed.h"

#include "core/memory.h"
#include "core/status.h"
#include "model/model.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

tem_status ngram_listed_begin(ngram_listed *r, const tem_model *model, const char *path,
                              tem_error *error) {
    *r = (ngram_listed){.g = ngram_make(model),
                        .path = path,
                        .found = core_alloc_zero(model->words.count + (size_t)2, sizeof(bool))};
    return r->g == NULL || r->found == NULL ? core_fail_memory(error) : TEM_OK;
}

void ngram_listed_free(ngram_listed *r) {
    core_free(r->entries[3]);
    core_free(r->entries[2]);
    core_free(r->found);
    ngram_free(r->g);
}

static tem_status open_file(const char *path, const tem_run *run, file_view *file,
                            tem_error *error) {
    TRY(file_open(path, run, file, error));
    return file_is_gzip(file) ? file_unpack(path, run, file, error) : TEM_OK;
}

tem_status ngram_read_file(file_view *file, const tem_run *run, ngram_listed *listed,
                           tem_error *error) {
    if (ngram_is_weights(file))
        return ngram_read_weights(file, run, listed, error);
    return ngram_is_packed(file) ? ngram_read_packed(file, run, listed, error)
                                 : ngram_read_arpa(file, run, listed, error);
}

tem_status ngram_load(const tem_model *model, const char *path, const tem_run *run,
                      tem_ngram **ngram, tem_error *error) {
    file_view file = {0};
    ngram_listed listed;
    TRY(ngram_check_model(model, error));
    TRY(open_file(path, run, &file, error));
    tem_status status = ngram_listed_begin(&listed, model, path, error);
    if (status == TEM_OK)
        status = ngram_read_file(&file, run, &listed, error);
    if (status == TEM_OK)
        *ngram = ngram_listed_take(&listed);
    ngram_listed_free(&listed);
    file_close(&file);
    return status;
}

void ngram_list(ngram_listed *r, uint32_t order, uint64_t key, double p) {
    r->entries[order][r->count[order]++] = (ngram_entry){key, fmax(p, DBL_MIN)};
}

tem_ngram *ngram_listed_take(ngram_listed *r) {
    tem_ngram *g = r->g;
    r->g = NULL;
    return g;
}

/* Shares out what the words without a probability get, and makes the sum 1. */
static tem_status normalise_words(ngram_listed *r, tem_error *error) {
    static const double spare_least = 1e-7;
    tem_ngram *g = r->g;
    uint32_t missing = 1; /* the unknown word */
    double sum = 0;
    bool any = false;
    for (uint32_t w = 0; w < g->words; w++) {
        any |= r->found[w];
        missing += !r->found[w];
    }
    if (!any)
        return core_fail_at(error, TEM_ERR_FORMAT, r->path, 0, 0,
                            "no word of the file is in the model's vocabulary");
    const double each = fmax(r->spare, spare_least) / missing;
    for (uint32_t w = 0; w < g->symbols; w++) {
        if (w == g->unknown || (w < g->words && !r->found[w]) || !(g->p[w] > 0))
            g->p[w] = each;
        sum += g->p[w];
    }
    for (uint32_t w = 0; w < g->symbols; w++)
        g->p[w] /= sum;
    return TEM_OK;
}

/* Turns the probabilities of a row, which are in `extra`, into what they have more than the lower
 * order gives them, and sets the back-off weight so that all probabilities of the row add up to 1.
 * lower: of the same entries. False if the probabilities add up to more than 1. */
static bool normalise_row(ngram_rows *rows, uint64_t row, const double *lower) {
    static const double too_much = 1.001, left_least = 1e-7, unseen_least = 1e-6;
    const uint64_t first = rows->starts[row], count = rows->starts[row + 1] - first;
    double *p = rows->extra + first, seen = 0, covered = 0;
    for (uint64_t i = 0; i < count; i++) {
        seen += p[i];
        covered += lower[i];
    }
    if (count == 0)
        return true;
    if (!(seen <= too_much) || !(seen > 0))
        return false;
    const bool all = 1 - covered < unseen_least; /* hardly a word is left to back off to */
    const double scale = all ? 1 / seen : seen > 1 - left_least ? (1 - left_least) / seen : 1;
    const double bow = all ? 0 : (1 - seen * scale) / (1 - covered);
    for (uint64_t i = 0; i < count; i++)
        p[i] = p[i] * scale - bow * lower[i];
    rows->bow[row] = bow;
    return true;
}

static int compare_entries(const void *a, const void *b) {
    const ngram_entry *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* Fills the entries of a table from the sorted n-grams of an order. Row `i` is the one whose
 * history has the key histories(i). */
static tem_status fill_rows(ngram_listed *r, uint32_t order, ngram_rows *rows, uint64_t count,
                            uint64_t (*history)(const ngram_listed *, uint64_t), tem_error *error) {
    ngram_entry *e = r->entries[order];
    const uint64_t entries = r->count[order], mask = ((uint64_t)1 << NGRAM_PART_BITS) - 1;
    if (entries > 0)
        qsort(e, entries, sizeof *e, compare_entries);
    if (!ngram_rows_alloc(rows, count, entries))
        return core_fail_memory(error);
    uint64_t at = 0;
    for (uint64_t row = 0; row < count; row++) {
        for (; at < entries && e[at].key >> NGRAM_PART_BITS == history(r, row); at++) {
            if (at > 0 && e[at].key == e[at - 1].key)
                return core_fail_at(error, TEM_ERR_FORMAT, r->path, 0, 0,
                                    "an n-gram of order %u occurs twice", order);
            rows->ids[at] = (uint32_t)(e[at].key & mask);
            rows->extra[at] = e[at].p;
        }
        rows->starts[row + 1] = at;
    }
    if (at < entries)
        return core_fail_at(error, TEM_ERR_FORMAT, r->path, 0, 0,
                            "an n-gram of order %u has a history that is no n-gram itself", order);
    return TEM_OK;
}

static uint64_t history_of_two(const ngram_listed *r, uint64_t row) {
    (void)r;
    return row;
}

static uint64_t history_of_three(const ngram_listed *r, uint64_t row) {
    return r->entries[2][row].key;
}

/* The word before the entries of a row of order `order`. */
static uint32_t last_of_history(const ngram_listed *r, uint32_t order, uint64_t row) {
    return order == 2 ? (uint32_t)row : r->g->two.ids[row];
}

static tem_status normalise_rows(ngram_listed *r, uint32_t order, uint64_t count,
                                 tem_error *error) {
    tem_ngram *g = r->g;
    ngram_rows *rows = order == 2 ? &g->two : &g->three;
    double *lower = core_alloc(g->symbols, sizeof *lower);
    bool fits = true;
    if (lower == NULL)
        return core_fail_memory(error);
    for (uint64_t row = 0; fits && row < count; row++) {
        for (uint64_t i = rows->starts[row]; i < rows->starts[row + 1]; i++)
            lower[i - rows->starts[row]] =
                order == 2 ? g->p[rows->ids[i]]
                           : ngram_two(g, last_of_history(r, order, row), rows->ids[i]);
        fits = normalise_row(rows, row, lower);
    }
    core_free(lower);
    return fits ? TEM_OK
                : core_fail_at(error, TEM_ERR_FORMAT, r->path, 0, 0,
                               "the probabilities of order %u after a history do not add up to 1 "
                               "or less",
                               order);
}

tem_status ngram_from_listed(ngram_listed *r, uint32_t order, tem_error *error) {
    tem_ngram *g = r->g;
    tem_status status = normalise_words(r, error);
    if (status == TEM_OK)
        status = fill_rows(r, 2, &g->two, g->symbols, history_of_two, error);
    if (status == TEM_OK)
        status = normalise_rows(r, 2, g->symbols, error);
    if (status == TEM_OK && order == 3)
        status = fill_rows(r, 3, &g->three, r->count[2], history_of_three, error);
    if (status == TEM_OK && order == 3)
        status = normalise_rows(r, 3, r->count[2], error);
    g->info.order = order;
    g->info.bigrams = r->count[2];
    g->info.trigrams = r->count[3];
    return status;
}
