/* api_page.c - the calls of tem_report.h. */
#include "api/hand_out.h"
#include "core/reserved.h"
#include "core/status.h"
#include "page/page.h"

#include <math.h>

static bool is_share(double x) {
    return x >= 0 && x <= 1 + 1e-6;
}

static tem_status check_curve(const tem_findings_options *o, tem_error *error) {
    if (o->curve_count > TEM_CURVE_MAX || (o->curve == NULL && o->curve_count > 0))
        return core_fail(error, TEM_ERR_ARGUMENT, "a curve has 0 to %u points", TEM_CURVE_MAX);
    for (uint32_t i = 0; i < o->curve_count; i++) {
        const tem_point *p = &o->curve[i];
        if (!(p->epsilon > (i > 0 ? o->curve[i - 1].epsilon : 0)) || !isfinite(p->epsilon) ||
            !is_share(p->summary.bayes) || !is_share(p->summary.self_median))
            return core_fail(error, TEM_ERR_ARGUMENT,
                             "the points of a curve have ascending epsilons, and probabilities");
    }
    return TEM_OK;
}

static tem_status check_probes(const tem_mechanism *mechanism, const tem_findings_options *o,
                               tem_error *error) {
    if (o->probe_count > TEM_PROBES_MAX || (o->probes == NULL && o->probe_count > 0))
        return core_fail(error, TEM_ERR_ARGUMENT, "a report shows at most %u words by name",
                         TEM_PROBES_MAX);
    for (size_t i = 0; i < o->probe_count; i++)
        if (o->probes[i] >= mechanism->model->words.count)
            return core_fail(error, TEM_ERR_ARGUMENT, "the id must be below the number of words");
    return TEM_OK;
}

tem_status tem_findings_create(const tem_mechanism *mechanism, const tem_findings_options *options,
                               const tem_run *run, tem_findings **findings, tem_error *error) {
    if (is_for_newer(options, error) || is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (mechanism == NULL || options == NULL || options->prior == NULL ||
        options->prior_name == NULL || findings == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a mechanism, a prior with its name and a place for the findings are "
                         "needed");
    if (options->prior->model != mechanism->model)
        return core_fail(error, TEM_ERR_ARGUMENT, "the prior must be of the mechanism's model");
    if (options->public_text != NULL && mechanism->context.language == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a public text is for a mechanism with a language model");
    TRY(check_probes(mechanism, options, error));
    TRY(check_curve(options, error));
    return findings_create(mechanism, options, run, findings, error);
}

void tem_findings_free(tem_findings *findings) {
    findings_free(findings);
}

tem_status tem_report_html(const tem_findings *findings, const tem_report_page *page, char **html,
                           size_t *bytes, tem_error *error) {
    core_buffer out = {0};
    if (is_for_newer(page, error) ||
        (page != NULL && (job_is_for_newer(page->job, error) || is_for_newer(page->counts, error) ||
                          is_for_newer(page->balance, error))))
        return TEM_ERR_ARGUMENT;
    if (findings == NULL || page == NULL || html == NULL || bytes == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "findings, what the page is about and a place for it are needed");
    if ((page->job == NULL) != (page->counts == NULL))
        return core_fail(error, TEM_ERR_ARGUMENT, "a job and its counts belong together");
    if (page->balance != NULL && (page->job == NULL || page->job->ledger == NULL))
        return core_fail(error, TEM_ERR_ARGUMENT, "a job without a ledger has no balance");
    return hand_out(&out, page_write(findings, page, &out, error), html, bytes, error);
}
