/* ngram_mix.c - mixes n-gram models: public texts with shares.
 *
 * A mixture of back-off models is none itself. So the mixed model lists every n-gram that one of
 * them lists, with the probability of the mixture, and backs off for all others (static
 * interpolation: SRILM's -mix-lm). Rejected: weighted counts, which need all texts at once; a model
 * that somebody else has made has no counts. */
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "language/ngram_listed.h"
#include "model/model.h"

typedef struct mixture {
    const tem_ngram *const *parts;
    double *shares; /* that add up to 1 */
    size_t count;
    uint32_t order;
    ngram_listed listed;
    uint64_t *rows; /* per part: the row of the history, or NGRAM_NONE */
    uint64_t *at;   /* per part: the next entry of that row */
} mixture;

/* ------------------------------------------------------------------ rows -- */

static const ngram_rows *rows_of(const tem_ngram *g, uint32_t order) {
    return order == 2 ? &g->two : &g->three;
}

/* The next symbol that a part lists after the history; UINT32_MAX: there is none. */
static uint32_t next_symbol(const mixture *m, uint32_t order) {
    uint32_t least = UINT32_MAX;
    for (size_t i = 0; i < m->count; i++) {
        const ngram_rows *rows = rows_of(m->parts[i], order);
        if (m->rows[i] != NGRAM_NONE && m->at[i] < rows->starts[m->rows[i] + 1] &&
            rows->ids[m->at[i]] < least)
            least = rows->ids[m->at[i]];
    }
    return least;
}

static void pass(mixture *m, uint32_t order, uint32_t symbol) {
    for (size_t i = 0; i < m->count; i++) {
        const ngram_rows *rows = rows_of(m->parts[i], order);
        if (m->rows[i] != NGRAM_NONE && m->at[i] < rows->starts[m->rows[i] + 1])
            m->at[i] += rows->ids[m->at[i]] == symbol;
    }
}

static double mixed_probability(const mixture *m, uint32_t order, uint32_t v, uint32_t w) {
    double p = 0;
    for (size_t i = 0; i < m->count; i++)
        p += m->shares[i] * (order == 2 ? ngram_two(m->parts[i], v, w)
                                        : ngram_three(m->parts[i], m->rows[i], v, w));
    return p;
}

/* Lists what follows the history, whose key is `history` and whose last symbol is v; m->rows are
 * set. */
static void list_row(mixture *m, uint32_t order, uint64_t history, uint32_t v) {
    for (size_t i = 0; i < m->count; i++)
        if (m->rows[i] != NGRAM_NONE)
            m->at[i] = rows_of(m->parts[i], order)->starts[m->rows[i]];
    for (uint32_t w = 0; (w = next_symbol(m, order)) != UINT32_MAX; pass(m, order, w))
        ngram_list(&m->listed, order, history << NGRAM_PART_BITS | w,
                   mixed_probability(m, order, v, w));
}

/* ---------------------------------------------------------------- orders -- */

static void mix_words(mixture *m) {
    ngram_listed *l = &m->listed;
    for (uint32_t w = 0; w < l->g->symbols; w++) {
        double p = 0;
        for (size_t i = 0; i < m->count; i++)
            p += m->shares[i] * m->parts[i]->p[w];
        if (w == l->g->unknown)
            l->spare = p;
        else
            l->g->p[w] = p;
        l->found[w] = w != l->g->unknown;
    }
}

static tem_status tell(const tem_run *run, uint64_t done, uint64_t all, tem_error *error) {
    enum { ROWS_A_REPORT = 4096 };
    return done % ROWS_A_REPORT == 0 ? core_progress(run, "mixing n-grams", done, all, error)
                                     : TEM_OK;
}

static tem_status mix_two(mixture *m, const tem_run *run, tem_error *error) {
    const uint32_t symbols = m->listed.g->symbols;
    for (uint32_t v = 0; v < symbols; v++) {
        TRY(tell(run, v, symbols, error));
        for (size_t i = 0; i < m->count; i++)
            m->rows[i] = v;
        list_row(m, 2, v, v);
    }
    return TEM_OK;
}

static tem_status mix_three(mixture *m, const tem_run *run, tem_error *error) {
    const uint64_t mask = ((uint64_t)1 << NGRAM_PART_BITS) - 1;
    const uint64_t pairs = m->listed.count[2];
    for (uint64_t pair = 0; pair < pairs; pair++) {
        const uint64_t key = m->listed.entries[2][pair].key;
        const uint32_t u = (uint32_t)(key >> NGRAM_PART_BITS), v = (uint32_t)(key & mask);
        TRY(tell(run, pair, pairs, error));
        for (size_t i = 0; i < m->count; i++)
            m->rows[i] = m->parts[i]->three.starts == NULL ? NGRAM_NONE
                                                           : ngram_find(&m->parts[i]->two, u, v);
        list_row(m, 3, key, v);
    }
    return TEM_OK;
}

static tem_status mix_all(mixture *m, const tem_run *run, tem_error *error) {
    mix_words(m);
    TRY(mix_two(m, run, error));
    if (m->order == 3)
        TRY(mix_three(m, run, error));
    return ngram_from_listed(&m->listed, m->order, error);
}

/* ------------------------------------------------------------------- all -- */

static tem_status begin(mixture *m, const double *shares, tem_error *error) {
    uint64_t two = 0, three = 0;
    double sum = 0;
    TRY(ngram_listed_begin(&m->listed, m->parts[0]->model, "", error));
    for (size_t i = 0; i < m->count; i++) {
        const tem_ngram_info *info = &m->parts[i]->info;
        two += info->bigrams;
        three += info->trigrams;
        m->order = info->order > m->order ? info->order : m->order;
        sum += shares[i];
    }
    m->listed.entries[2] = core_alloc(two, sizeof *m->listed.entries[2]);
    m->listed.entries[3] = core_alloc(three, sizeof *m->listed.entries[3]);
    m->shares = core_alloc(m->count, sizeof *m->shares);
    m->rows = core_alloc(m->count, sizeof *m->rows);
    m->at = core_alloc(m->count, sizeof *m->at);
    if (m->listed.entries[2] == NULL || m->listed.entries[3] == NULL || m->shares == NULL ||
        m->rows == NULL || m->at == NULL)
        return core_fail_memory(error);
    for (size_t i = 0; i < m->count; i++)
        m->shares[i] = shares[i] / sum;
    return TEM_OK;
}

tem_status ngram_mix(const tem_ngram *const *ngrams, const double *shares, size_t count,
                     const tem_run *run, tem_ngram **mixed, tem_error *error) {
    mixture m = {.parts = ngrams, .count = count};
    tem_status status = begin(&m, shares, error);
    for (size_t i = 0; i < count && status == TEM_OK; i++)
        status = text_sources_add(&m.listed.g->sources, &ngrams[i]->sources, error);
    if (status == TEM_OK)
        status = mix_all(&m, run, error);
    if (status == TEM_OK)
        *mixed = ngram_listed_take(&m.listed);
    ngram_listed_free(&m.listed);
    core_free(m.at);
    core_free(m.rows);
    core_free(m.shares);
    return status;
}
