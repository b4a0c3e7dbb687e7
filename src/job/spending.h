/* spending.h - what a run costs, and whether it may.
 *
 * PRIVACY: every document passes spending_take before it is written, and nothing is written
 * between spending_begin and spending_end, which puts the charge on the disk.
 *
 * Two ways. Inputs that can be read twice are counted first (spending_count), charged at once
 * (spending_settle), and the second reading only spends what was paid: should a file have grown
 * meanwhile, spending_take refuses. A pipe is charged batch by batch. */
#ifndef JOB_SPENDING_H
#define JOB_SPENDING_H

#include "ledger/ledger.h"
#include "mech/tem_mechanism.h"

typedef struct spending {
    bool active;  /* there is a ledger; else every call does nothing */
    bool limited; /* there is a budget */
    bool prepaid; /* spending_settle has charged for all */
    const tem_mechanism *mechanism;
    const tem_job *job;
    amount epsilon, budget;
    ledger ledger;
    core_buffer due;    /* uint32_t: accounts with words to be charged */
    tem_counts counts;  /* to be charged */
    uint64_t own_words; /* charged */
} spending;

/* A document, in memory, about to be paid for. */
typedef struct spending_document {
    size_t out_end;                     /* of its output, in the chunk's */
    tem_counts counts;                  /* `documents` is 0 for a null that is kept */
    unsigned char person[PERSON_BYTES]; /* zero without `by` */
} spending_document;

/* tem_job_why_not_private. */
const char *spending_why_not_private(const tem_mechanism *mechanism, const tem_job *job);

/* TEM_ERR_ARGUMENT or TEM_ERR_RANGE for what a job asks of its ledger and cannot have, and for a
 * policy for missing texts that there is not. */
tem_status spending_check(const tem_mechanism *mechanism, const tem_job *job, tem_error *error);

/* Opens the ledger. */
tem_status spending_open(spending *s, const tem_mechanism *mechanism, const tem_job *job,
                         const tem_run *run, tem_error *error);

/* TEM_ERR_ARGUMENT if the open ledger is also an input, and would be read as text, or the output,
 * and would be overwritten. */
tem_status spending_check_files(const spending *s, tem_error *error);

/* Closes. *balance, unless NULL, receives what the ledger says, if it was opened. */
void spending_close(spending *s, tem_balance *balance);

/* The person that a name stands for. Any thread. */
void spending_person(const spending *s, const char *name, size_t bytes,
                     unsigned char person[PERSON_BYTES]);

/* Counts a document, `record` being its number, from 1. TEM_ERR_MEMORY. */
tem_status spending_count(spending *s, const spending_document *d, uint64_t record,
                          tem_error *error);

/* Charges for all that was counted, or, in a dry run, tells whether that could be done.
 * TEM_ERR_BUDGET. */
tem_status spending_settle(spending *s, tem_error *error);

/* A batch: begin, take its documents in order up to the first that is refused, end. If begin
 * or end fails, nothing may be released; end must follow a begin that succeeded. */
tem_status spending_begin(spending *s, tem_error *error);
tem_status spending_take(spending *s, const spending_document *d, uint64_t record,
                         tem_error *error);
tem_status spending_end(spending *s, tem_error *error);

#endif
