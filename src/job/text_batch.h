/* text_batch.h - privatizes a batch of texts in memory.
 *
 * tem cuts the texts into groups; each thread replaces one group after another. tem hands out
 * nothing before all texts are drawn and, with a ledger, the charge for all of them is on the
 * disk. */
#ifndef JOB_TEXT_BATCH_H
#define JOB_TEXT_BATCH_H

#include "tem.h"

/* Implements tem_privatize_texts. counts and balance may be NULL. Sets *counts on success only, and
 * *out on success only and never in a dry run. */
tem_status text_batch_run(const tem_mechanism *mechanism, const tem_job *job,
                          const tem_text_input *texts, size_t count, const tem_run *run,
                          tem_texts **out, tem_counts *counts, tem_balance *balance,
                          tem_error *error);

/* Implement tem_texts_at and tem_texts_free. bytes may be NULL. */
const char *text_batch_at(const tem_texts *texts, size_t i, size_t *bytes);
void text_batch_free(tem_texts *texts);

#endif
