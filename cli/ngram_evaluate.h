/* ngram_evaluate.h - tem ngram --evaluate: how well language models fit a public text. */
#ifndef CLI_NGRAM_EVALUATE_H
#define CLI_NGRAM_EVALUATE_H

#include "tem.h"

#include <stdbool.h>
#include <stddef.h>

/* operands: a text, then language models ("english" if there are none). Returns an exit status. */
int ngram_evaluate(const tem_model *model, const char *const *operands, size_t count, bool json,
                   const tem_run *run);

#endif
