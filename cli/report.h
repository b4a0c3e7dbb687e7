/* report.h - what a run did, as JSON. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "tem.h"

/* Writes the report to the file `path`. Returns an exit status, after saying what went
 * wrong. There is no text in it, but counts that depend on
 * the text: it is for the owner of the text. balance: what the ledger says, if there is one. */
int report_write(const char *path, const tem_mechanism *mechanism, const tem_model *model,
                 const tem_job *job, const tem_counts *counts, const tem_balance *balance);

#endif
