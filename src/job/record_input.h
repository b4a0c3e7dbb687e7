/* record_input.h - reads files as one stream of batches of whole records, for every command that
 * reads records.
 *
 * The batches have no byte order marks and no headers. Files of TSV or CSV must all have the header
 * of the first one. Only one batch is in memory. */
#ifndef JOB_RECORD_INPUT_H
#define JOB_RECORD_INPUT_H

#include "io/stream.h"
#include "job/source_watch.h"
#include "records/records.h"

enum { RECORD_BATCH_BYTES = 4 << 20 }; /* bytes read at a time, unless a record is larger */

/* Where a record is, for errors. */
typedef struct record_place {
    const char *path; /* of the input */
    uint64_t line;    /* of the next record, from 1 */
} record_place;

/* Sets file and line of an error, for the user, and clears its byte. */
void record_place_error(const record_place *place, tem_error *error);

/* Moves a place past some bytes. */
void record_place_pass(record_place *place, const char *data, size_t size);

/* What is read, and for whom. */
typedef struct record_source {
    const char *const *paths; /* "-" is standard input, which is the default */
    size_t count;
    record_reader *reader; /* the header sets its columns */
    record_place *place; /* set when an input is opened, and moved past its header; whoever takes a
                            * batch moves it past the records */
    const tem_run *run;
    void *context; /* of these two functions */

    /* Asks whether to go on, before each wait. bytes: read since the last question. */
    tem_status (*ask)(void *context, uint64_t bytes, tem_error *error);

    /* Takes the header of the first input, without its line end; NULL: nobody wants it. */
    tem_status (*header)(void *context, const char *header, size_t size, tem_error *error);

    source_watch *watch; /* sees the content of all inputs; NULL: nobody looks */
} record_source;

typedef struct record_input {
    record_source from;
    size_t next; /* index of the input to open next */
    stream_input in;
    bool is_open;
    bool begins, header_due; /* of the open input: nothing was read yet; no header was found yet */
    size_t whole;            /* bytes of whole records in the batch that was handed out */
    uint64_t untold;         /* bytes read since the last question */
    core_buffer header;      /* of the first input, without its line end */
    bool header_known;
} record_input;

/* Starts before the first input. End with record_input_end. */
void record_input_begin(record_input *i, const record_source *from);
void record_input_end(record_input *i);

/* Reads the next batch. *data is valid until the next call; *size is 0 if there is no more batch.
 * TEM_ERR_FILE, TEM_ERR_FORMAT (a header is missing, is not valid, lacks the field or has it twice,
 * or differs from the first; an input is UTF-16), TEM_ERR_RANGE (a record is larger than 2 GiB),
 * TEM_ERR_MEMORY, TEM_ERR_CANCELLED, or as the functions of the source fail. */
tem_status record_input_next(record_input *i, const char **data, size_t *size, tem_error *error);

#endif
