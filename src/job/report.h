/* report.h - the report of a run: what it did, with which settings, and what it cost.
 *
 * report_fill is the only place that decides what a report says. The command and the Python package
 * get the report as JSON (tem_report_json); a ledger writes the same values as a charge
 * (run_fields.h). */
#ifndef JOB_REPORT_H
#define JOB_REPORT_H

#include "core/buffer.h"
#include "job/spending.h"
#include "ledger/run_fields.h"
#include "mech/model_mechanism.h"

/* Do not copy this struct: its values point into it. */
typedef struct report {
    run_value values[RUN_FIELDS];
    tem_mechanism_info info;
    tem_model_info model;
    char time[32];
    char language[64]; /* for a ledger: the name of the language model */
    char unit[SPENDING_UNIT_BYTES];
    char keeps[TEM_SIGNALS_MAX * (TEM_SIGNAL_NAME_MAX + 2) + 1]; /* "valence, rating" */
} report;

/* Fills in all fields except three kinds, which become null: those of the ledger, RUN_EFFECTS,
 * which report_write takes from the certificate, and RUN_COLUMNS, which it takes from the list of
 * fields. The exact numbers stay 0. */
void report_fill(report *r, const tem_mechanism *mechanism, const tem_job *job,
                 const tem_counts *counts);

/* Fills in the fields of the ledger. */
void report_fill_ledger(report *r, const tem_job *job, const tem_balance *balance);

/* Appends the report to out, as a JSON object of several lines with LF at its end. Leaves the
 * fields of the ledger out if the run has no ledger. columns: the fields of the records, or NULL.
 * TEM_ERR_MEMORY. */
tem_status report_write(const report *r, const tem_mechanism *mechanism, const tem_fields *columns,
                        core_buffer *out, tem_error *error);

/* Converts a number to JSON. printed: the number as printf's %.17g writes it, in any locale. plain
 * receives it with a decimal point or an exponent, so that readers do not take it for an integer;
 * REPORT_NUMBER_BYTES are enough for every double. */
enum { REPORT_NUMBER_BYTES = 48 };
void report_number(const char *printed, char plain[REPORT_NUMBER_BYTES]);

#endif
