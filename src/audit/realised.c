/* realised.c - the realized loss, and the exponent for a loss. */
#include "audit/realised.h"

#include "core/status.h"
#include "core/threads.h"

#include <math.h>

enum {
    REFINE_MAX = 512, /* pairs per round for whose words Z is summed over all words */
    ROUNDS_MAX = 12
};

static double s_of(const exponent *e) {
    return exponent_s_value(e->s);
}

/* PRIVACY: the upper bound on the loss for an upper bound on the slope. The law that the sampler
 * draws from differs from the ideal law by at most 2^-98 per pair, which is less than 2^-60 per
 * unit of any distance (docs/PRIVACY.md, "The realized loss"). The factor covers the rounding of
 * the sum. */
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

/* Sums Z over all words for the two words of a pair, and computes the bounds of all pairs again. */
static void refine(const loss_inputs *a, partition *z, steep_pairs *pairs, const slope *pair) {
    if (!z->refined[pair->a])
        partition_refine(z, a->space, pair->a);
    if (!z->refined[pair->b])
        partition_refine(z, a->space, pair->b);
    for (uint32_t i = 0; i < pairs->count; i++) {
        const slope old = pairs->list[i];
        pairs->list[i] = slope_of(z, old.a, old.b, old.distance);
    }
}

static double most_of(const steep_pairs *pairs) {
    return pairs->count == 0 ? 0 : pairs->list[steepest(pairs)].most;
}

static double least_of(const steep_pairs *pairs) {
    double least = 0;
    for (uint32_t i = 0; i < pairs->count; i++)
        least = fmax(least, pairs->list[i].least);
    return least;
}

/* Refines until the steepest pair has exact bounds, or is not above the floor, or REFINE_MAX pairs
 * were refined. */
static tem_status settle(const loss_inputs *a, partition *z, steep_pairs *pairs, double floor,
                         const tem_run *run, tem_error *error) {
    tem_status status = TEM_OK;
    for (unsigned round = 0; round < REFINE_MAX && pairs->count > 0 && status == TEM_OK; round++) {
        const slope worst = pairs->list[steepest(pairs)];
        if (worst.most <= floor || (z->refined[worst.a] && z->refined[worst.b]))
            return TEM_OK;
        refine(a, z, pairs, &worst);
        status = core_progress(run, "refining", round, REFINE_MAX, error);
    }
    return status;
}

/* A bound on the loss between any two inputs. An unknown word has the law a_y / A, and
 * A exp(-s gamma) <= Z <= A. So the loss between it and any word is at most s gamma
 * (docs/PRIVACY.md). */
static double local_bound(const partition *z) {
    const exponent *e = &z->exponent;
    double least = INFINITY, most = -INFINITY;
    for (uint32_t id = 0; id < z->count; id++) {
        least = fmin(least, z->least[id]);
        most = fmax(most, z->most[id]);
    }
    const double single = s_of(e) * e->gamma / TEM_DIST_ONE;
    return (single + fmin((most - least) * (1 + 0x1p-50), single)) * (1 + 0x1p-50) + 0x1p-60;
}

/* Takes over the result of a round. out->most and out->least are slopes here.
 * PRIVACY: pairs that were left out count with their bound. */
static void take_round(const steep_pairs *pairs, double floor, realised_loss *out) {
    if (pairs->count > 0)
        out->worst = pairs->list[steepest(pairs)];
    out->examined = pairs->examined;
    out->least = fmax(out->least, least_of(pairs));
    out->most = fmax(fmax(floor, pairs->left_out), most_of(pairs));
}

/* Finds the steepest pair, given bounds on ln Z. Where many pairs are about equally steep, the
 * first round leaves some out. The next round has the refined bounds and a floor as high as the
 * slope found so far, so it can tell more pairs apart.
 *   near  a slope that some pair in the lists reaches
 *   room  the slope that the target allows; INFINITY: no target */
static tem_status find_worst(const loss_inputs *a, partition *z, double near, double room,
                             const tem_run *run, realised_loss *out, tem_error *error) {
    tem_status status = TEM_OK;
    for (unsigned round = 0; round < ROUNDS_MAX && status == TEM_OK; round++) {
        /* Slopes up to the room need not be told apart. A wrong list can make the floor, and with
         * it the bound, too high but never too low. */
        const double floor =
            isfinite(room) ? fmax(room * (1 - 0x1p-40), 0) : fmax(near, out->least);
        steep_pairs pairs = {0};
        status = slopes_find(a->space, z, floor, run, &pairs, error);
        if (status != TEM_OK)
            return status;
        status = settle(a, z, &pairs, floor, run, error);
        take_round(&pairs, floor, out);
        const bool decided = pairs.left_out <= fmax(floor, most_of(&pairs)) || out->least > room;
        steep_pairs_free(&pairs);
        if (decided)
            break;
    }
    return status;
}

tem_status realised_find(const loss_inputs *a, exponent e, double target, const tem_run *run,
                         realised_loss *out, tem_error *error) {
    partition z = {0};
    realised_loss found = {.worst = {.a = TEM_NO_WORD, .b = TEM_NO_WORD}};
    double near = 0;
    tem_status status = partition_make(a->profile, a->weights, e, run, &z, error);
    if (status == TEM_OK)
        status = slopes_near(a->index, &z, run, &near, error);
    const double room = target - s_of(&e); /* the slope that the target allows */
    if (near > room)
        found.least = near;
    else if (status == TEM_OK)
        status = find_worst(a, &z, near, room, run, &found, error);
    if (status == TEM_OK) {
        found.local = local_bound(&z);
        found.most = loss_up(&e, fmax(found.most, found.least));
        found.least = (s_of(&e) + found.least) * (1 - 0x1p-51);
        *out = found;
    }
    partition_free(&z);
    return status;
}

static tem_status gamma_for(const loss_inputs *a, double beta, double gamma, exponent *e,
                            tem_error *error) {
    return beta > 0 ? exponent_gamma_from_beta(beta, a->space->count, e->s, &e->gamma, error)
                    : exponent_gamma_given(gamma, e->s, &e->gamma, error);
}

tem_status realised_try(const loss_inputs *a, exponent *e, double epsilon, double beta,
                        double gamma, const tem_run *run, realised_loss *proof, bool *holds,
                        tem_error *error) {
    const double limit = epsilon * (1 - 0x1p-50);
    *holds = false;
    if (gamma_for(a, beta, gamma, e, NULL) != TEM_OK) /* s gamma beyond 64 */
        return TEM_OK;
    realised_loss found = {0};
    const tem_status status = realised_find(a, *e, limit, run, &found, error);
    *holds = status == TEM_OK && found.most <= limit;
    if (*holds)
        *proof = found;
    return status;
}

tem_status realised_tighten(const loss_inputs *a, exponent e, const tem_run *run,
                            realised_loss *proof, tem_error *error) {
    realised_loss found = {0};
    const tem_status status = realised_find(a, e, INFINITY, run, &found, error);
    if (status == TEM_OK) {
        found.most = fmin(found.most, proof->most); /* both are proved */
        *proof = found;
    }
    return status;
}

tem_status realised_calibrate(const loss_inputs *a, double epsilon, double beta, double gamma,
                              const tem_run *run, exponent *out, realised_loss *proof,
                              tem_error *error) {
    exponent best = {0, 0};
    realised_loss found = {0};
    bool holds = false;
    tem_status status = exponent_s(epsilon, &best.s, error);
    if (status == TEM_OK)
        status = gamma_for(a, beta, gamma, &best, error);
    if (status == TEM_OK) /* holds by the theorem, since all bounds on slopes are at most s */
        status = realised_try(a, &best, epsilon, beta, gamma, run, &found, &holds, error);
    if (status == TEM_OK && !holds)
        status = core_fail(error, TEM_ERR_DAMAGED, "the lists of the model are wrong");
    /* s = epsilon can never be proved: the bound on the loss is above s. */
    uint64_t beyond = status == TEM_OK ? (uint64_t)ldexp(epsilon, EXPONENT_S_BITS) : 0;
    while (status == TEM_OK && beyond - best.s > best.s / 512 + 1) {
        exponent middle = {best.s + (beyond - best.s) / 2, 0};
        status = realised_try(a, &middle, epsilon, beta, gamma, run, &found, &holds, error);
        if (holds)
            best = middle;
        else
            beyond = middle.s;
    }
    if (status == TEM_OK)
        status = realised_tighten(a, best, run, &found, error);
    if (status == TEM_OK) {
        *out = best;
        *proof = found;
    }
    return status;
}
