/* tuning.h - the search for output weights and an exponent that give the most utility an epsilon
 * allows.
 *
 * The realized loss is s plus the largest slope of ln Z over all pairs (slopes.h). Weights change
 * Z. Where ln Z is flat, s can use all of epsilon. The search minimizes, over ln a and s, the
 * expected distance
 *
 *     F = sum over w of f_w E[m(w, Y) | w],    f the prior,
 *
 * plus a penalty: rho times the sum over all pairs of
 * max(|ln Z(w) - ln Z(w')| - (epsilon - s) m(w, w'), 0)^2. Where distances are streamed, the sum is
 * over the pairs in the lists of the index. The method is Adam. The search holds the slope a little
 * below the allowed slope, so that points along the way are feasible, and proposes the best of
 * these points.
 *
 * PRIVACY: the search only proposes. realised.h judges the proposal, rounded to integers. */
#ifndef TUNING_TUNING_H
#define TUNING_TUNING_H

#include "audit/pair_matrix.h"
#include "tem_account.h"

/* The caller's callback, which receives the state of a search and can end it. */
typedef struct tuning_watch {
    tem_search_fn *told; /* or NULL */
    void *context;
    bool enough; /* the callback has ended the search: every search ends with its best result */
} tuning_watch;

typedef struct tuning_goal {
    double epsilon;
    double reach; /* s gamma, if gamma follows from beta; else 0 */
    double gamma; /* if the caller gave it */
    const double *prior;
    double s_least, s_most; /* limits of the search */
    tuning_watch *watch;
} tuning_goal;

/* The gamma that goes with an exponent. */
double tuning_gamma(const tuning_goal *goal, double s);

/* A point of the search. */
typedef struct tuning_point {
    float *log_weights; /* ln a, padded */
    double s;
    double distance; /* F; INFINITY: no feasible point is known */
} tuning_point;

/* Searches from the weights of *start and s. A feasible point that is better replaces *start. If no
 * point is feasible, the last point replaces *start, with a distance of INFINITY.
 *   iterations  each takes about 0.5 s for 33,860 words on two CPUs, and about 75 s for 341,479
 *               words, whose distances are streamed; reports progress after each
 * TEM_ERR_MEMORY, TEM_ERR_CANCELLED or TEM_ERR_DAMAGED: then *start holds the best point so far. */
tem_status tuning_search(pair_matrix *t, const tuning_goal *goal, double s, unsigned iterations,
                         const tem_run *run, tuning_point *start, tem_error *error);

/* Makes `steps` steps of Richardson and Lucy's iteration towards K a = 1, starting from
 * log_weights: a <- a K(1 / (K a)) / (K 1). A weight of 0 stays 0. A few steps flatten ln Z.
 * TEM_ERR_MEMORY or TEM_ERR_CANCELLED. */
tem_status tuning_flatten(pair_matrix *t, const tuning_goal *goal, double s, unsigned steps,
                          const tem_run *run, float *log_weights, tem_error *error);

/* Solves K a = 1, which makes Z the same for all words, by conjugate gradients from the weights in
 * `a`. Ends when the largest residual is at most `tolerance`, or after `steps` steps. K may be
 * singular or, since distances are cut at gamma, indefinite: the search also ends where a direction
 * has no positive curvature. A word with the weight 0 in `a` keeps it, and has no equation: Z is
 * then the same for all other words.
 *   a          receives the weights of the last step
 *   *least     receives the least of them; if it is not above 0, no such weights were found
 *   *residual  receives the largest residual, or INFINITY if *least is not above 0
 * TEM_ERR_MEMORY or TEM_ERR_CANCELLED. */
tem_status tuning_balance(pair_matrix *t, const tuning_goal *goal, double s, unsigned steps,
                          double tolerance, const tem_run *run, float *a, double *residual,
                          double *least, tem_error *error);

#endif
