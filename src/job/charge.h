/* charge.h - charges a ledger for texts in memory. */
#ifndef JOB_CHARGE_H
#define JOB_CHARGE_H

#include "job/spending.h"

/* Checks the documents before they are charged. Each document must name a person if the job has
 * `by`, and must not name one otherwise. The counts must add up to a sum that a ledger can hold.
 * TEM_ERR_ARGUMENT (a person without `by`) and TEM_ERR_FORMAT (no person), both with the number of
 * the document, from 1, as `line`; TEM_ERR_RANGE (the sum is too large). */
tem_status charge_check(const tem_job *job, const tem_document *documents, size_t count,
                        tem_error *error);

/* PRIVACY: charges for all documents at once, or for none. With a ledger, the charge is on the disk
 * when this returns TEM_OK; if it fails, the caller must release nothing. A dry run charges
 * nothing, and its caller must release nothing either. */
tem_status charge_settle(spending *s, const tem_document *documents, size_t count,
                         tem_error *error);

/* Implements tem_job_charge. balance may be NULL. */
tem_status charge_run(const tem_mechanism *mechanism, const tem_job *job,
                      const tem_document *documents, size_t count, const tem_run *run,
                      tem_balance *balance, tem_error *error);

#endif
