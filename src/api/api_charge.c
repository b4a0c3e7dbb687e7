/* api_charge.c - the ledger for texts that are in no file: the calls of tem.h. */
#include "core/status.h"
#include "job/charge.h"

tem_status tem_job_charge(const tem_mechanism *mechanism, const tem_job *job,
                          const tem_document *documents, size_t count, const tem_run *run,
                          tem_balance *balance, tem_error *error) {
    if (mechanism == NULL || job == NULL || job->ledger == NULL || (count > 0 && documents == NULL))
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a mechanism, a job with a ledger and its documents are needed");
    return charge_run(mechanism, job, documents, count, run, balance, error);
}

const char *tem_job_why_not_private(const tem_mechanism *mechanism, const tem_job *job) {
    return spending_why_not_private(mechanism, job);
}
