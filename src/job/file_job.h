/* file_job.h - a run over files or a stream.
 *
 * A run reads a batch of whole records, cuts it into chunks, lets the threads replace the chunks
 * (record_run.h), pays for them if there is a ledger (spending.h), writes the results in order,
 * and starts again. Reading and writing wait for the threads: simpler than a pipeline, and memory
 * stays at one batch. A dry run, and the first reading of files that a ledger pays for, go the same
 * way and draw and write nothing. */
#ifndef JOB_FILE_JOB_H
#define JOB_FILE_JOB_H

#include "tem.h"

/* tem_privatize_files. counts and balance may be NULL. */
tem_status file_job_run(const tem_mechanism *mechanism, const tem_job *options, const tem_run *run,
                        tem_counts *counts, tem_balance *balance, tem_error *error);

#endif
