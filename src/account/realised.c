/* realised.c - the realised loss, and the exponent for a loss. */
#include "account/realised.h"

#include "core/status.h"
#include "core/threads.h"

#include <math.h>

/* Words whose Z is summed up exactly before the bounds are taken as they are. */
enum { REFINE_MAX = 512 };

static double s_of(const exponent *e) {
    return (double)e->s / (1 << EXPONENT_S_BITS);
}

/* PRIVACY: s plus a slope as a loss that is not exceeded. The law that is drawn differs from the
 * ideal one by 2^-98 a pair, which is less than 2^-60 per unit of any distance
 * (docs/PRIVACY.md, "The realised loss"); the factor covers the rounding of the sum. */
static double loss_up(const exponent *e, double slope_most) {
    return (s_of(e) + slope_most) * (1 + 0x1p-51) + 0x1p-60;
}

static uint32_t steepest(const steep_pairs *pairs) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < pairs->count; i++)
        if (pairs->list[i].most > pairs->list[best].most)
            best = i;
    return best;
}

/* Sums up Z for the two words, and bounds all pairs anew. */
static void refine(const account *a, partition *z, steep_pairs *pairs, const slope *pair) {
    if (!z->refined[pair->a])
        partition_refine(z, a->space, pair->a);
    if (!z->refined[pair->b])
        partition_refine(z, a->space, pair->b);
    for (uint32_t i = 0; i < pairs->count; i++) {
        const slope old = pairs->list[i];
        pairs->list[i] = slope_of(z, old.a, old.b, old.distance);
    }
}

/* Refines until the steepest pair has exact bounds, or lies within the floor. */
static tem_status settle(const account *a, partition *z, steep_pairs *pairs, double floor,
                         const tem_run *run, slope *worst, tem_error *error) {
    tem_status status = TEM_OK;
    for (unsigned round = 0; round < REFINE_MAX && status == TEM_OK; round++) {
        *worst = pairs->list[steepest(pairs)];
        if (worst->most <= floor || worst->most <= pairs->left_out ||
            (z->refined[worst->a] && z->refined[worst->b]))
            return TEM_OK;
        refine(a, z, pairs, worst);
        status = core_progress(run, "refining", round, REFINE_MAX, error);
    }
    *worst = pairs->list[steepest(pairs)];
    return status;
}

/* A bound on the loss between any two inputs. An unknown word has the law a_y / A, and A
 * exp(-s gamma) <= Z <= A, so it loses at most s gamma to any word (docs/PRIVACY.md). */
static double local_bound(const partition *z) {
    const exponent *e = &z->exponent;
    double least = INFINITY, most = -INFINITY;
    for (uint32_t id = 0; id < z->count; id++) {
        least = fmin(least, z->least[id]);
        most = fmax(most, z->most[id]);
    }
    const double single = s_of(e) * e->gamma / TEM_DIST_ONE;
    return single + fmin((most - least) * (1 + 0x1p-50), single);
}

/* The steepest pair, given ln Z; *out's most and least are slopes here. */
static tem_status find_worst(const account *a, partition *z, double floor, const tem_run *run,
                             realised_loss *out, tem_error *error) {
    steep_pairs pairs = {0};
    tem_status status = slopes_find(a->space, z, floor, run, &pairs, error);
    if (status != TEM_OK)
        return status;
    out->examined = pairs.examined;
    if (pairs.count > 0)
        status = settle(a, z, &pairs, floor, run, &out->worst, error);
    /* PRIVACY: what was left out counts with its bound. */
    out->most = fmax(floor, pairs.left_out);
    for (uint32_t i = 0; i < pairs.count; i++) {
        out->most = fmax(out->most, pairs.list[i].most);
        out->least = fmax(out->least, pairs.list[i].least);
    }
    steep_pairs_free(&pairs);
    return status;
}

tem_status realised_find(const account *a, exponent e, double target, const tem_run *run,
                         realised_loss *out, tem_error *error) {
    partition z = {0};
    realised_loss found = {.worst = {.a = TEM_NO_WORD, .b = TEM_NO_WORD}};
    tem_status status = partition_make(a->profile, a->weights, e, run, &z, error);
    if (status == TEM_OK)
        status = slopes_near(a->index, &z, run, &found.least, error);
    const double room = target - s_of(&e); /* for a slope */
    if (status == TEM_OK && !(found.least > room)) {
        /* Down to here the losses need not be told apart. A list that lies makes the floor
         * too high, and the bound with it, not too low. */
        const double floor = isfinite(target) ? fmax(room * (1 - 0x1p-40), 0) : found.least;
        found.least = 0;
        status = find_worst(a, &z, floor, run, &found, error);
    }
    if (status == TEM_OK) {
        found.local = local_bound(&z);
        found.most = loss_up(&e, fmax(found.most, found.least));
        found.least = (s_of(&e) + found.least) * (1 - 0x1p-51);
        *out = found;
    }
    partition_free(&z);
    return status;
}

static tem_status gamma_for(const account *a, double beta, double gamma, exponent *e,
                            tem_error *error) {
    return beta > 0 ? exponent_gamma_from_beta(beta, a->space->count, e->s, &e->gamma, error)
                    : exponent_gamma_given(gamma, e->s, &e->gamma, error);
}

/* Whether the realised loss is proved to be at most epsilon. */
static tem_status try(const account *a, exponent *e, double epsilon, double beta, double gamma,
                      const tem_run *run, bool *holds, tem_error *error) {
    *holds = false;
    if (gamma_for(a, beta, gamma, e, NULL) != TEM_OK) /* s gamma beyond 64 */
        return TEM_OK;
    realised_loss found = {0};
    const tem_status status = realised_find(a, *e, epsilon * (1 - 0x1p-50), run, &found, error);
    *holds = status == TEM_OK && found.most <= epsilon * (1 - 0x1p-50);
    return status;
}

tem_status realised_calibrate(const account *a, double epsilon, double beta, double gamma,
                              const tem_run *run, exponent *out, realised_loss *proof,
                              tem_error *error) {
    exponent best = {0, 0};
    tem_status status = exponent_s(epsilon, &best.s, error);
    if (status == TEM_OK)
        status = gamma_for(a, beta, gamma, &best, error);
    /* epsilon itself is too much: the realised loss is above s. */
    uint64_t beyond = status == TEM_OK ? (uint64_t)ldexp(epsilon, EXPONENT_S_BITS) : 0;
    while (status == TEM_OK && beyond - best.s > best.s / 512 + 1) {
        exponent middle = {best.s + (beyond - best.s) / 2, 0};
        bool holds = false;
        status = try(a, &middle, epsilon, beta, gamma, run, &holds, error);
        if (holds)
            best = middle;
        else
            beyond = middle.s;
    }
    if (status == TEM_OK)
        status = realised_find(a, best, INFINITY, run, proof, error);
    if (status == TEM_OK)
        *out = best;
    return status;
}
