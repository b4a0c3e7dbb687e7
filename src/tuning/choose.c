/* choose.c - the epsilon for a target.
 *
 * A user can judge how often a word stays itself, over how many words its output is spread, or how
 * often an attacker guesses it. With a larger epsilon the first and the last become larger, and the
 * second smaller. So a search from both sides finds the largest epsilon that discloses no more than
 * the target allows. */
#include "tuning/choose.h"

#include "audit/form_effects.h"
#include "core/number.h"
#include "core/status.h"
#include "mech/model_mechanism.h"
#include "tuning/calibrate.h"

#include <math.h>

enum {
    DIGITS = 4,
    GAMMA_LEAST = 1000 /* steps; below, the rounding of gamma would decide the result */
};

static const double accuracy = 1.0002; /* the search ends where its ends differ by this factor */

typedef struct epsilon_search {
    const tem_accountant *accountant; /* NULL: there is `form` */
    const tem_wish *wish;
    const tem_run *run;
    const tem_model *model;
    const tem_mechanism_options *form; /* of a law with one Z for all words, but for its epsilon;
                                        * NULL: the law is that of `tem` */
} epsilon_search;

/* ---- one epsilon ---- */

/* Finds the effects of a mechanism. with_bayes: also the success of the best guess if the target
 * does not need it. */
static tem_status describe(const epsilon_search *c, const tem_mechanism *mechanism, bool with_bayes,
                           tem_point *point, tem_error *error) {
    tem_mechanism_info info;
    mechanism_get_info(mechanism, &info);
    point->s = info.s;
    point->gamma = info.gamma;
    const exposure_group group = accountant_group(c->accountant, c->wish->words,
                                                  (uint32_t)c->wish->word_count, c->wish->quantile);
    return accountant_summarise(c->accountant, mechanism, c->wish->prior, &group,
                                with_bayes || c->wish->target == TEM_TARGET_BAYES, c->run,
                                &point->summary, error);
}

/* Finds the realized loss of a mechanism, rounded up. *epsilon is untouched on failure. */
static tem_status find_realised(const epsilon_search *c, const tem_mechanism *mechanism,
                                double *epsilon, tem_error *error) {
    tem_audit audit;
    const tem_status status = accountant_audit(c->accountant, mechanism, c->run, &audit, error);
    if (status == TEM_OK)
        *epsilon = number_round_up(audit.realised, DIGITS);
    return status;
}

/* The same for a law with one Z: the median word is every word. */
static tem_status describe_form(const epsilon_search *c, const tem_mechanism *mechanism,
                                tem_point *point, tem_error *error) {
    const bool with_bayes = c->wish->target == TEM_TARGET_BAYES;
    tem_form_point found;
    TRY(form_measure(mechanism, with_bayes ? c->wish->prior : NULL, c->run, &found, error));
    point->s = found.s;
    point->summary.self_median = found.self;
    point->summary.support_median = found.support;
    point->summary.bayes = found.bayes;
    return TEM_OK;
}

static bool is_gamma_too_small(const epsilon_search *c, const tem_mechanism *mechanism) {
    tem_mechanism_info info;
    mechanism_get_info(mechanism, &info);
    return c->form == NULL && c->wish->gamma <= 0 && info.gamma_steps < GAMMA_LEAST;
}

/* Finds the effects of one epsilon.
 *   whole    true: everything that users see; false: only what the target needs
 *   *beyond  receives whether the integers cannot represent this epsilon, or only with a gamma
 *            below GAMMA_LEAST. That is no error during a search; then only the epsilons of the
 *            point are set. */
static tem_status evaluate(const epsilon_search *c, double epsilon, bool whole, tem_point *point,
                           bool *beyond, tem_error *error) {
    tem_mechanism_options options = {.beta = c->wish->beta, .gamma = c->wish->gamma};
    if (c->form != NULL)
        options = *c->form;
    options.epsilon = epsilon;
    tem_mechanism *mechanism = NULL;
    tem_status status = mechanism_create(c->model, &options, &mechanism, error);
    *point = (tem_point){.epsilon = epsilon, .epsilon_paper = epsilon};
    *beyond = status == TEM_ERR_RANGE || (status == TEM_OK && is_gamma_too_small(c, mechanism));
    if (*beyond)
        status = TEM_OK;
    else if (status == TEM_OK)
        status = c->form != NULL ? describe_form(c, mechanism, point, error)
                                 : describe(c, mechanism, whole, point, error);
    if (status == TEM_OK && !*beyond && whole && c->wish->calibrated)
        status = find_realised(c, mechanism, &point->epsilon, error);
    mechanism_free(mechanism);
    return status;
}

/* ---- targets ---- */

const char *target_name(tem_target target) {
    static const char *const names[] = {
        [TEM_TARGET_SELF] = "self", [TEM_TARGET_SUPPORT] = "support", [TEM_TARGET_BAYES] = "bayes"};
    return target >= TEM_TARGET_SELF && target <= TEM_TARGET_BAYES ? names[target] : NULL;
}

/* Whether the wish is about words by name or a share of them, and not about the median. */
static bool is_about_exposed(const tem_wish *wish) {
    return wish->word_count > 0 || wish->quantile > 0;
}

double wish_value(const tem_wish *wish, const tem_summary *summary) {
    if (is_about_exposed(wish))
        return wish->target == TEM_TARGET_SELF ? summary->self_exposed : summary->support_exposed;
    return wish->target == TEM_TARGET_SELF      ? summary->self_median
           : wish->target == TEM_TARGET_SUPPORT ? summary->support_median
                                                : summary->bayes;
}

bool wish_is_kept(const tem_wish *wish, const tem_summary *summary) {
    const double value = wish_value(wish, summary);
    return wish->target == TEM_TARGET_SUPPORT ? value >= wish->wanted : value <= wish->wanted;
}

static bool keeps_target(const epsilon_search *c, const tem_point *point) {
    return wish_is_kept(c->wish, &point->summary);
}

/* exponent_s rounds epsilon/2 down and subtracts one step of s: so this epsilon gives back s. */
tem_mechanism_options point_options(const tem_point *point) {
    return (tem_mechanism_options){.epsilon = 2 * point->s + ldexp(2, -EXPONENT_S_BITS),
                                   .gamma = point->gamma};
}

/* ---- the search ---- */

static tem_status fail_unreachable(const epsilon_search *c, const tem_point *end, const char *which,
                                   tem_error *error) {
    static const char *const medians[] = {[TEM_TARGET_SELF] = "the median of N_w",
                                          [TEM_TARGET_SUPPORT] = "the median of S_w",
                                          [TEM_TARGET_BAYES] = "the success of the best guess"};
    static const char *const exposed[] = {[TEM_TARGET_SELF] = "N_w of the exposed words",
                                          [TEM_TARGET_SUPPORT] = "S_w of the exposed words"};
    static const char *const alike[] = {[TEM_TARGET_SELF] = "N_w of every word",
                                        [TEM_TARGET_SUPPORT] = "S_w of every word",
                                        [TEM_TARGET_BAYES] = "the success of the best guess"};
    const char *const *values = c->form != NULL             ? alike
                                : is_about_exposed(c->wish) ? exposed
                                                            : medians;
    return core_fail(error, TEM_ERR_RANGE,
                     "that cannot be reached: at epsilon %.4g, nearly the %s there is here, %s is "
                     "%.6g",
                     end->epsilon_paper, which, values[c->wish->target],
                     wish_value(c->wish, &end->summary));
}

/* Finds an epsilon that the integers can represent: the first of 1, 1/2, 1/4, ... */
static tem_status find_start(const epsilon_search *c, tem_point *point, tem_error *error) {
    bool beyond = true;
    tem_status status = TEM_OK;
    for (double epsilon = 1; status == TEM_OK && beyond && epsilon > 5e-6; epsilon /= 2)
        status = evaluate(c, epsilon, false, point, &beyond, error);
    if (status == TEM_OK && beyond)
        return core_fail(error, TEM_ERR_RANGE, "no epsilon goes with this gamma or beta");
    return status;
}

/* Goes by factors of two until *low keeps the target and *high does not. *high_is_end: the integers
 * cannot represent *high. */
static tem_status bracket(const epsilon_search *c, tem_point *low, tem_point *high,
                          bool *high_is_end, tem_error *error) {
    tem_point point = {.epsilon = 0}, before;
    tem_status status = find_start(c, &point, error);
    const bool up = status == TEM_OK && keeps_target(c, &point);
    while (status == TEM_OK) {
        before = point;
        status =
            evaluate(c, before.epsilon_paper * (up ? 2 : 0.5), false, &point, high_is_end, error);
        if (status == TEM_OK && *high_is_end && !up)
            return fail_unreachable(c, &before, "least", error);
        if (status != TEM_OK || (!*high_is_end && keeps_target(c, &point) == up))
            continue;
        *low = up ? before : point;
        *high = up ? point : before;
        return TEM_OK;
    }
    return status;
}

/* How far a point is from the target: negative where the target is kept. On this scale the effects
 * are about linear in ln epsilon. */
static double excess_of(const epsilon_search *c, const tem_point *point) {
    const double value = wish_value(c->wish, &point->summary), wanted = c->wish->wanted;
    return c->wish->target == TEM_TARGET_SUPPORT
               ? log(wanted / value)
               : log(value / wanted) - log((1 - value) / (1 - wanted));
}

/* The two ends of the search, in ln epsilon, and how far each is from the target. */
typedef struct secant {
    double low, high, low_excess, high_excess;
} secant;

/* Where the line through both ends meets the target, but not nearer to an end than half the width
 * at which the search ends: the next point then usually closes the search. The middle where an end
 * has no finite number, as an end has that the integers cannot represent, and after many steps. */
static double next_point(const secant *x, int step) {
    enum { STEPS_BY_LINE = 12 };
    const double width = x->high - x->low, least = log(accuracy) / 2;
    const double part = x->low_excess / (x->low_excess - x->high_excess);
    if (!isfinite(x->low_excess) || !isfinite(x->high_excess) || !isfinite(part) ||
        step > STEPS_BY_LINE)
        return x->low + width / 2;
    return fmin(fmax(x->low + part * width, x->low + least), x->high - least);
}

/* Moves an end to a new point. The Illinois rule: where the same end moves twice in a row, the
 * number of the other end is halved, so that it moves soon, too. */
static void move_end(secant *x, double at, double excess, bool is_low, int *same) {
    *same = is_low ? (*same > 0 ? *same + 1 : 1) : (*same < 0 ? *same - 1 : -1);
    if (is_low) {
        x->low = at;
        x->low_excess = excess;
        x->high_excess *= *same > 1 ? 0.5 : 1;
    } else {
        x->high = at;
        x->high_excess = excess;
        x->low_excess *= *same < -1 ? 0.5 : 1;
    }
}

/* Finds the largest epsilon that keeps the target, to 0.02 %. */
static tem_status close_in(const epsilon_search *c, tem_point *low, tem_error *error) {
    tem_point high = {.epsilon = 0};
    bool high_is_end = false;
    int same = 0;
    tem_status status = bracket(c, low, &high, &high_is_end, error);
    if (status != TEM_OK)
        return status;
    secant x = {log(low->epsilon_paper), log(high.epsilon_paper), excess_of(c, low),
                high_is_end ? NAN : excess_of(c, &high)};
    for (int step = 1; status == TEM_OK && x.high - x.low > log(accuracy); step++) {
        tem_point point;
        bool beyond = false;
        const double at = next_point(&x, step);
        status = evaluate(c, exp(at), false, &point, &beyond, error);
        if (status != TEM_OK)
            return status;
        const bool keeps = !beyond && keeps_target(c, &point);
        move_end(&x, at, beyond ? NAN : excess_of(c, &point), keeps, &same);
        if (keeps)
            *low = point;
        else
            high_is_end = beyond;
    }
    return high_is_end ? fail_unreachable(c, low, "largest", error) : status;
}

/* Finds the largest epsilon of four digits that keeps the target. */
static tem_status find_answer(const epsilon_search *c, tem_point *answer, tem_error *error) {
    tem_point low = {.epsilon = 0};
    bool beyond = false;
    tem_status status = close_in(c, &low, error);
    double epsilon = status == TEM_OK ? number_round_down(low.epsilon_paper, DIGITS) : 0;
    for (int tries = 0; status == TEM_OK && tries < 10; tries++) {
        status = evaluate(c, epsilon, true, answer, &beyond, error);
        if (status == TEM_OK && !beyond && keeps_target(c, answer))
            return status;
        epsilon = number_round_down(epsilon * (1 - 1e-4), DIGITS);
    }
    return status != TEM_OK
               ? status
               : core_fail(error, TEM_ERR_RANGE, "no epsilon of four digits keeps that target");
}

/* ---- certificates ---- */

/* Finds the effects of a certificate. */
static tem_status describe_certificate(const epsilon_search *c, const tem_certificate *certificate,
                                       tem_point *point, tem_error *error) {
    const tem_mechanism_options options = {.epsilon = point->epsilon, .certificate = certificate};
    tem_mechanism *mechanism = NULL;
    tem_status status = mechanism_create(c->model, &options, &mechanism, error);
    if (status == TEM_OK)
        status = describe(c, mechanism, true, point, error);
    if (status == TEM_OK)
        point->epsilon_paper = number_round_up(2 * point->s + 0x1p-18, DIGITS);
    mechanism_free(mechanism);
    return status;
}

/* Makes the certificate for an epsilon, and finds its effects. */
static tem_status evaluate_certificate(const epsilon_search *c, double epsilon, tem_point *point,
                                       tem_error *error) {
    const tem_calibration wanted = {
        .epsilon = epsilon, .beta = c->wish->beta, .gamma = c->wish->gamma};
    tem_certificate *certificate = NULL;
    *point = (tem_point){.epsilon = epsilon};
    tem_status status = calibrate(c->accountant, &wanted, c->run, &certificate, NULL, error);
    if (status == TEM_OK)
        status = describe_certificate(c, certificate, point, error);
    certificate_free(certificate);
    return status;
}

/* The first epsilon is the realized loss at the s that was found. The certificate for this epsilon
 * may have a larger s, since the loss need not grow with s. The effects of the certificate count,
 * so epsilon is lowered until a certificate keeps the target. */
static tem_status find_calibrated_answer(const epsilon_search *c, tem_point *answer,
                                         tem_error *error) {
    double epsilon = answer->epsilon;
    for (int tries = 0; tries < 64; tries++) {
        const tem_status status = evaluate_certificate(c, epsilon, answer, error);
        if (status != TEM_OK || keeps_target(c, answer))
            return status;
        epsilon = number_round_down(epsilon * (1 - (tries < 8 ? 1e-3 : 2e-2)), DIGITS);
    }
    return core_fail(error, TEM_ERR_RANGE, "no certificate of this vocabulary keeps that target");
}

/* Whether the wish names words, and all of them are excluded. */
static bool names_no_output(const tem_accountant *accountant, const tem_wish *wish) {
    uint64_t excluded = 0;
    while (excluded < wish->word_count &&
           model_is_excluded(accountant->model, wish->words[excluded]))
        excluded++;
    return wish->word_count > 0 && excluded == wish->word_count;
}

/* Checks whose effect the wish is about. */
static tem_status check_exposed(const tem_accountant *accountant, const tem_wish *wish,
                                tem_error *error) {
    if (!is_about_exposed(wish) && !(wish->quantile < 0) && !isnan(wish->quantile))
        return TEM_OK;
    if (wish->target == TEM_TARGET_BAYES)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "bayes is one number for all words: it goes with no words and no "
                         "quantile");
    if (!(wish->quantile >= 0 && wish->quantile <= 1))
        return core_fail(error, TEM_ERR_ARGUMENT, "the quantile must be above 0 and at most 1");
    if (wish->word_count == 0 && accountant->reachable_count == 0)
        return core_fail(error, TEM_ERR_ARGUMENT, "no text can contain a word of this model");
    if (wish->target == TEM_TARGET_SELF && names_no_output(accountant, wish))
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "excluded words stay themselves at no epsilon: support tells how far they "
                         "are spread");
    return TEM_OK;
}

static tem_status check_wanted(const tem_wish *wish, tem_error *error) {
    if (wish->target == TEM_TARGET_SUPPORT && !(wish->wanted > 1 && wish->wanted < INFINITY))
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "support takes a number above 1: a word is spread over at least itself at "
                         "any epsilon");
    if (wish->target != TEM_TARGET_SUPPORT && !(wish->wanted > 0 && wish->wanted < 1))
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "%s takes a probability above 0 and below 1; 12 %% is 0.12",
                         target_name(wish->target));
    return TEM_OK;
}

static tem_status check_wish(const tem_accountant *accountant, const tem_wish *wish,
                             tem_error *error) {
    TRY(check_wanted(wish, error));
    return check_exposed(accountant, wish, error);
}

tem_status choose_epsilon(const tem_accountant *accountant, const tem_wish *wish,
                          const tem_run *run, tem_point *answer, tem_error *error) {
    const epsilon_search c = {
        .accountant = accountant, .wish = wish, .run = run, .model = accountant->model};
    tem_point found;
    tem_status status = check_wish(accountant, wish, error);
    if (status == TEM_OK)
        status = find_answer(&c, &found, error);
    if (status == TEM_OK && wish->calibrated)
        status = find_calibrated_answer(&c, &found, error);
    if (status == TEM_OK)
        *answer = found;
    return status;
}

/* ---- a law with one Z ---- */

static tem_status check_form_wish(const tem_wish *wish, tem_error *error) {
    const bool is_of_words = is_about_exposed(wish) || isnan(wish->quantile) || wish->quantile < 0;
    if (is_of_words)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "this mechanism protects all words alike: leave out the words and the "
                         "quantile");
    if (is_given(wish->beta) || is_given(wish->gamma) || wish->calibrated != 0)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "this mechanism takes no beta, gamma or certificate");
    if (wish->target == TEM_TARGET_BAYES && wish->prior == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a guess needs a prior");
    return check_wanted(wish, error);
}

tem_status choose_for_form(const tem_model *model, const tem_mechanism_options *options,
                           const tem_wish *wish, const tem_run *run, tem_form_point *answer,
                           tem_error *error) {
    const epsilon_search c = {.wish = wish, .run = run, .model = model, .form = options};
    tem_mechanism *mechanism = NULL;
    tem_point found;
    TRY(check_form_wish(wish, error));
    TRY(find_answer(&c, &found, error));
    tem_mechanism_options chosen = *options;
    chosen.epsilon = found.epsilon;
    tem_status status = mechanism_create(model, &chosen, &mechanism, error);
    if (status == TEM_OK)
        status = form_measure(mechanism, wish->prior, run, answer, error);
    mechanism_free(mechanism);
    return status;
}

/* ---- the curve ---- */

typedef struct point_curve {
    tem_point points[TEM_CURVE_MAX];
    uint32_t count;
    bool has_answer;
} point_curve;

/* Adds the point of an epsilon. Points are in ascending order, and the answer is added where it
 * belongs. */
static tem_status add_to_curve(const epsilon_search *c, point_curve *to, const tem_point *answer,
                               double epsilon, tem_error *error) {
    const double chosen = answer->epsilon_paper;
    if (!to->has_answer && epsilon >= chosen) {
        to->points[to->count++] = *answer;
        to->has_answer = true;
    }
    if (epsilon <= chosen && epsilon >= chosen)
        return TEM_OK;
    bool beyond = false;
    const tem_status status = evaluate(c, epsilon, true, &to->points[to->count], &beyond, error);
    to->count += status == TEM_OK && !beyond;
    return status;
}

tem_status choose_curve(const tem_accountant *accountant, const tem_wish *wish,
                        const tem_point *answer, const tem_run *run,
                        tem_point points[TEM_CURVE_MAX], uint32_t *count, tem_error *error) {
    static const double usual[] = {0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12};
    enum { USUAL = sizeof usual / sizeof *usual, AROUND = 6, OTHERS = 2 * AROUND + 1 };
    _Static_assert((unsigned)USUAL < TEM_CURVE_MAX && (unsigned)OTHERS < TEM_CURVE_MAX,
                   "the answer has room, too");
    const epsilon_search c = {
        .accountant = accountant, .wish = wish, .run = run, .model = accountant->model};
    point_curve found = {.count = 0};
    tem_status status = check_wish(accountant, wish, error);
    if (status != TEM_OK)
        return status;
    const double chosen = answer->epsilon_paper;
    const bool is_usual = chosen >= usual[0] && chosen <= usual[USUAL - 1];
    for (int i = 0; status == TEM_OK && i < (is_usual ? (int)USUAL : (int)OTHERS); i++)
        status = add_to_curve(
            &c, &found, answer,
            is_usual ? usual[i] : number_round_down(chosen * pow(2, (i - AROUND) / 2.0), DIGITS),
            error);
    if (status != TEM_OK)
        return status;
    for (uint32_t i = 0; i < found.count; i++)
        points[i] = found.points[i];
    *count = found.count;
    return status;
}
