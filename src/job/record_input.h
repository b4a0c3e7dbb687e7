/* record_input.h - reads the inputs of a run as one stream of batches of whole records.
 *
 * The batches have no byte order marks and no headers. record_input_next leaves out the marks. It
 * writes the header of the first TSV or CSV file to the output; all other files must have the same
 * header. */
#ifndef JOB_RECORD_INPUT_H
#define JOB_RECORD_INPUT_H

#include "job/record_run.h"

typedef struct record_input {
    const tem_job *job;
    const tem_run *run;
    record_run *records; /* has the readers, and file and line for errors */
    size_t next;         /* index of the input to open next */
    stream_input in;
    bool is_open;
    bool begins, header_due; /* of the open input: nothing was read yet; no header was found yet */
    size_t whole;            /* bytes of whole records in the batch that was handed out */
    core_buffer header;      /* of the first input, without its line end */
    bool header_known;
} record_input;

/* Starts before the first input. End with record_input_end. */
void record_input_begin(record_input *i, const tem_job *job, const tem_run *run,
                        record_run *records);
void record_input_end(record_input *i);

/* Reads the next batch. *data is valid until the next call; *size is 0 if there is no more batch.
 * TEM_ERR_FILE, TEM_ERR_FORMAT (a header is missing, is not valid, lacks the field or has it twice,
 * or differs from the first), TEM_ERR_RANGE (a record is larger than 2 GiB), TEM_ERR_MEMORY,
 * TEM_ERR_CANCELLED. */
tem_status record_input_next(record_input *i, const char **data, size_t *size, tem_error *error);

#endif
