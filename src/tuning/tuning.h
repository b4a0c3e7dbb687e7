/* tuning.h - the search for output weights and an exponent that give the most utility an epsilon
 * allows.
 *
 * The realised loss is s plus the largest slope of ln Z over all pairs (slopes.h). Weights change
 * Z: with flat ln Z the whole of epsilon can go into s. The search minimises the expected distance
 *
 *     F = sum over w of f_w E[m(w, Y) | w],    f the prior,
 *
 * over ln a and s, plus a penalty rho times the sum over all pairs of
 * max(|ln Z(w) - ln Z(w')| - (epsilon - s) m(w, w'), 0)^2, by Adam, with a slope that is held a
 * little below what is allowed, so that points along the way are feasible; the best of these is
 * what it proposes. Where distances are streamed the pairs are those in the lists of the index.
 *
 * PRIVACY: a proposal and no more. Rounded to integers it is judged by realised.h. */
#ifndef TUNING_TUNING_H
#define TUNING_TUNING_H

#include "audit/pair_matrix.h"
#include "tem_account.h"

/* Who is told how a search stands, and may have enough of it. */
typedef struct tuning_watch {
    tem_search_fn *told; /* or NULL */
    void *context;
    bool enough; /* said so: every search ends with what it has */
} tuning_watch;

typedef struct tuning_goal {
    double epsilon;
    double reach; /* s gamma, if gamma follows from beta; else 0 */
    double gamma; /* if it was given */
    const double *prior;
    double s_least, s_most; /* of the search */
    tuning_watch *watch;
} tuning_goal;

/* The gamma that goes with an exponent. */
double tuning_gamma(const tuning_goal *goal, double s);

/* A point of the search. */
typedef struct tuning_point {
    float *log_weights; /* padded */
    double s;
    double distance; /* F; INFINITY: no feasible point yet */
} tuning_point;

/* Starts from *start and s; *start is replaced by the best feasible point that is found, if there
 * is one that is better, and by the last one, with a distance of INFINITY, if none is feasible.
 * iterations: each about 0.5 s for 33,860 words on two processors, and about 75 s for 341,479,
 * which are streamed. Told of progress after each. TEM_ERR_MEMORY, TEM_ERR_CANCELLED or
 * TEM_ERR_DAMAGED: then *start holds the best so far. */
tem_status tuning_search(pair_matrix *t, const tuning_goal *goal, double s, unsigned iterations,
                         const tem_run *run, tuning_point *start, tem_error *error);

/* Richardson and Lucy's iteration towards K a = 1, a few steps of which flatten ln Z:
 * a <- a K(1 / (K a)) / (K 1). */
tem_status tuning_flatten(pair_matrix *t, const tuning_goal *goal, double s, unsigned steps,
                          const tem_run *run, float *log_weights, tem_error *error);

/* Solves K a = 1, which makes Z the same for all words, by conjugate gradients from the weights
 * that are given, up to a largest residual of `tolerance` or for `steps` steps; *least receives the
 * least of the weights, which may be negative: then no such weights were found, and `a` is what it
 * is; else *residual receives the largest. K may be singular or, by its truncation, indefinite: the
 * search ends where it no longer gets anywhere. */
tem_status tuning_balance(pair_matrix *t, const tuning_goal *goal, double s, unsigned steps,
                          double tolerance, const tem_run *run, float *a, double *residual,
                          double *least, tem_error *error);

#endif
