/* api_train.c - tem_graph and tem_poincare of tem_train.h. */
#include "core/reserved.h"
#include "core/status.h"
#include "train/poincare.h"

/* Defaults, chosen on WordNet's mammals and nouns (docs/HYPERBOLIC.md). */
enum { DIMENSIONS = 10, EPOCHS = 200, NEGATIVES = 50, BURN_IN_PARTS = 10 };
#define RATE 0.1

/* ---- tem_graph ---- */

tem_status tem_graph_load(const char *path, const tem_graph_options *options, const tem_run *run,
                          tem_graph **graph, tem_error *error) {
    if (is_for_newer(options, error) || is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (path == NULL || graph == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a path and a place for the graph are needed");
    if (options != NULL && (options->zero != 0 || options->closure < 0 || options->closure > 1))
        return core_fail(error, TEM_ERR_ARGUMENT, "closure must be 0 or 1, and zero must be 0");
    return graph_load(path, options != NULL && options->closure == 1, run, graph, error);
}

void tem_graph_free(tem_graph *graph) {
    graph_free(graph);
}

void tem_graph_get_info(const tem_graph *graph, tem_graph_info *info) {
    if (info != NULL)
        *info = graph != NULL ? graph->info : (tem_graph_info){0};
}

const char *tem_graph_word(const tem_graph *graph, uint32_t id, size_t *length) {
    if (graph == NULL || id >= graph->words.count)
        return NULL;
    size_t ignored = 0;
    return vocab_word(&graph->words, id, length != NULL ? length : &ignored);
}

const uint32_t *tem_graph_parents(const tem_graph *graph, uint32_t id, uint32_t *count) {
    if (graph == NULL || count == NULL || id >= graph->words.count)
        return NULL;
    *count = graph_parent_count(graph, id);
    return graph->parents + graph->starts[id];
}

/* ---- tem_poincare ---- */

static tem_poincare_options with_defaults(const tem_poincare_options *options) {
    tem_poincare_options o = {0};
    if (options != NULL)
        o = *options;
    if (o.dimensions == 0)
        o.dimensions = DIMENSIONS;
    if (o.epochs == 0)
        o.epochs = EPOCHS;
    if (o.negatives == 0)
        o.negatives = NEGATIVES;
    if (o.burn_in == 0)
        o.burn_in = o.epochs / BURN_IN_PARTS;
    if (!(o.rate < 0) && !(o.rate > 0) && o.rate == o.rate)
        o.rate = RATE;
    return o;
}

static tem_status check_options(const tem_poincare_options *o, tem_error *error) {
    if (o->dimensions > TEM_POINCARE_DIMENSIONS_MAX)
        return core_fail(error, TEM_ERR_ARGUMENT, "at most %u dimensions",
                         TEM_POINCARE_DIMENSIONS_MAX);
    if (o->epochs > TEM_POINCARE_EPOCHS_MAX)
        return core_fail(error, TEM_ERR_ARGUMENT, "at most %u epochs", TEM_POINCARE_EPOCHS_MAX);
    if (o->negatives > TEM_POINCARE_NEGATIVES_MAX)
        return core_fail(error, TEM_ERR_ARGUMENT, "at most %u negatives",
                         TEM_POINCARE_NEGATIVES_MAX);
    if (o->burn_in >= o->epochs)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "the burn-in must have fewer epochs than the training");
    if (!(o->rate > 0 && o->rate <= TEM_POINCARE_RATE_MAX))
        return core_fail(error, TEM_ERR_ARGUMENT, "the rate must be above 0 and at most %d",
                         TEM_POINCARE_RATE_MAX);
    return TEM_OK;
}

tem_status tem_poincare_train(const tem_graph *graph, const tem_poincare_options *options,
                              const tem_run *run, tem_poincare **points, double *loss,
                              tem_error *error) {
    if (is_for_newer(options, error) || is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (graph == NULL || points == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a graph and a place for the points are needed");
    const tem_poincare_options complete = with_defaults(options);
    TRY(check_options(&complete, error));
    return poincare_train(graph, &complete, run, points, loss, error);
}

void tem_poincare_free(tem_poincare *points) {
    poincare_free(points);
}

tem_status tem_poincare_load(const char *path, const tem_graph *graph, const tem_run *run,
                             tem_poincare **points, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (path == NULL || graph == NULL || points == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a path, a graph and a place for the points are needed");
    return poincare_load(path, graph, run, points, error);
}

static tem_status check_match(const tem_poincare *points, const tem_graph *graph,
                              tem_error *error) {
    if (points == NULL || graph == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "points and their graph are needed");
    if (points->words != graph->words.count)
        return core_fail(error, TEM_ERR_ARGUMENT, "the points are of another graph");
    return TEM_OK;
}

tem_status tem_poincare_save(const tem_poincare *points, const tem_graph *graph, const char *path,
                             tem_overwrite overwrite, const tem_run *run, tem_error *error) {
    if (is_for_newer(run, error) || check_match(points, graph, error) != TEM_OK)
        return TEM_ERR_ARGUMENT;
    if (path == NULL || (overwrite != TEM_OVERWRITE && overwrite != TEM_KEEP_EXISTING))
        return core_fail(error, TEM_ERR_ARGUMENT, "a path and whether to overwrite it are needed");
    return poincare_save(points, graph, path, overwrite, run, error);
}

uint32_t tem_poincare_dimensions(const tem_poincare *points) {
    return points == NULL ? 0 : points->dimensions;
}

const double *tem_poincare_point(const tem_poincare *points, uint32_t id) {
    return points == NULL || id >= points->words
               ? NULL
               : points->numbers + (size_t)id * points->dimensions;
}

tem_status tem_poincare_reconstruct(const tem_poincare *points, const tem_graph *graph,
                                    const tem_run *run, tem_reconstruction *result,
                                    tem_error *error) {
    if (is_for_newer(run, error) || check_match(points, graph, error) != TEM_OK)
        return TEM_ERR_ARGUMENT;
    if (result == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a place for the result is needed");
    return poincare_reconstruct(points, graph, run, result, error);
}
