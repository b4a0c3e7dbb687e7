/* id_batch.h - draws for words that the caller has cut and looked up: documents of ids.
 *
 * tem cuts the ids into chunks of whole documents, and long documents into several where positions
 * are independent; each thread draws for one chunk after another. tem
 * hands out nothing before all words are drawn and, with a ledger, the charge for all of them is on
 * the disk. */
#ifndef JOB_ID_BATCH_H
#define JOB_ID_BATCH_H

#include "tem.h"

/* Implements tem_privatize_ids. counts and balance may be NULL. Sets *counts and *out on success
 * only, and *out never in a dry run. */
tem_status id_batch_run(const tem_mechanism *mechanism, const tem_job *job,
                        const tem_ids_input *documents, size_t count, const tem_run *run,
                        uint32_t *out, tem_counts *counts, tem_balance *balance, tem_error *error);

#endif
