/* levels_build.c - from the probabilities of a back-off model to integers on three levels.
 *
 * Each row is scaled so that all of its weights add up to about 2^46 (two words) or 2^61 (three),
 * which leaves b at most 2^15: within one position a common factor changes no probability. What a
 * listed successor has more than the lower level gives it becomes e, rounded to whole numbers. It
 * becomes no entry where that is less than one half: such a word weighs what the lower level gives
 * it. So to convert to and fro is not exact, and need not be.
 *
 * Floating point decides these integers once, when the file is made. All that is proved speaks of
 * the integers. */
#include "language/levels_build.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { E1_BITS = 31 };

/* A successor: its number, and what it shall weigh before the row is scaled. */
typedef struct successor {
    uint32_t number;
    double wanted;
    uint64_t lower; /* its weight on the lower level */
} successor;

/* A table that grows. */
typedef struct rows_builder {
    uint32_t *starts, *factors, *numbers, *sums;
    uint32_t row, entries;
} rows_builder;

typedef struct levels_builder {
    const tem_ngram *g;
    const levels_settings *settings;
    levels *l;
    rows_builder two, three;
    uint32_t *pair_starts, *pair_seconds;
    uint32_t *symbols; /* those of the back-off model, by those of the tables */
    double *scales;    /* per symbol: what wanted weights of its row were multiplied by */
    double e1_scale;   /* the same for e1 */
    successor *row;    /* room for one */
    uint64_t *pairs;   /* room for those of one symbol: the number of h, the entry of the bigram */
} levels_builder;

/* ------------------------------------------------------------------ words -- */

static double temper(const levels_builder *b, double p) {
    return b->settings->temper == 1 ? p : pow(p, b->settings->temper);
}

/* Sets the ids of the outputs, by number. */
static void number_outputs(const tem_model *model, uint32_t *ids) {
    if (model_has_order(model)) {
        memcpy(ids, model->order.sequence, model->order.shape.outputs * sizeof *ids);
        return;
    }
    for (uint32_t id = 0; id < model->words.count; id++)
        if (!model_is_excluded(model, id))
            *ids++ = id;
}

static tem_status make_words(levels_builder *b, tem_error *error) {
    const tem_model *model = b->g->model;
    const uint32_t outputs = model->words.count - model->excluded_count;
    uint32_t *ids = core_alloc(outputs, sizeof *ids), *e1 = core_alloc(outputs, sizeof *e1);
    b->l->outputs = outputs;
    b->l->ids = ids;
    b->l->e1 = e1;
    if (ids == NULL || e1 == NULL)
        return core_fail_memory(error);
    double sum = 0;
    number_outputs(model, ids);
    for (uint32_t n = 0; n < outputs; n++)
        sum += temper(b, b->g->p[ids[n]]);
    b->e1_scale = ldexp(1, E1_BITS) / sum;
    for (uint32_t n = 0; n < outputs; n++)
        e1[n] = (uint32_t)fmax(1, rint(temper(b, b->g->p[ids[n]]) * b->e1_scale));
    return levels_attach(b->l, model, error);
}

/* The symbol of the tables for one of the back-off model; LEVELS_NONE for words that are never
 * outputs. Its edge, which begins a history and ends a document, is the begin. */
static uint32_t symbol_of(const levels_builder *b, uint32_t s) {
    if (s == b->g->edge)
        return b->l->begin;
    return s == b->g->unknown ? b->l->unknown : b->l->numbers[s];
}

/* ------------------------------------------------------------------- rows -- */

static bool rows_alloc(rows_builder *r, uint64_t rows, uint64_t entries) {
    r->starts = core_alloc_zero(rows + 1, sizeof *r->starts);
    r->factors = core_alloc(rows, sizeof *r->factors);
    r->numbers = core_alloc(entries, sizeof *r->numbers);
    r->sums = core_alloc_zero(entries + 1, sizeof *r->sums);
    return r->starts != NULL && r->factors != NULL && r->numbers != NULL && r->sums != NULL;
}

static levels_rows rows_view(const rows_builder *r) {
    return (levels_rows){.count = r->row,
                         .entries = r->entries,
                         .starts = r->starts,
                         .factors = r->factors,
                         .numbers = r->numbers,
                         .sums = r->sums};
}

static void end_row(rows_builder *r, uint32_t factor) {
    r->factors[r->row++] = factor;
    r->starts[r->row] = r->entries;
}

static void add_entry(rows_builder *r, uint32_t number, uint32_t e) {
    r->numbers[r->entries] = number;
    r->sums[r->entries + 1] = r->sums[r->entries] + e;
    r->entries++;
}

/* What a row is made of. On the lower level all words together weigh lower_total, where a wanted
 * weight was multiplied by lower_scale. */
typedef struct row_plan {
    uint32_t count; /* successors in levels_builder.row */
    double bow;     /* back-off weight */
    uint64_t lower_total;
    double lower_scale;
    int shift; /* e counts 2^shift times */
} row_plan;

/* What wanted weights are multiplied by, so that the row has about 2^(31 + shift) in total. */
static double scale_of(const levels_builder *b, const row_plan *plan) {
    const double most = 1 << LEVELS_SHIFT;
    double listed = 0, covered = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        listed += b->row[i].wanted;
        covered += (double)b->row[i].lower;
    }
    const double left = fmax(0, (double)plan->lower_total - covered);
    const double scale =
        ldexp(1, E1_BITS + plan->shift) / (listed + left * plan->bow / plan->lower_scale);
    const bool fits = scale * plan->bow / plan->lower_scale <= most; /* false also for no number */
    return fits ? scale : most * plan->lower_scale / plan->bow;
}

/* Adds a row and returns its scale. */
static double add_row(const levels_builder *b, rows_builder *r, const row_plan *plan) {
    const double scale = scale_of(b, plan);
    const double factor = fmax(1, rint(scale * plan->bow / plan->lower_scale));
    for (uint32_t i = 0; i < plan->count; i++) {
        const double more = scale * b->row[i].wanted - factor * (double)b->row[i].lower;
        const double e = rint(ldexp(more, -plan->shift));
        if (e >= 1)
            add_entry(r, b->row[i].number, (uint32_t)e);
    }
    end_row(r, (uint32_t)factor);
    return scale;
}

/* The cap is on the probability, before it is tempered. The two parts of a probability may add up
 * to a little less than 0. */
static double wanted_of(const levels_builder *b, double p, uint32_t word) {
    return temper(b, fmax(0, fmin(p, b->settings->lift * b->g->p[word])));
}

/* Whether a row gives all words the weights of the lower level. */
static bool row_says_nothing(const ngram_rows *rows, uint64_t row) {
    return rows->starts[row + 1] == rows->starts[row] && rows->bow[row] == 1;
}

static int compare_successors(const void *a, const void *b) {
    const successor *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* The number of a word after a history; LEVELS_NONE: it is never an output. */
static uint32_t number_of(const levels_builder *b, uint32_t symbol) {
    return symbol < b->g->words ? b->l->numbers[symbol] : LEVELS_NONE;
}

static tem_status tell(const levels_builder *b, uint64_t done, const tem_run *run,
                       tem_error *error) {
    enum { ROWS_A_REPORT = 4096 };
    return done % ROWS_A_REPORT == 0
               ? core_progress(run, "making weights", done, 2 * (uint64_t)b->l->symbols, error)
               : TEM_OK;
}

/* ------------------------------------------------------- one word before -- */

/* Gathers the outputs that are listed after v, by number. */
static uint32_t gather_two(levels_builder *b, uint32_t v) {
    const ngram_rows *two = &b->g->two;
    uint32_t count = 0;
    for (uint64_t i = two->starts[v]; i < two->starts[v + 1]; i++) {
        const uint32_t word = two->ids[i], number = number_of(b, word);
        if (number == LEVELS_NONE)
            continue;
        const double p = two->extra[i] + two->bow[v] * b->g->p[word];
        b->row[count++] = (successor){number, wanted_of(b, p, word), b->l->e1[number]};
    }
    qsort(b->row, count, sizeof *b->row, compare_successors);
    return count;
}

static tem_status make_two(levels_builder *b, const tem_run *run, tem_error *error) {
    for (uint32_t h = 0; h < b->l->symbols; h++) {
        const uint32_t v = b->symbols[h];
        TRY(tell(b, h, run, error));
        b->scales[h] = ldexp(b->e1_scale, LEVELS_SHIFT);
        if (row_says_nothing(&b->g->two, v)) {
            end_row(&b->two, 1 << LEVELS_SHIFT);
            continue;
        }
        const row_plan plan = {.count = gather_two(b, v),
                               .bow = temper(b, b->g->two.bow[v]),
                               .lower_total = b->l->e1_total,
                               .lower_scale = b->e1_scale,
                               .shift = LEVELS_SHIFT};
        b->scales[h] = add_row(b, &b->two, &plan);
    }
    b->l->two = rows_view(&b->two);
    return TEM_OK;
}

/* ------------------------------------------------------ two words before -- */

/* The sum of the e2 after h. */
static uint32_t two_sum(const levels_builder *b, uint32_t h) {
    const levels_rows *two = &b->l->two;
    return two->sums[two->starts[h + 1]] - two->sums[two->starts[h]];
}

/* What an output weighs after h. */
static uint64_t weight_two(const levels_builder *b, uint32_t h, uint32_t number) {
    const levels_rows *two = &b->l->two;
    const uint64_t lower = (uint64_t)two->factors[h] * b->l->e1[number];
    uint32_t low = two->starts[h], high = two->starts[h + 1];
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (two->numbers[middle] == number)
            return lower + ((uint64_t)(two->sums[middle + 1] - two->sums[middle]) << LEVELS_SHIFT);
        if (two->numbers[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return lower;
}

/* The same as gather_two for the bigram `entry`, whose last word is v, with the number h. */
static uint32_t gather_three(levels_builder *b, uint64_t entry, uint32_t h) {
    const ngram_rows *three = &b->g->three;
    const uint32_t v = b->symbols[h];
    uint32_t count = 0;
    for (uint64_t i = three->starts[entry]; i < three->starts[entry + 1]; i++) {
        const uint32_t word = three->ids[i], number = number_of(b, word);
        if (number == LEVELS_NONE)
            continue;
        const double p = three->extra[i] + three->bow[entry] * ngram_two(b->g, v, word);
        b->row[count++] = (successor){number, wanted_of(b, p, word), weight_two(b, h, number)};
    }
    qsort(b->row, count, sizeof *b->row, compare_successors);
    return count;
}

static int compare_pairs(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Gathers the bigrams u v that have a row of their own, by the number of v. */
static uint32_t gather_pairs(levels_builder *b, uint32_t u) {
    const ngram_rows *two = &b->g->two;
    const uint64_t first = two->starts[u];
    uint32_t count = 0;
    for (uint64_t i = first; i < two->starts[u + 1]; i++) {
        const uint32_t h = symbol_of(b, two->ids[i]);
        if (h < b->l->begin && !row_says_nothing(&b->g->three, i))
            b->pairs[count++] = (uint64_t)h << 32 | (i - first);
    }
    qsort(b->pairs, count, sizeof *b->pairs, compare_pairs);
    return count;
}

static void make_pair(levels_builder *b, uint64_t entry, uint32_t h) {
    const row_plan plan = {.count = gather_three(b, entry, h),
                           .bow = temper(b, b->g->three.bow[entry]),
                           .lower_total = ((uint64_t)two_sum(b, h) << LEVELS_SHIFT) +
                                          b->l->two.factors[h] * b->l->e1_total,
                           .lower_scale = b->scales[h],
                           .shift = 2 * LEVELS_SHIFT};
    b->pair_seconds[b->three.row] = h;
    add_row(b, &b->three, &plan);
}

static tem_status make_three(levels_builder *b, const tem_run *run, tem_error *error) {
    for (uint32_t g = 0; g < b->l->symbols; g++) {
        const uint64_t first = b->g->two.starts[b->symbols[g]];
        TRY(tell(b, (uint64_t)b->l->symbols + g, run, error));
        b->pair_starts[g] = b->three.row;
        const uint32_t count = gather_pairs(b, b->symbols[g]);
        for (uint32_t i = 0; i < count; i++)
            make_pair(b, first + (uint32_t)b->pairs[i], (uint32_t)(b->pairs[i] >> 32));
    }
    b->pair_starts[b->l->symbols] = b->three.row;
    return TEM_OK;
}

/* ------------------------------------------------------------------- all -- */

static void list_symbols(levels_builder *b) {
    memcpy(b->symbols, b->l->ids, b->l->outputs * sizeof *b->symbols);
    b->symbols[b->l->unknown] = b->g->unknown;
    b->symbols[b->l->begin] = b->g->edge;
}

static bool alloc_tables(levels_builder *b) {
    const levels *l = b->l;
    const uint64_t bigrams = b->g->two.starts[b->g->symbols];
    const bool has_three = b->g->three.starts != NULL;
    b->symbols = core_alloc(l->symbols, sizeof *b->symbols);
    b->pairs = core_alloc(l->symbols, sizeof *b->pairs);
    b->scales = core_alloc(l->symbols, sizeof *b->scales);
    b->row = core_alloc(l->symbols, sizeof *b->row);
    b->pair_starts = core_alloc_zero((size_t)l->symbols + 1, sizeof *b->pair_starts);
    b->pair_seconds = core_alloc(has_three ? bigrams : 0, sizeof *b->pair_seconds);
    return rows_alloc(&b->two, l->symbols, bigrams) &&
           rows_alloc(&b->three, has_three ? bigrams : 0,
                      has_three ? b->g->three.starts[bigrams] : 0) &&
           b->symbols != NULL && b->pairs != NULL && b->scales != NULL && b->row != NULL &&
           b->pair_starts != NULL && b->pair_seconds != NULL;
}

static tem_status check_size(const tem_ngram *g, tem_error *error) {
    const uint64_t bigrams = g->two.starts == NULL ? 0 : g->two.starts[g->symbols];
    const uint64_t trigrams = g->three.starts == NULL ? 0 : g->three.starts[bigrams];
    return bigrams < LEVELS_NONE && trigrams < LEVELS_NONE
               ? TEM_OK
               : core_fail(error, TEM_ERR_RANGE,
                           "the language model has too many n-grams: 2^32 or more of one order");
}

static tem_status make_tables(levels_builder *b, const tem_run *run, tem_error *error) {
    if (b->g->info.order == 1)
        return TEM_OK; /* words without context */
    if (!alloc_tables(b))
        return core_fail_memory(error);
    list_symbols(b);
    TRY(make_two(b, run, error));
    return b->g->three.starts != NULL ? make_three(b, run, error) : TEM_OK;
}

tem_status levels_make(const tem_ngram *g, const levels_settings *settings, const tem_run *run,
                       levels *out, tem_error *error) {
    levels made = {.is_owner = true};
    levels_builder b = {.g = g, .settings = settings, .l = &made};
    tem_status status = check_size(g, error);
    if (status == TEM_OK)
        status = make_words(&b, error);
    if (status == TEM_OK)
        status = make_tables(&b, run, error);
    made.two = rows_view(&b.two);
    made.three = rows_view(&b.three);
    made.pair_starts = b.pair_starts;
    made.pair_seconds = b.pair_seconds;
    core_free(b.row);
    core_free(b.pairs);
    core_free(b.symbols);
    core_free(b.scales);
    if (status == TEM_OK)
        status = levels_check(&made, run, error);
    if (status == TEM_OK)
        *out = made;
    else
        levels_free(&made);
    return status;
}
