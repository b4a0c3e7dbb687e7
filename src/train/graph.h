/* graph.h - words and their parents. */
#ifndef TRAIN_GRAPH_H
#define TRAIN_GRAPH_H

#include "space/vocab.h"
#include "tem_train.h"

/* The parents of word u are parents[starts[u]] to parents[starts[u + 1] - 1]: ascending, each once,
 * and never u itself. */
struct tem_graph {
    vocab words;
    uint64_t *starts;
    uint32_t *parents;
    tem_graph_info info;
};

/* As the functions tem_graph_* of tem_train.h; the caller has checked pointers for NULL. */
tem_status graph_load(const char *path, bool closure, const tem_run *run, tem_graph **graph,
                      tem_error *error);
void graph_free(tem_graph *graph);

/* Replaces the parents of each word by all words that a path leads to, except the word itself
 * (closure.c). Fails with TEM_ERR_RANGE, TEM_ERR_MEMORY or TEM_ERR_CANCELLED; then the graph is as
 * before. */
tem_status graph_close(tem_graph *graph, const tem_run *run, tem_error *error);

/* Whether a path leads from some word back to it. Fails with TEM_ERR_MEMORY. */
tem_status graph_find_cycle(const tem_graph *graph, bool *found, tem_error *error);

static inline uint32_t graph_parent_count(const tem_graph *g, uint32_t word) {
    return (uint32_t)(g->starts[word + 1] - g->starts[word]);
}

#endif
