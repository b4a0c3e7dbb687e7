/* reconstruct.c - how much of a graph points keep: the ranks of parents by distance. */
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "train/poincare.h"

#include <stdlib.h>

enum { WORDS_AT_ONCE = 512 };

/* The result of one word, so that the sums do not depend on the order of the threads. */
typedef struct word_result {
    uint64_t ranks;   /* sum over its parents */
    double precision; /* mean over its parents */
} word_result;

/* The memory of a thread. */
typedef struct rank_scratch {
    double *keys;    /* of the parents of a word, ascending */
    uint64_t *below; /* words whose key is above that of the parent before, at most that of this */
} rank_scratch;

typedef struct ranking {
    const tem_graph *graph;
    uint32_t words, dimensions;
    double *columns; /* the points, one column after the other */
    double *rooms;   /* 1 - |x|^2 */
    word_result *results;
    rank_scratch *scratch; /* per thread */
    unsigned threads;
} ranking;

/* Keys of words [start, start + count): they are in the order of the distances from u, because
 * cosh d - 1 = 2 |u - v|^2 / ((1 - |u|^2) (1 - |v|^2)), and 1 - |u|^2 is the same for all v. All
 * keys are computed here, so that equal points have equal keys. */
static void compute_keys(const ranking *r, uint32_t u, uint32_t start, uint32_t count,
                         double keys[WORDS_AT_ONCE]) {
    for (uint32_t i = 0; i < count; i++)
        keys[i] = 0;
    for (uint32_t k = 0; k < r->dimensions; k++) {
        const double *column = r->columns + (size_t)k * r->words, x = column[u];
        for (uint32_t i = 0; i < count; i++) {
            const double difference = column[start + i] - x;
            keys[i] += difference * difference;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        keys[i] /= r->rooms[start + i];
}

static int compare_doubles(const void *a, const void *b) {
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* The first of the ascending keys that is at least `key`; there is one. */
static uint32_t first_at_least(const double *keys, uint32_t count, double key) {
    uint32_t low = 0, high = count - 1;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Counts all words, u and its parents among them, by the parent whose key is next. */
static void count_words(const ranking *r, uint32_t u, uint32_t parents, rank_scratch *s) {
    double keys[WORDS_AT_ONCE];
    for (uint32_t i = 0; i < parents; i++)
        s->below[i] = 0;
    for (uint32_t start = 0; start < r->words; start += WORDS_AT_ONCE) {
        const uint32_t left = r->words - start, count = left < WORDS_AT_ONCE ? left : WORDS_AT_ONCE;
        compute_keys(r, u, start, count, keys);
        for (uint32_t i = 0; i < count; i++)
            if (keys[i] <= s->keys[parents - 1])
                s->below[first_at_least(s->keys, parents, keys[i])]++;
    }
}

static void rank_word(void *context, uint64_t item, unsigned thread) {
    const ranking *r = context;
    rank_scratch *s = &r->scratch[thread];
    const uint32_t u = (uint32_t)item, parents = graph_parent_count(r->graph, u);
    word_result result = {0, 0};
    uint64_t all = 0; /* words, except u, as near as this parent or nearer */
    if (parents == 0)
        return;
    for (uint32_t i = 0; i < parents; i++)
        compute_keys(r, u, r->graph->parents[r->graph->starts[u] + i], 1, &s->keys[i]);
    qsort(s->keys, parents, sizeof *s->keys, compare_doubles);
    count_words(r, u, parents, s);
    for (uint32_t i = 0, next = 0; i < parents; i = next) {
        for (next = i; next < parents && s->keys[next] <= s->keys[i];) /* equally near parents */
            next++;
        all += s->below[i] - (i == 0); /* u itself is nearest */
        result.ranks += (next - i) * (all - next + 1);
        result.precision += (next - i) * ((double)next / (double)all);
    }
    result.precision /= parents;
    r->results[u] = result;
}

static void add_up(const ranking *r, tem_reconstruction *out) {
    uint64_t ranks = 0;
    double precision = 0;
    tem_reconstruction result = {.edges = r->graph->info.edges};
    for (uint32_t u = 0; u < r->words; u++) {
        result.words += graph_parent_count(r->graph, u) > 0;
        ranks += r->results[u].ranks;
        precision += r->results[u].precision;
    }
    result.mean_rank = (double)ranks / (double)result.edges;
    result.map = precision / (double)result.words;
    *out = result;
}

static tem_status make_scratch(ranking *r, tem_error *error) {
    const uint32_t most = r->graph->info.most_parents;
    r->columns = core_alloc((size_t)r->words * r->dimensions, sizeof *r->columns);
    r->rooms = core_alloc(r->words, sizeof *r->rooms);
    r->results = core_alloc_zero(r->words, sizeof *r->results);
    r->scratch = core_alloc_zero(r->threads, sizeof *r->scratch);
    bool has_memory =
        r->columns != NULL && r->rooms != NULL && r->results != NULL && r->scratch != NULL;
    for (unsigned i = 0; i < r->threads && has_memory; i++) {
        r->scratch[i].keys = core_alloc(most, sizeof *r->scratch[i].keys);
        r->scratch[i].below = core_alloc(most, sizeof *r->scratch[i].below);
        has_memory = r->scratch[i].keys != NULL && r->scratch[i].below != NULL;
    }
    return has_memory ? TEM_OK : core_fail_memory(error);
}

static void turn_points(ranking *r, const tem_poincare *points) {
    for (uint32_t w = 0; w < r->words; w++) {
        const double *x = points->numbers + (size_t)w * r->dimensions;
        r->rooms[w] = poincare_room(x, r->dimensions);
        for (uint32_t k = 0; k < r->dimensions; k++)
            r->columns[(size_t)k * r->words + w] = x[k];
    }
}

tem_status poincare_reconstruct(const tem_poincare *points, const tem_graph *graph,
                                const tem_run *run, tem_reconstruction *result, tem_error *error) {
    ranking r = {.graph = graph,
                 .words = points->words,
                 .dimensions = points->dimensions,
                 .threads = core_thread_count(run)};
    tem_status status = make_scratch(&r, error);
    if (status == TEM_OK) {
        turn_points(&r, points);
        status = core_parallel(run, "ranking", r.words, rank_word, &r, error);
    }
    if (status == TEM_OK)
        add_up(&r, result);
    for (unsigned i = 0; i < r.threads && r.scratch != NULL; i++) {
        core_free(r.scratch[i].keys);
        core_free(r.scratch[i].below);
    }
    core_free(r.scratch);
    core_free(r.results);
    core_free(r.rooms);
    core_free(r.columns);
    return status;
}
