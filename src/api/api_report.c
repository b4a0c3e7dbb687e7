/* api_report.c - tem_report_json of tem.h. */
#include "api/hand_out.h"
#include "core/reserved.h"
#include "core/status.h"
#include "job/report.h"

tem_status tem_report_json(const tem_mechanism *mechanism, const tem_job *job,
                           const tem_counts *counts, const tem_balance *balance,
                           const tem_fields *fields, char **text, size_t *bytes, tem_error *error) {
    if (job_is_for_newer(job, error) || is_for_newer(counts, error) || is_for_newer(balance, error))
        return TEM_ERR_ARGUMENT;
    report r;
    core_buffer out = {0};
    if (mechanism == NULL || job == NULL || counts == NULL || text == NULL || bytes == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a mechanism, a job, its counts and a place for the report are needed");
    if (balance != NULL && job->ledger == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a job without a ledger has no balance");
    report_fill(&r, mechanism, job, counts);
    if (balance != NULL)
        report_fill_ledger(&r, job, balance);
    const tem_status status = report_write(&r, mechanism, fields, &out, error);
    return hand_out(&out, status, text, bytes, error);
}
