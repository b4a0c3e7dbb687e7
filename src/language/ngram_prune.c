/* ngram_prune.c - leaves out the n-grams that say least: relative entropy pruning.
 *
 * A. Stolcke, "Entropy-based pruning of backoff language models", 1998. Without the n-gram (h, w)
 * the word w gets alpha' P(w|h'), where h' is h without its first word, and alpha' is the back-off
 * weight that makes the row add up to 1 again. This costs
 *
 *     D = -P(h) { P(w|h) [ln alpha' + ln P(w|h') - ln P(w|h)] + [ln alpha' - ln alpha] rest(h) }
 *
 * rest(h) being the probability of the words that h does not list, and the perplexity rises by the
 * factor exp(D). P(h) comes from the model itself. */
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "language/ngram_listed.h"
#include "model/model.h"

#include <math.h>

typedef struct pruning {
    const tem_ngram *g;
    double threshold;
    bool *begins; /* per bigram: a trigram that stays begins with it */
    ngram_listed listed;
    double *lower; /* room for a row */
} pruning;

typedef struct row_view {
    const ngram_rows *rows;
    uint64_t row;
    uint64_t key; /* of the history */
    uint32_t v;   /* its last word */
    double p;     /* of the history */
    uint32_t order;
} row_view;

static double entry_probability(const row_view *r, uint64_t entry, double lower) {
    return r->rows->extra[entry] + r->rows->bow[r->row] * lower;
}

/* Whether the perplexity rises by the threshold or more without the entry. */
static bool is_needed(const pruning *q, const row_view *r, double p, double lower, double rest,
                      double uncovered) {
    const double alpha = r->rows->bow[r->row], without = (rest + p) / (uncovered + lower);
    if (!(p > 0) || !(lower > 0) || !(alpha > 0) || !(without > 0))
        return true;
    const double cost =
        -r->p * (p * (log(without) + log(lower) - log(p)) + (log(without) - log(alpha)) * rest);
    return expm1(cost) >= q->threshold;
}

/* Lists the entries of a row that stay. */
static void prune_row(pruning *q, const row_view *r) {
    const uint64_t first = r->rows->starts[r->row], end = r->rows->starts[r->row + 1];
    double rest = 1, uncovered = 1;
    for (uint64_t i = first; i < end; i++) {
        const uint32_t w = r->rows->ids[i];
        q->lower[i - first] = r->order == 2 ? q->g->p[w] : ngram_two(q->g, r->v, w);
        rest -= entry_probability(r, i, q->lower[i - first]);
        uncovered -= q->lower[i - first];
    }
    rest = fmax(rest, 0);
    for (uint64_t i = first; i < end; i++) {
        const double lower = q->lower[i - first], p = entry_probability(r, i, lower);
        if ((r->order == 2 && q->begins[i]) || is_needed(q, r, p, lower, rest, uncovered)) {
            ngram_list(&q->listed, r->order, r->key << NGRAM_PART_BITS | r->rows->ids[i], p);
            if (r->order == 3)
                q->begins[r->row] = true;
        }
    }
}

static tem_status tell(const tem_run *run, const pruning *q, uint32_t done, tem_error *error) {
    enum { ROWS_A_REPORT = 1024 };
    return done % ROWS_A_REPORT == 0
               ? core_progress(run, "pruning n-grams", done, q->g->symbols, error)
               : TEM_OK;
}

/* The begin as a history is as likely as the end as a word. */
static tem_status prune_three(pruning *q, const tem_run *run, tem_error *error) {
    const tem_ngram *g = q->g;
    for (uint32_t u = 0; u < g->symbols; u++) {
        TRY(tell(run, q, u, error));
        for (uint64_t i = g->two.starts[u]; i < g->two.starts[u + 1]; i++) {
            const uint32_t v = g->two.ids[i];
            const row_view row = {.rows = &g->three,
                                  .row = i,
                                  .key = (uint64_t)u << NGRAM_PART_BITS | v,
                                  .v = v,
                                  .p = g->p[u] * ngram_two(g, u, v),
                                  .order = 3};
            prune_row(q, &row);
        }
    }
    return TEM_OK;
}

static tem_status prune_two(pruning *q, const tem_run *run, tem_error *error) {
    for (uint32_t v = 0; v < q->g->symbols; v++) {
        const row_view row = {
            .rows = &q->g->two, .row = v, .key = v, .v = v, .p = q->g->p[v], .order = 2};
        TRY(tell(run, q, v, error));
        prune_row(q, &row);
    }
    return TEM_OK;
}

static void keep_words(pruning *q) {
    ngram_listed *l = &q->listed;
    for (uint32_t w = 0; w < q->g->symbols; w++) {
        if (w == q->g->unknown)
            l->spare = q->g->p[w];
        else
            l->g->p[w] = q->g->p[w];
        l->found[w] = w != q->g->unknown;
    }
}

static tem_status begin(pruning *q, tem_error *error) {
    const tem_ngram_info *info = &q->g->info;
    TRY(ngram_listed_begin(&q->listed, q->g->model, "", error));
    q->listed.entries[2] = core_alloc(info->bigrams, sizeof *q->listed.entries[2]);
    q->listed.entries[3] = core_alloc(info->trigrams, sizeof *q->listed.entries[3]);
    q->begins = core_alloc_zero(info->bigrams, sizeof *q->begins);
    q->lower = core_alloc(q->g->symbols, sizeof *q->lower);
    return q->listed.entries[2] == NULL || q->listed.entries[3] == NULL || q->begins == NULL ||
                   q->lower == NULL
               ? core_fail_memory(error)
               : TEM_OK;
}

static tem_status prune_all(pruning *q, const tem_run *run, tem_error *error) {
    keep_words(q);
    if (q->g->three.starts != NULL)
        TRY(prune_three(q, run, error));
    TRY(prune_two(q, run, error));
    return ngram_from_listed(&q->listed, q->g->info.order, error);
}

tem_status ngram_prune(const tem_ngram *g, double threshold, const tem_run *run, tem_ngram **pruned,
                       tem_error *error) {
    pruning q = {.g = g, .threshold = threshold};
    tem_status status = begin(&q, error);
    if (status == TEM_OK)
        status = text_sources_add(&q.listed.g->sources, &g->sources, error);
    if (status == TEM_OK)
        status = prune_all(&q, run, error);
    if (status == TEM_OK) {
        *pruned = ngram_listed_take(&q.listed);
        const tem_ngram_info now = (*pruned)->info;
        (*pruned)->info = g->info;
        (*pruned)->info.bigrams = now.bigrams;
        (*pruned)->info.trigrams = now.trigrams;
    }
    ngram_listed_free(&q.listed);
    core_free(q.lower);
    core_free(q.begins);
    return status;
}
