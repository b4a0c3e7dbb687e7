/* context_exposure.h - how often words stay themselves at the places of a public text.
 *
 * In context a word has no N_w: whether it stays depends on the words before. So this draws a
 * public text, and computes P(w | w, past) at some of its content positions, exactly but for
 * rounding. */
#ifndef AUDIT_CONTEXT_EXPOSURE_H
#define AUDIT_CONTEXT_EXPOSURE_H

#include "mech/model_mechanism.h"
#include "tem_account.h"

enum {
    EXPOSURE_DOCUMENT_WORDS =
        100,          /* later words of a document do not count, which bounds the time */
    EXPOSURE_SEED = 1 /* of the draws: document i draws from the stream i */
};

/* As tem_context_exposure_measure; the caller has checked the arguments but for the file. */
tem_status context_exposure(const tem_mechanism *m, const char *path, uint32_t positions,
                            const tem_run *run, tem_context_exposure *exposure,
                            tem_exposed_place *most, uint32_t max, uint32_t *count,
                            tem_error *error);

#endif
