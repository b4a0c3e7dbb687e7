/* pair_loss.c - the loss between two inputs, beside what is proved of them.
 *
 * The loss comes from the two laws, output by output. What is proved comes from the theorem of the
 * mechanism: epsilon times a distance of the two inputs. For a law of distances that is
 * min(d, gamma). For another law with a form it is the largest |ln K(a, y) - ln K(b, y)| over all
 * outputs, divided by s: d_r for `rank`. With an unknown word it is the bound of the form. */
#include "audit/pair_loss.h"

#include "core/memory.h"
#include "core/status.h"
#include "mech/law.h"

#include <math.h>

/* ---- the loss ---- */

/* Sets the ratio of two probabilities, the larger one first. Returns false if both are 0. */
static bool set_ratio(mpfr_t ratio, mpfr_srcptr p, mpfr_srcptr q) {
    const bool is_larger = mpfr_cmp(p, q) >= 0;
    mpfr_srcptr high = is_larger ? p : q, low = is_larger ? q : p;
    if (mpfr_zero_p(high))
        return false;
    if (mpfr_zero_p(low))
        mpfr_set_inf(ratio, 1);
    else
        mpfr_div(ratio, high, low, MPFR_RNDN);
    return true;
}

static void find_loss(const tem_law *a, const tem_law *b, tem_pair_loss *loss) {
    mpfr_t ratio, largest;
    mpfr_inits2(mpfr_get_prec(a->entropy), ratio, largest, (mpfr_ptr)NULL);
    mpfr_set_ui(largest, 1, MPFR_RNDN);
    for (uint32_t y = 0; y < a->count; y++)
        if (set_ratio(ratio, a->probabilities[y], b->probabilities[y]) &&
            mpfr_cmp(ratio, largest) > 0) {
            mpfr_swap(ratio, largest);
            loss->output = y;
        }
    mpfr_log(largest, largest, MPFR_RNDN);
    loss->loss = mpfr_get_d(largest, MPFR_RNDN);
    if (loss->output != TEM_NO_WORD) {
        loss->probability_a = mpfr_get_d(a->probabilities[loss->output], MPFR_RNDN);
        loss->probability_b = mpfr_get_d(b->probabilities[loss->output], MPFR_RNDN);
    }
    mpfr_clears(ratio, largest, (mpfr_ptr)NULL);
}

/* ---- what is proved ---- */

/* The largest |ln K(a, y) - ln K(b, y)| over all outputs y. */
static tem_status closeness_loss(const law_form *f, uint32_t a, uint32_t b, double *loss,
                                 tem_error *error) {
    const uint32_t count = f->weights->count;
    double *x = core_alloc(count, sizeof *x), *y = core_alloc(count, sizeof *y), largest = 1;
    const tem_status status = x == NULL || y == NULL ? core_fail_memory(error) : TEM_OK;
    if (status == TEM_OK) {
        f->ops->row(f, a, 0, count, x);
        f->ops->row(f, b, 0, count, y);
        for (uint32_t i = 0; i < count; i++)
            if (weights_at(f->weights, i) > 0)
                largest = fmax(largest, fmax(x[i] / y[i], y[i] / x[i]));
        *loss = log(largest);
    }
    core_free(x);
    core_free(y);
    return status;
}

static double distance_of(const tem_mechanism *m, const tem_mechanism_info *info, uint32_t a,
                          uint32_t b) {
    if (a == b)
        return 0;
    if (a == TEM_NO_WORD || b == TEM_NO_WORD)
        return info->gamma; /* of an unknown word to all others */
    const tem_dist d = space_distance(&m->model->space, a, b);
    return (double)(d < info->gamma_steps ? d : info->gamma_steps) / TEM_DIST_ONE;
}

/* PRIVACY: epsilon is s, or 2s where Z differs from word to word, and at least one step of s more.
 * That is more than the rounding of the distance. An unknown word loses at most exp(spread) to all
 * others, whether Z differs or not (law_form.h). */
static tem_status prove_by_form(const law_form *f, const tem_mechanism_info *info, uint32_t a,
                                uint32_t b, tem_pair_loss *loss, tem_error *error) {
    double largest = 0;
    tem_status status = TEM_OK;
    if (a != b && (a == TEM_NO_WORD || b == TEM_NO_WORD)) {
        loss->distance = NAN;
        loss->proved = f->spread;
        return TEM_OK;
    }
    if (a != b)
        status = closeness_loss(f, a, b, &largest, error);
    loss->distance = largest / info->s;
    loss->proved = fmin(info->epsilon * loss->distance, loss->bound);
    return status;
}

static tem_status find_proved(const tem_mechanism *m, uint32_t a, uint32_t b, tem_pair_loss *loss,
                              tem_error *error) {
    tem_mechanism_info info;
    mechanism_get_info(m, &info);
    loss->proved = loss->bound = info.bound;
    loss->distance = NAN;
    if (!isfinite(info.bound))
        return TEM_OK;
    const law_form *f = m->ops->form != NULL ? m->ops->form(m->state) : NULL;
    if (f != NULL && !f->is_of_distance)
        return prove_by_form(f, &info, a, b, loss, error);
    loss->distance = distance_of(m, &info, a, b);
    loss->proved = info.epsilon * loss->distance;
    return TEM_OK;
}

tem_status pair_loss(const tem_mechanism *m, uint32_t a, const tem_law *law_a, uint32_t b,
                     const tem_law *law_b, tem_pair_loss *loss, tem_error *error) {
    tem_pair_loss made = {
        .loss = NAN, .output = TEM_NO_WORD, .probability_a = NAN, .probability_b = NAN};
    TRY(find_proved(m, a, b, &made, error));
    find_loss(law_a, law_b, &made);
    *loss = made;
    return TEM_OK;
}
