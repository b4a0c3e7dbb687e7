/* poincare_train.c - stochastic gradient descent over the edges of a graph. */
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "rng/rng.h"
#include "train/poincare.h"

/* Random numbers of one seed, by purpose. */
enum { STREAM_POINTS = 1, STREAM_STEPS };

/* Points begin in a cube of this half side: nearly one point, but with a direction each. */
#define FIRST_REACH 0.001

#define BURN_IN_FACTOR 0.1

typedef struct trainer {
    const tem_graph *graph;
    tem_poincare_options options; /* without 0 for defaults */
    const tem_run *run;
    tem_poincare *points;
    tem_rng rng;
    uint32_t *children; /* per edge; parents are in the graph */
    uint32_t *order;    /* of the edges, in this epoch */
    uint32_t *words;    /* of one step: child, parent, negatives */
    poincare_pair *pairs;
    double *gradients, *rooms;
    double loss;    /* sum over the edges of this epoch */
    uint64_t steps; /* edges of this epoch that were not left out */
} trainer;

static uint32_t stranger_count(const tem_graph *g, uint32_t word) {
    return g->words.count - 1 - graph_parent_count(g, word);
}

strangers strangers_of(const tem_graph *graph, uint32_t word) {
    strangers s = {.parents = graph->parents + graph->starts[word],
                   .parent_count = graph_parent_count(graph, word),
                   .count = stranger_count(graph, word)};
    uint32_t below = 0; /* parents with smaller ids than the word */
    while (below < s.parent_count && s.parents[below] < word)
        below++;
    s.place = word - below;
    return s;
}

/* First looks where the word itself would be, then skips the parents: k parents stand before
 * parents[k], and so parents[k] - k words that are none. */
uint32_t strangers_pick(const strangers *s, uint32_t r) {
    const uint32_t wanted = r + (r >= s->place);
    uint32_t low = 0, high = s->parent_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (s->parents[middle] - middle <= wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return wanted + low;
}

static bool is_parent(const strangers *s, uint32_t word) {
    uint32_t low = 0, high = s->parent_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (s->parents[middle] < word)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->parent_count && s->parents[low] == word;
}

static uint32_t strangers_draw(const strangers *s, tem_rng *rng) {
    return strangers_pick(s, (uint32_t)rng_below(rng, s->count));
}

uint32_t strangers_draw_parent(const strangers *s, const tem_graph *graph, uint32_t word,
                               tem_rng *rng) {
    for (int i = 0; i < STRANGERS_TRIES; i++) {
        const uint32_t found = graph->parents[rng_below(rng, graph->info.edges)];
        if (found != word && !is_parent(s, found))
            return found;
    }
    return strangers_draw(s, rng);
}

/* Draws the words of a step. False if there is no word to draw. */
static bool draw_words(trainer *t, uint32_t edge, bool burns_in) {
    const uint32_t count = t->options.negatives + 2, dimensions = t->options.dimensions;
    const strangers s = strangers_of(t->graph, t->children[edge]);
    t->words[0] = t->children[edge];
    t->words[1] = t->graph->parents[edge];
    for (uint32_t i = 2; i < count && s.count > 0; i++) {
        t->words[i] = burns_in ? strangers_draw_parent(&s, t->graph, t->words[0], &t->rng)
                               : strangers_draw(&s, &t->rng);
        const double *x = t->points->numbers + (size_t)t->words[i] * dimensions;
        __builtin_prefetch(x, 1);
        __builtin_prefetch(x + dimensions - 1, 1);
    }
    return s.count > 0;
}

static void take_step(trainer *t, uint32_t edge, bool burns_in) {
    const double rate = t->options.rate * (burns_in ? BURN_IN_FACTOR : 1);
    const uint32_t dimensions = t->options.dimensions, count = t->options.negatives + 2;
    double *numbers = t->points->numbers;
    if (!draw_words(t, edge, burns_in))
        return;
    t->loss +=
        poincare_loss(numbers, dimensions, t->words, count, t->pairs, t->gradients, t->rooms);
    t->steps++;
    for (uint32_t i = 0; i < count; i++)
        poincare_step(numbers + (size_t)t->words[i] * dimensions, dimensions, rate, t->rooms[i],
                      t->gradients + (size_t)i * dimensions);
}

static void shuffle(trainer *t) {
    for (uint32_t i = (uint32_t)t->graph->info.edges; i > 1; i--) {
        const uint32_t k = (uint32_t)rng_below(&t->rng, i), other = t->order[k];
        t->order[k] = t->order[i - 1];
        t->order[i - 1] = other;
    }
}

static tem_status train_epoch(trainer *t, uint32_t epoch, tem_error *error) {
    enum { STEPS_A_REPORT = 256 };
    const uint64_t edges = t->graph->info.edges, before = epoch * edges;
    const tem_poincare_options *o = &t->options;
    tem_status status = TEM_OK;
    shuffle(t);
    t->loss = 0;
    t->steps = 0;
    for (uint64_t i = 0; i < edges && status == TEM_OK; i++) {
        if (i % STEPS_A_REPORT == 0)
            status = core_progress(t->run, "training", before + i, o->epochs * edges, error);
        if (status == TEM_OK)
            take_step(t, t->order[i], epoch < o->burn_in);
    }
    if (status == TEM_OK && o->epoch != NULL)
        o->epoch(o->epoch_context, epoch + 1, t->loss / (double)t->steps);
    return status;
}

static void place_points(trainer *t, uint64_t seed) {
    const size_t count = (size_t)t->points->words * t->points->dimensions;
    rng_init_seeded(&t->rng, seed, STREAM_POINTS);
    for (size_t i = 0; i < count; i++)
        t->points->numbers[i] = (2 * rng_unit(&t->rng) - 1) * FIRST_REACH;
}

static void list_edges(trainer *t) {
    for (uint32_t w = 0; w < t->graph->words.count; w++)
        for (uint64_t i = t->graph->starts[w]; i < t->graph->starts[w + 1]; i++)
            t->children[i] = w;
    for (uint32_t i = 0; i < t->graph->info.edges; i++)
        t->order[i] = i;
}

static bool has_stranger(const tem_graph *g) {
    for (uint32_t w = 0; w < g->words.count; w++)
        if (graph_parent_count(g, w) > 0 && stranger_count(g, w) > 0)
            return true;
    return false;
}

static tem_status train(trainer *t, tem_error *error) {
    tem_status status = TEM_OK;
    if (!has_stranger(t->graph))
        return core_fail(error, TEM_ERR_RANGE,
                         "every word with a parent is linked to all other words: there is nothing "
                         "to tell apart");
    place_points(t, t->options.seed);
    list_edges(t);
    rng_init_seeded(&t->rng, t->options.seed, STREAM_STEPS);
    for (uint32_t epoch = 0; epoch < t->options.epochs && status == TEM_OK; epoch++)
        status = train_epoch(t, epoch, error);
    return status;
}

static tem_status begin(trainer *t, tem_error *error) {
    const size_t count = t->options.negatives + (size_t)2, edges = t->graph->info.edges;
    t->children = core_alloc(edges, sizeof *t->children);
    t->order = core_alloc(edges, sizeof *t->order);
    t->words = core_alloc(count, sizeof *t->words);
    t->pairs = core_alloc(count, sizeof *t->pairs);
    t->rooms = core_alloc(count, sizeof *t->rooms);
    t->gradients = core_alloc(count * t->options.dimensions, sizeof *t->gradients);
    if (t->children == NULL || t->order == NULL || t->words == NULL || t->pairs == NULL ||
        t->rooms == NULL || t->gradients == NULL)
        return core_fail_memory(error);
    return poincare_create(t->graph->words.count, t->options.dimensions, &t->points, error);
}

tem_status poincare_train(const tem_graph *graph, const tem_poincare_options *options,
                          const tem_run *run, tem_poincare **points, double *loss,
                          tem_error *error) {
    trainer t = {.graph = graph, .options = *options, .run = run};
    tem_status status = begin(&t, error);
    if (status == TEM_OK)
        status = train(&t, error);
    if (status == TEM_OK) {
        *points = t.points;
        if (loss != NULL)
            *loss = t.loss / (double)t.steps;
    } else {
        poincare_free(t.points);
    }
    core_free(t.gradients);
    core_free(t.rooms);
    core_free(t.pairs);
    core_free(t.words);
    core_free(t.order);
    core_free(t.children);
    return status;
}
