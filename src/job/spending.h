/* spending.h - the cost of a run, and whether the budget allows it.
 *
 * PRIVACY: with a ledger, every document passes spending_take before it is written. Nothing is
 * written between spending_begin and spending_end. spending_end puts the charge on the disk, unless
 * spending_settle has done so before. Likewise, texts in memory are handed out only after
 * spending_settle has charged for them (charge.h).
 *
 * There are two ways to charge for inputs. A run that can read its inputs twice counts them first
 * (spending_count) and charges for them at once (spending_settle). Its second reading only spends
 * what was paid: if a file has grown meanwhile, spending_take refuses. A run that reads a pipe
 * charges batch by batch. */
#ifndef JOB_SPENDING_H
#define JOB_SPENDING_H

#include "ledger/ledger.h"
#include "mech/model_mechanism.h"

typedef struct spending {
    bool active;  /* there is an open ledger; else every call does nothing */
    bool prepaid; /* spending_settle has charged for everything */
    const tem_mechanism *mechanism;
    const tem_job *job;
    amount each[COST_KINDS];   /* the costs of a word */
    amount budget[COST_KINDS]; /* of what is limited */
    bool limited[COST_KINDS];  /* there is a budget */
    ledger ledger;
    core_buffer due;    /* uint32_t: indices of accounts with words to charge */
    tem_counts counts;  /* not charged yet */
    uint64_t own_words; /* charged by this run */
} spending;

/* A document that was replaced or counted, and is to be paid for. */
typedef struct spending_document {
    size_t out_end;                     /* where its output ends in the output of its chunk */
    tem_counts counts;                  /* `documents` is 0 for a null that is kept */
    unsigned char person[PERSON_BYTES]; /* zeros without `by` */
} spending_document;

/* Implements tem_job_why_not_private. */
const char *spending_why_not_private(const tem_mechanism *mechanism, const tem_job *job);

/* Implements tem_job_condition. */
const char *spending_condition(const tem_job *job);

/* Writes the unit of what a run spends: that of its mechanism, and between which texts it holds. */
enum { SPENDING_UNIT_BYTES = 64 };
void spending_unit(const tem_job *job, const tem_mechanism_info *info,
                   char unit[SPENDING_UNIT_BYTES]);

/* Checks the options of a job that are about its ledger, and its policy for missing texts.
 * TEM_ERR_ARGUMENT or TEM_ERR_RANGE if one of them is not valid for this job. */
tem_status spending_check(const tem_mechanism *mechanism, const tem_job *job, tem_error *error);

/* Opens the ledger of the job, if it has one. Fails as ledger_open does. Close with
 * spending_close, also after a failure. */
tem_status spending_open(spending *s, const tem_mechanism *mechanism, const tem_job *job,
                         const tem_run *run, tem_error *error);

/* TEM_ERR_ARGUMENT if the open ledger is also an input (tem would read it as text) or the output
 * (tem would overwrite it). */
tem_status spending_check_files(const spending *s, tem_error *error);

/* Closes the ledger. If it was open, *balance, unless NULL, receives what it says. */
void spending_close(spending *s, tem_balance *balance);

/* person receives the bytes by which the ledger knows the person with this name. Any thread. */
void spending_person(const spending *s, const char *name, size_t bytes,
                     unsigned char person[PERSON_BYTES]);

/* Counts a document, for which spending_settle then charges. record: its number, from 1.
 * TEM_ERR_MEMORY. */
tem_status spending_count(spending *s, const spending_document *d, uint64_t record,
                          tem_error *error);

/* Charges for everything that was counted. A dry run only checks whether it could be charged.
 * TEM_ERR_BUDGET, and the failures of ledger_lock and ledger_add. */
tem_status spending_settle(spending *s, tem_error *error);

/* Pay for a batch: call begin, take its documents in order up to the first that is refused, call
 * end. If begin or end fails, the caller must release nothing. After a begin that succeeded, it
 * must call end. */
tem_status spending_begin(spending *s, tem_error *error);
tem_status spending_take(spending *s, const spending_document *d, uint64_t record,
                         tem_error *error);
tem_status spending_end(spending *s, tem_error *error);

#endif
