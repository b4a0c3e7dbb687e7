/* api_charge.c - tem_job of tem.h: charging a ledger for texts in memory, and why a run is not
 * private. */
#include "core/reserved.h"
#include "core/status.h"
#include "job/charge.h"

static bool documents_are_for_newer(const tem_document *documents, size_t count, tem_error *error) {
    for (size_t i = 0; i < count; i++) {
        const tem_document *document = &documents[i];
        const tem_counts *counts = &document->counts;
        if (is_for_newer(document, error) || is_for_newer(counts, error))
            return true;
    }
    return false;
}

tem_status tem_job_charge(const tem_mechanism *mechanism, const tem_job *job,
                          const tem_document *documents, size_t count, const tem_run *run,
                          tem_balance *balance, tem_error *error) {
    if (job_is_for_newer(job, error) || is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (mechanism == NULL || job == NULL || job->ledger == NULL || (count > 0 && documents == NULL))
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a mechanism, a job with a ledger and its documents are needed");
    if (documents_are_for_newer(documents, count, error))
        return TEM_ERR_ARGUMENT;
    return charge_run(mechanism, job, documents, count, run, balance, error);
}

const char *tem_job_condition(const tem_job *job) {
    return job == NULL ? NULL : spending_condition(job);
}

const char *tem_job_why_not_private(const tem_mechanism *mechanism, const tem_job *job) {
    if (mechanism == NULL || job == NULL)
        return "nothing is known about the run; name its mechanism and its job";
    return spending_why_not_private(mechanism, job);
}
