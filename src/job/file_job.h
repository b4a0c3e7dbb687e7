/* file_job.h - runs a job over files or a stream.
 *
 * A run reads a batch of whole records and cuts it into chunks. The threads replace the chunks
 * (record_run.h). If there is a ledger, the run pays for them (spending.h). It writes the results
 * in order, and starts again. Reading and writing wait for the threads: this is simpler than a
 * pipeline, and memory stays at one batch. A dry run, and the first reading of files that a ledger
 * pays for, take the same path but draw and write nothing. */
#ifndef JOB_FILE_JOB_H
#define JOB_FILE_JOB_H

#include "tem.h"

/* Implements tem_privatize_files. counts, balance and fields may be NULL. */
tem_status file_job_run(const tem_mechanism *mechanism, const tem_job *options, const tem_run *run,
                        tem_counts *counts, tem_balance *balance, tem_fields *fields,
                        tem_error *error);

#endif
