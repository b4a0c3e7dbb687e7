/* report.h - the report of a run: what was done, with which settings, and what it cost.
 *
 * report_fill is the only place that decides what a report says. The command and the Python package
 * get it as JSON (tem_report_json); a ledger writes the same values as a charge (run_fields.h). */
#ifndef JOB_REPORT_H
#define JOB_REPORT_H

#include "core/buffer.h"
#include "ledger/run_fields.h"
#include "mech/tem_mechanism.h"

/* The values point into the rest of the struct: it must not be copied. */
typedef struct report {
    run_value values[RUN_FIELDS];
    tem_mechanism_info info;
    tem_model_info model;
    char time[32];
} report;

/* Fills in all fields but those of the ledger, which are null. The exact numbers stay 0. */
void report_fill(report *r, const tem_mechanism *mechanism, const tem_job *job,
                 const tem_counts *counts);

/* The fields of the ledger. */
void report_fill_ledger(report *r, const tem_job *job, const tem_balance *balance);

/* Appends the report as a JSON object of several lines, LF at its end. The fields of the ledger
 * are there only if it has one. TEM_ERR_MEMORY. */
tem_status report_write(const report *r, const tem_mechanism *mechanism, core_buffer *out,
                        tem_error *error);

/* A number as printf's %.17g writes it in any locale, as JSON has it: with a point, or an exponent,
 * so that readers do not take it for an integer. `plain` has room for REPORT_NUMBER_BYTES, which is
 * enough for every double. */
enum { REPORT_NUMBER_BYTES = 48 };
void report_number(const char *printed, char plain[REPORT_NUMBER_BYTES]);

#endif
