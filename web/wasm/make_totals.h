/* make_totals.h - computes the table of log_totals.h, on the machine that builds. */
#ifndef WASM_MAKE_TOTALS_H
#define WASM_MAKE_TOTALS_H

#include "certificate/certificate.h"
#include "core/buffer.h"

/* Appends the zstd frame to `out`. Looks at all pairs of words; runs on all CPUs. Fails with
 * TEM_ERR_MEMORY. */
tem_status make_log_totals(const tem_model *model, const tem_certificate *certificates,
                           uint32_t count, core_buffer *out, tem_error *error);

#endif
