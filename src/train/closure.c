/* closure.c - the words that paths of edges lead to, and whether a path is a cycle. */
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "train/graph.h"

#include <stdlib.h>
#include <string.h>

/* The closure while it is made. */
typedef struct closing {
    const tem_graph *graph;
    uint64_t *starts;
    uint32_t *parents;
    uint64_t count, room; /* of parents */
    uint32_t *seen;       /* per word: the last word from which a path led to it, plus 1 */
    uint32_t *left;       /* words whose own parents are still to be looked at */
} closing;

static int compare_ids(const void *a, const void *b) {
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static tem_status add_parent(closing *c, uint32_t parent, tem_error *error) {
    if (c->count == TEM_GRAPH_EDGES_MAX)
        return core_fail(error, TEM_ERR_RANGE, "the closure has more than %u edges",
                         TEM_GRAPH_EDGES_MAX);
    if (c->count == c->room) {
        uint32_t *grown = core_resize(c->parents, 2 * c->room * sizeof *grown);
        if (grown == NULL)
            return core_fail_memory(error);
        c->parents = grown;
        c->room *= 2;
    }
    c->parents[c->count++] = parent;
    return TEM_OK;
}

/* Adds all words that a path leads to from `word`. Each word is put on `left` once at most, so
 * cycles end, too. */
static tem_status close_word(closing *c, uint32_t word, tem_error *error) {
    const tem_graph *g = c->graph;
    uint32_t left = 0;
    tem_status status = TEM_OK;
    c->seen[word] = word + 1;
    c->left[left++] = word;
    while (left > 0 && status == TEM_OK) {
        const uint32_t from = c->left[--left];
        for (uint64_t i = g->starts[from]; i < g->starts[from + 1] && status == TEM_OK; i++) {
            const uint32_t parent = g->parents[i];
            if (c->seen[parent] == word + 1)
                continue;
            c->seen[parent] = word + 1;
            c->left[left++] = parent;
            status = add_parent(c, parent, error);
        }
    }
    if (status == TEM_OK)
        qsort(c->parents + c->starts[word], c->count - c->starts[word], sizeof *c->parents,
              compare_ids);
    c->starts[word + 1] = c->count;
    return status;
}

static tem_status close_words(closing *c, const tem_run *run, tem_error *error) {
    const uint32_t words = c->graph->words.count;
    tem_status status = TEM_OK;
    for (uint32_t w = 0; w < words && status == TEM_OK; w++) {
        status = core_progress(run, "closing", w, words, error);
        if (status == TEM_OK)
            status = close_word(c, w, error);
    }
    return status;
}

tem_status graph_close(tem_graph *graph, const tem_run *run, tem_error *error) {
    const uint32_t words = graph->words.count;
    closing c = {.graph = graph, .room = graph->starts[words] + 1};
    c.starts = core_alloc_zero(words + (size_t)1, sizeof *c.starts);
    c.parents = core_alloc(c.room, sizeof *c.parents);
    c.seen = core_alloc_zero(words, sizeof *c.seen);
    c.left = core_alloc(words, sizeof *c.left);
    const bool has_memory =
        c.starts != NULL && c.parents != NULL && c.seen != NULL && c.left != NULL;
    const tem_status status = has_memory ? close_words(&c, run, error) : core_fail_memory(error);
    if (status == TEM_OK) { /* the old arrays are freed below instead */
        uint64_t *starts = graph->starts;
        uint32_t *parents = graph->parents;
        graph->starts = c.starts;
        graph->parents = c.parents;
        c.starts = starts;
        c.parents = parents;
    }
    core_free(c.left);
    core_free(c.seen);
    core_free(c.parents);
    core_free(c.starts);
    return status;
}

/* Takes away words without children, again and again. What cannot be taken away is on a cycle, or
 * above one. */
static bool has_cycle(const tem_graph *g, uint32_t *children, uint32_t *left) {
    const uint32_t words = g->words.count;
    uint32_t count = 0, taken = 0;
    for (uint64_t i = 0; i < g->starts[words]; i++)
        children[g->parents[i]]++;
    for (uint32_t w = 0; w < words; w++)
        if (children[w] == 0)
            left[count++] = w;
    while (count > 0) {
        const uint32_t word = left[--count];
        taken++;
        for (uint64_t i = g->starts[word]; i < g->starts[word + 1]; i++)
            if (--children[g->parents[i]] == 0)
                left[count++] = g->parents[i];
    }
    return taken < words;
}

tem_status graph_find_cycle(const tem_graph *graph, bool *found, tem_error *error) {
    uint32_t *children = core_alloc_zero(graph->words.count, sizeof *children);
    uint32_t *left = core_alloc(graph->words.count, sizeof *left);
    const bool has_memory = children != NULL && left != NULL;
    if (has_memory)
        *found = has_cycle(graph, children, left);
    core_free(left);
    core_free(children);
    return has_memory ? TEM_OK : core_fail_memory(error);
}
