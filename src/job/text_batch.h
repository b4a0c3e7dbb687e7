/* text_batch.h - a batch of texts in memory, for a batch of private ones.
 *
 * The texts are cut into groups, which threads replace one after the other. Only when all are drawn
 * and, with a ledger, the charge for all is on the disk, is anything handed out. */
#ifndef JOB_TEXT_BATCH_H
#define JOB_TEXT_BATCH_H

#include "tem.h"

/* tem_privatize_texts. counts and balance may be NULL. *out and *counts are set on success only. */
tem_status text_batch_run(const tem_mechanism *mechanism, const tem_job *job,
                          const tem_text_input *texts, size_t count, const tem_run *run,
                          tem_texts **out, tem_counts *counts, tem_balance *balance,
                          tem_error *error);

/* tem_texts_at, tem_texts_free. bytes may be NULL. */
const char *text_batch_at(const tem_texts *texts, size_t i, size_t *bytes);
void text_batch_free(tem_texts *texts);

#endif
