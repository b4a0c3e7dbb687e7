/* api_accountant.c - tem_prior and tem_accountant of tem_account.h, and choosing an epsilon. */
#include "audit/accountant.h"
#include "audit/context_exposure.h"
#include "audit/form_audit.h"
#include "audit/form_effects.h"
#include "audit/pair_loss.h"
#include "command/tem_command.h"
#include "core/number.h"
#include "core/reserved.h"
#include "core/status.h"
#include "tuning/calibrate.h"
#include "tuning/choose.h"

#include <math.h>

/* ---- tem_prior ---- */

tem_status tem_prior_create_zipf(const tem_model *model, double power, tem_prior **prior,
                                 tem_error *error) {
    if (model == NULL || prior == NULL || !isfinite(power) || power < 0)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a model, a power of 0 or more and a place for the prior are needed");
    return prior_create_zipf(model, power, prior, error);
}

tem_status tem_prior_load(const tem_model *model, const char *path, const tem_run *run,
                          tem_prior **prior, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (model == NULL || path == NULL || prior == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a model, a path and a place for the prior are needed");
    return prior_load(model, path, run, prior, error);
}

void tem_prior_get_info(const tem_prior *prior, tem_prior_info *info) {
    if (info != NULL)
        *info = prior == NULL ? (tem_prior_info){0} : prior->info;
}

void tem_prior_free(tem_prior *prior) {
    prior_free(prior);
}

/* ---- tem_accountant ---- */

tem_status tem_accountant_create(const tem_model *model, const uint32_t *values, const tem_run *run,
                                 tem_accountant **accountant, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (model == NULL || accountant == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a model and a place for the accountant are needed");
    return accountant_create(model, values, run, accountant, error);
}

void tem_accountant_free(tem_accountant *accountant) {
    accountant_free(accountant);
}

tem_status tem_accountant_audit(const tem_accountant *accountant, const tem_mechanism *mechanism,
                                const tem_run *run, tem_audit *audit, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (accountant == NULL || mechanism == NULL || audit == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "an accountant, a mechanism and a place for the result are needed");
    return accountant_audit(accountant, mechanism, run, audit, error);
}

tem_status tem_form_audit_make(const tem_mechanism *mechanism, const tem_run *run,
                               tem_form_audit *audit, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (mechanism == NULL || audit == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a mechanism and a place for the result are needed");
    return form_audit(mechanism, FORM_AUDIT_NUMBERS, run, audit, error);
}

tem_status tem_context_exposure_measure(const tem_mechanism *mechanism, const char *path,
                                        uint32_t positions, const tem_run *run,
                                        tem_context_exposure *exposure, tem_exposed_place *most,
                                        uint32_t max, uint32_t *count, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (mechanism == NULL || path == NULL || exposure == NULL || (most == NULL && max > 0))
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a mechanism, a path and a place for the result are needed");
    if (positions > TEM_CONTEXT_PLACES_MAX)
        return core_fail(error, TEM_ERR_ARGUMENT, "at most %u places can be looked at",
                         TEM_CONTEXT_PLACES_MAX);
    return context_exposure(mechanism, path, positions > 0 ? positions : TEM_CONTEXT_PLACES_DEFAULT,
                            run, exposure, most, max, count, error);
}

/* All digits that a double has, or those of the mechanism's law. */
static unsigned digits_of(const tem_mechanism *m) {
    enum { DIGITS = 17 };
    const unsigned most =
        m->remap != NULL ? (unsigned)MECHANISM_ROW_DIGITS : mechanism_law_digits(m->ops);
    return most > 0 && most < DIGITS ? most : DIGITS;
}

tem_status tem_pair_loss_make(const tem_mechanism *mechanism, uint32_t a, uint32_t b,
                              tem_pair_loss *loss, tem_error *error) {
    tem_law *law_a = NULL, *law_b = NULL;
    if (mechanism == NULL || loss == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a mechanism and a place for the result are needed");
    tem_status status = tem_law_create(mechanism, a, digits_of(mechanism), &law_a, error);
    if (status == TEM_OK)
        status = tem_law_create(mechanism, b, digits_of(mechanism), &law_b, error);
    if (status == TEM_OK)
        status = pair_loss(mechanism, a, law_a, b, law_b, loss, error);
    tem_law_free(law_a);
    tem_law_free(law_b);
    return status;
}

tem_status tem_accountant_losses(const tem_accountant *accountant, const tem_mechanism *mechanism,
                                 uint32_t count, const tem_run *run, double *losses,
                                 tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (accountant == NULL || mechanism == NULL || losses == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "an accountant, a mechanism and a place for the result are needed");
    if (count == 0)
        return core_fail(error, TEM_ERR_ARGUMENT, "at least one range is needed");
    return accountant_losses(accountant, mechanism, count, run, losses, error);
}

tem_status tem_accountant_summarise(const tem_accountant *accountant,
                                    const tem_mechanism *mechanism, const tem_prior *prior,
                                    int with_bayes, const tem_run *run, tem_summary *summary,
                                    tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (accountant == NULL || mechanism == NULL || prior == NULL || summary == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "an accountant, a mechanism, a prior and a place for the summary are "
                         "needed");
    return accountant_summarise(accountant, mechanism, prior, NULL, with_bayes != 0, run, summary,
                                error);
}

tem_status tem_summarise_once(const tem_mechanism *mechanism, const tem_prior *prior,
                              const tem_run *run, tem_summary *summary, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (mechanism == NULL || prior == NULL || summary == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a mechanism, a prior and a place for the summary are needed");
    return accountant_summarise_once(mechanism, prior, run, summary, error);
}

static bool are_words(const tem_accountant *accountant, const uint32_t *words, uint64_t count) {
    if (count > TEM_WORDS_MAX || (words == NULL && count > 0))
        return false;
    for (uint64_t i = 0; i < count; i++)
        if (words[i] >= accountant->model->words.count)
            return false;
    return true;
}

tem_status tem_accountant_exposed(const tem_accountant *accountant, const tem_mechanism *mechanism,
                                  tem_target by, const uint32_t *words, size_t word_count,
                                  const tem_run *run, tem_exposure *most, uint32_t max,
                                  uint32_t *count, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (accountant == NULL || mechanism == NULL || most == NULL || max == 0 || count == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "an accountant, a mechanism and a place for the words are needed");
    if (by != TEM_TARGET_SELF && by != TEM_TARGET_SUPPORT)
        return core_fail(error, TEM_ERR_ARGUMENT, "words are ordered by self or by support");
    if (!are_words(accountant, words, word_count))
        return core_fail(error, TEM_ERR_ARGUMENT, "the id must be below the number of words");
    return accountant_exposed(accountant, mechanism, by, words, (uint32_t)word_count, run, most,
                              max, count, error);
}

tem_status tem_accountant_calibrate(const tem_accountant *accountant, const tem_calibration *wanted,
                                    const tem_run *run, tem_certificate **certificate,
                                    tem_audit *audit, tem_error *error) {
    if (is_for_newer(wanted, error) || is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (accountant == NULL || wanted == NULL || certificate == NULL)
        return core_fail(
            error, TEM_ERR_ARGUMENT,
            "an accountant, what is wanted and a place for the certificate are needed");
    return calibrate(accountant, wanted, run, certificate, audit, error);
}

/* ---- choosing ---- */

static tem_status check_wish(const tem_accountant *accountant, const tem_wish *wish,
                             tem_error *error) {
    if (accountant == NULL || wish == NULL || wish->prior == NULL ||
        target_name(wish->target) == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "an accountant, a target and a prior are needed");
    if (!are_words(accountant, wish->words, wish->word_count))
        return core_fail(error, TEM_ERR_ARGUMENT, "the id must be below the number of words");
    return TEM_OK;
}

tem_status tem_accountant_choose(const tem_accountant *accountant, const tem_wish *wish,
                                 const tem_run *run, tem_point *answer, tem_error *error) {
    if (is_for_newer(wish, error) || is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    const tem_status status = check_wish(accountant, wish, error);
    if (status == TEM_OK && answer == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a place for the answer is needed");
    return status == TEM_OK ? choose_epsilon(accountant, wish, run, answer, error) : status;
}

tem_status tem_form_measure(const tem_mechanism *mechanism, const tem_prior *prior,
                            const tem_run *run, tem_form_point *point, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (mechanism == NULL || point == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a mechanism and a place for the result are needed");
    return form_measure(mechanism, prior, run, point, error);
}

tem_status tem_form_choose(const tem_model *model, const tem_mechanism_options *options,
                           const tem_wish *wish, const tem_run *run, tem_form_point *answer,
                           tem_error *error) {
    if (is_for_newer(options, error) || is_for_newer(wish, error) || is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (model == NULL || options == NULL || wish == NULL || answer == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a model, options, a wish and a place for the answer are needed");
    if (target_name(wish->target) == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "there is no such target");
    if (wish->words == NULL && wish->word_count > 0)
        return core_fail(error, TEM_ERR_ARGUMENT, "words are counted, but there are none");
    return choose_for_form(model, options, wish, run, answer, error);
}

tem_status tem_accountant_curve(const tem_accountant *accountant, const tem_wish *wish,
                                const tem_point *answer, const tem_run *run,
                                tem_point points[TEM_CURVE_MAX], uint32_t *count,
                                tem_error *error) {
    if (is_for_newer(wish, error) || is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    const tem_status status = check_wish(accountant, wish, error);
    if (status == TEM_OK && (answer == NULL || points == NULL || count == NULL))
        return core_fail(error, TEM_ERR_ARGUMENT, "an answer and a place for points are needed");
    return status == TEM_OK ? choose_curve(accountant, wish, answer, run, points, count, error)
                            : status;
}

void tem_point_get_options(const tem_point *point, tem_mechanism_options *options) {
    if (options != NULL)
        *options = point == NULL ? (tem_mechanism_options){0} : point_options(point);
}

double tem_wish_value(const tem_wish *wish, const tem_summary *summary) {
    if (wish == NULL || summary == NULL || is_for_newer(wish, NULL))
        return NAN;
    return wish_value(wish, summary);
}

int tem_wish_is_kept(const tem_wish *wish, const tem_summary *summary) {
    return !isnan(tem_wish_value(wish, summary)) && wish_is_kept(wish, summary);
}

double tem_round_up(double x, int digits) {
    return number_round_up(x, digits);
}

double tem_round_down(double x, int digits) {
    return number_round_down(x, digits);
}
