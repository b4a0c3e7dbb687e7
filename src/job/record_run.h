/* record_run.h - records on their way through a run: a batch of them is cut into chunks, and each
 * chunk is replaced by one thread. */
#ifndef JOB_RECORD_RUN_H
#define JOB_RECORD_RUN_H

#include "io/stream.h"
#include "job/spending.h"
#include "job/workers.h"
#include "records/records.h"

typedef struct record_chunk {
    const char *data;
    size_t size;
    uint64_t first_document, first_line;
    core_buffer out;
    core_buffer documents; /* spending_document, with a ledger: what is to be paid */
    tem_counts counts;
    tem_status status;
    tem_error error;
} record_chunk;

enum { RECORD_BATCH_BYTES = 4 << 20 }; /* read at a time, unless one record is larger */

/* One reading of the inputs: what becomes of their records. */
typedef struct record_run {
    tem_missing missing;
    record_reader reader, person_reader; /* the latter without a field: nobody is named */
    spending spending;
    bool counting; /* nothing is drawn or written */
    workers workers;
    record_chunk *chunks; /* of the batch at hand */
    unsigned chunk_count, chunk_max;
    stream_output output;
    tem_counts counts;
    const char *path;   /* of the input being read, for errors */
    uint64_t documents; /* records handed to chunks so far, over all inputs */
    uint64_t line;      /* of the next record in this input, from 1 */
} record_run;

/* Makes the threads and chunks. Free with record_run_free, also after a failure. */
tem_status record_run_init(record_run *r, const tem_mechanism *mechanism, const tem_job *job,
                           const tem_run *run, tem_error *error);
void record_run_free(record_run *r);

/* Before a reading of all inputs. total: their bytes, or 0. */
void record_run_begin(record_run *r, bool counting, uint64_t total);

/* Replaces a batch of whole records, pays for it, and writes it: the documents up to the first that
 * failed.
 * PRIVACY: nothing is written before the charge for it is on the disk. */
tem_status record_batch_release(record_run *r, const char *data, size_t size, tem_error *error);

/* Writes bytes that are not private, such as a header, unless nothing is written. */
tem_status record_run_put(record_run *r, const char *bytes, size_t count, tem_error *error);

/* ---- a chunk, by itself ---- */

/* A core_task: replaces the records of a chunk. The output is that of whole documents, up to the
 * first that failed; the chunk's status and error tell why, and where. */
void record_chunk_replace(void *run, uint64_t item, unsigned thread);

/* Pays for the documents of a chunk, in order; cuts the chunk off before the first that cannot be
 * paid, as if it had failed there. */
void record_chunk_pay(record_run *r, record_chunk *c);

uint64_t record_count_lines(const char *data, size_t size);

/* The place of an error, for the user. */
void record_set_place(tem_error *error, const char *path, uint64_t line);

#endif
