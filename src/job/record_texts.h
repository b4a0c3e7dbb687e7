/* record_texts.h - hands out the texts of the records of one file, for code that reads released
 * text. It releases nothing. */
#ifndef JOB_RECORD_TEXTS_H
#define JOB_RECORD_TEXTS_H

#include "command/tem_command.h"

/* Implements tem_records_read. */
tem_status record_texts_read(const tem_records *records, tem_record_fn *take, void *context,
                             const tem_run *run, tem_error *error);

#endif
