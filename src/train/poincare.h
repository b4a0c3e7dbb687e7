/* poincare.h - points in the Poincaré ball: distance, gradient, and what is done with them.
 *
 * For points u and v, with a = 1 - |u|^2, b = 1 - |v|^2 and D = |u - v|^2,
 *     cosh d - 1 = t = 2 D / (a b),     sinh d = s = sqrt(t (t + 2)),
 *     d = ln(1 + t + s),                exp(-d) = 1 / (1 + t + s),
 *     gradient of d by u = 4 / (a b s) (D / a u + u - v).
 * The paper's formula for the gradient subtracts numbers of nearly the same size where D is small;
 * this one, which equals it, does not. Training needs no function that machines round differently:
 * only + - * / and sqrt. */
#ifndef TRAIN_POINCARE_H
#define TRAIN_POINCARE_H

#include "rng/rng.h"
#include "train/graph.h"

#include <math.h>

struct tem_poincare {
    uint32_t words, dimensions;
    double *numbers; /* a row per word */
};

/* 1 - |x|^2. */
static inline double poincare_room(const double *x, uint32_t dimensions) {
    double square = 0;
    for (uint32_t i = 0; i < dimensions; i++)
        square += x[i] * x[i];
    return 1 - square;
}

/* |u - v|^2. */
static inline double poincare_square(const double *u, const double *v, uint32_t dimensions) {
    double square = 0;
    for (uint32_t i = 0; i < dimensions; i++)
        square += (u[i] - v[i]) * (u[i] - v[i]);
    return square;
}

/* What distance and gradient need to know of two points. */
typedef struct poincare_pair {
    double square;           /* |u - v|^2 */
    double scale_u, scale_v; /* 1 / (1 - |u|^2), 1 / (1 - |v|^2) */
    double sinh;             /* sinh d */
    double growth;           /* exp(d) - 1 */
    double nearness;         /* exp(-d) */
} poincare_pair;

/* scale_u: 1 / (1 - |u|^2). */
static inline poincare_pair poincare_compare(const double *u, double scale_u, const double *v,
                                             double room_v, uint32_t dimensions) {
    poincare_pair p = {.square = poincare_square(u, v, dimensions), .scale_u = scale_u};
    p.scale_v = 1 / room_v;
    const double t = 2 * p.square * p.scale_u * p.scale_v;
    p.sinh = sqrt(t * (t + 2));
    p.growth = t + p.sinh;
    p.nearness = 1 / (1 + p.growth);
    return p;
}

static inline double poincare_distance(const poincare_pair *p) {
    return log1p(p->growth);
}

/* Adds `times` the gradient of the distance by u to *by_u, and sets *by_v to `times` that by v. At
 * distance 0 there is no gradient: tem takes 0. */
static inline void poincare_gradient(const poincare_pair *p, const double *restrict u,
                                     const double *restrict v, uint32_t dimensions, double times,
                                     double *restrict by_u, double *restrict by_v) {
    const double factor = p->sinh > 0 ? times * 4 * p->scale_u * p->scale_v / p->sinh : 0;
    const double along_u = p->square * p->scale_u, along_v = p->square * p->scale_v;
    for (uint32_t i = 0; i < dimensions; i++) {
        const double difference = u[i] - v[i];
        by_u[i] += factor * (along_u * u[i] + difference);
        by_v[i] = factor * (along_v * v[i] - difference);
    }
}

/* The loss of one edge and its gradients. words[0] is the child u, words[1] its parent, the others
 * are negatives. Fills a row of gradients per word, Euclidean, and 1 - |x|^2 per word. `pairs` is
 * scratch memory for `count` pairs. Returns the loss (poincare_loss.c). */
double poincare_loss(const double *numbers, uint32_t dimensions, const uint32_t *words,
                     uint32_t count, poincare_pair *pairs, double *gradients, double *rooms);

/* A step from x against the Riemannian gradient: the Euclidean one times room^2 / 4. Then shortens
 * a point that is longer than 1 - TEM_POINCARE_MARGIN (poincare_loss.c). */
void poincare_step(double *x, uint32_t dimensions, double rate, double room,
                   const double *gradient);

/* The words that are neither a word nor a parent of it (poincare_train.c). */
typedef struct strangers {
    const uint32_t *parents; /* of the word */
    uint32_t parent_count;
    uint32_t count;
    uint32_t place; /* words below the word that are no parents */
} strangers;

strangers strangers_of(const tem_graph *graph, uint32_t word);

/* The rth of them, from 0, in the order of their ids. */
uint32_t strangers_pick(const strangers *s, uint32_t r);

/* Draws one of them: parents of edges of the graph, until one is neither the word nor a parent of
 * it. After STRANGERS_TRIES draws it gives up, and each stranger is equally likely. There must be a
 * stranger. */
enum { STRANGERS_TRIES = 64 };
uint32_t strangers_draw_parent(const strangers *s, const tem_graph *graph, uint32_t word,
                               tem_rng *rng);

/* As the functions tem_poincare_* of tem_train.h; the caller has checked pointers for NULL, and
 * that graph and points have the same number of words. */
tem_status poincare_train(const tem_graph *graph, const tem_poincare_options *options,
                          const tem_run *run, tem_poincare **points, double *loss,
                          tem_error *error);
void poincare_free(tem_poincare *points);
tem_status poincare_create(uint32_t words, uint32_t dimensions, tem_poincare **points,
                           tem_error *error);
tem_status poincare_load(const char *path, const tem_graph *graph, const tem_run *run,
                         tem_poincare **points, tem_error *error);
tem_status poincare_save(const tem_poincare *points, const tem_graph *graph, const char *path,
                         tem_overwrite overwrite, const tem_run *run, tem_error *error);
tem_status poincare_reconstruct(const tem_poincare *points, const tem_graph *graph,
                                const tem_run *run, tem_reconstruction *result, tem_error *error);

#endif
