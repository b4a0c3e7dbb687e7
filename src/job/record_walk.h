/* record_walk.h - goes through the records of one file, for code that reads released text. */
#ifndef JOB_RECORD_WALK_H
#define JOB_RECORD_WALK_H

#include "command/tem_command.h"

/* Implements tem_records_read. */
tem_status record_walk(const tem_records *records, tem_record_fn *take, void *context,
                       const tem_run *run, tem_error *error);

#endif
