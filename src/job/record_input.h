/* record_input.h - the inputs of a run, as one stream of batches of whole records.
 *
 * Byte order marks and headers are taken out here: of the first TSV or CSV the header is written,
 * the others must have the same. */
#ifndef JOB_RECORD_INPUT_H
#define JOB_RECORD_INPUT_H

#include "job/record_run.h"

typedef struct record_input {
    const tem_job *job;
    const tem_run *run;
    record_run *records; /* which has the readers, and the place that errors tell */
    size_t next;         /* input to be opened */
    stream_input in;
    bool is_open;
    bool begins, header_due; /* of the open input: nothing was read; its header was not found */
    size_t whole;            /* bytes of whole records, handed out */
    core_buffer header;      /* of the first input, without its line end */
    bool header_known;
} record_input;

/* Begins with the first input. */
void record_input_begin(record_input *i, const tem_job *job, const tem_run *run,
                        record_run *records);
void record_input_end(record_input *i);

/* The next batch, which is there until the next call; *size 0: there is none. TEM_ERR_FILE,
 * TEM_ERR_FORMAT (a header that is missing, or another), TEM_ERR_RANGE, TEM_ERR_MEMORY,
 * TEM_ERR_CANCELLED. */
tem_status record_input_next(record_input *i, const char **data, size_t *size, tem_error *error);

#endif
