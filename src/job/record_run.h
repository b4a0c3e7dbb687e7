/* record_run.h - how records pass through a run. tem cuts a batch of records into chunks, and one
 * thread replaces the records of each chunk. */
#ifndef JOB_RECORD_RUN_H
#define JOB_RECORD_RUN_H

#include "io/stream.h"
#include "job/record_input.h"
#include "job/spending.h"
#include "job/workers.h"
#include "records/fields.h"
#include "records/records.h"

/* One record of a batch, without its line end. */
typedef struct record_view {
    const char *bytes;
    size_t size;
} record_view;

typedef struct record_chunk {
    const char *data;
    size_t first, count; /* its records among those of the run */
    uint64_t first_document;
    uint64_t first_in_file; /* of its file, among all documents */
    record_place place;     /* of its first record */
    core_buffer out;
    core_buffer documents;        /* with a ledger, spending_document: what each costs */
    tem_fields fields;            /* of its JSON objects; empty if nobody asks for them */
    bool found[RECORD_NAMES_MAX]; /* a record has this name of the reader */
    tem_counts counts;
    tem_status status;
    tem_error error;
} record_chunk;

/* The state of a run over records. It serves one reading of the inputs, or two if the first one
 * only counts. */
typedef struct record_run {
    tem_missing missing;
    record_reader reader;
    tem_fields *fields;           /* the caller's, or NULL */
    uint64_t looked;              /* records at whose values this reading has looked */
    bool found[RECORD_NAMES_MAX]; /* a record had this name of the reader */
    spending spending;
    bool counting;      /* this reading draws and writes nothing */
    bool first_decides; /* the first record must have every dropped field: record_fields.h */
    workers workers;
    core_buffer records;  /* record_view: those of the chunks; blank lines are none */
    record_chunk *chunks; /* of the current batch, or of its part */
    unsigned chunk_count, chunk_max;
    stream_output output;
    tem_counts counts;
    record_place place; /* of the next record */
    uint64_t documents; /* records put into chunks in this reading, over all inputs */
    const char *file;   /* of the last batch */
    uint64_t in_file;   /* the number of its first document */
} record_run;

/* Makes the workers and chunks. TEM_ERR_ARGUMENT for an invalid policy, TEM_ERR_MEMORY. Free with
 * record_run_free, also after a failure. */
tem_status record_run_init(record_run *r, const tem_mechanism *mechanism, const tem_job *job,
                           const tem_run *run, tem_error *error);
void record_run_free(record_run *r);

/* Call before each reading of all inputs. total: their size in bytes, 0 if it is not known. */
void record_run_begin(record_run *r, bool counting, uint64_t total);

/* Replaces a batch of whole records, pays for it, and writes it. If a document fails, writes the
 * documents before it and returns its failure.
 * PRIVACY: nothing is written before the charge for it is on the disk. */
tem_status record_batch_release(record_run *r, const char *data, size_t size, tem_error *error);

/* Writes bytes that are not private: a header, or records that were replaced. Writes nothing while
 * the run only counts. */
tem_status record_run_put(record_run *r, const char *bytes, size_t count, tem_error *error);

/* Return the number of records that were found last, and record i of them. */
size_t record_run_count(const record_run *r);
const record_view *record_run_at(const record_run *r, size_t i);

/* ---- one chunk ---- */

/* A core_task: replaces the records of the chunk `item`. If a document fails, the output of the
 * chunk is the whole documents before it; the status and error of the chunk say why it failed, and
 * where. */
void record_chunk_replace(void *run, uint64_t item, unsigned thread);

/* Pays for the documents of a chunk, in order; while the run counts, counts them instead. Cuts the
 * chunk off before the first document that cannot be paid for, as if it had failed there. */
void record_chunk_pay(record_run *r, record_chunk *c);

#endif
