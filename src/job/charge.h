/* charge.h - the ledger for texts that are in no file. */
#ifndef JOB_CHARGE_H
#define JOB_CHARGE_H

#include "job/spending.h"

/* Whether each document names its person exactly if the job has people, and whether the counts add
 * up to what a ledger can hold. TEM_ERR_ARGUMENT, TEM_ERR_FORMAT, both with the number of the
 * document as `line`, from 1; TEM_ERR_RANGE. */
tem_status charge_check(const tem_job *job, const tem_document *documents, size_t count,
                        tem_error *error);

/* PRIVACY: charges for all documents at once, or for none. The charge is on the disk when this
 * returns TEM_OK; otherwise nothing may be released. */
tem_status charge_settle(spending *s, const tem_document *documents, size_t count,
                         tem_error *error);

/* tem_job_charge. balance may be NULL. */
tem_status charge_run(const tem_mechanism *mechanism, const tem_job *job,
                      const tem_document *documents, size_t count, const tem_run *run,
                      tem_balance *balance, tem_error *error);

#endif
