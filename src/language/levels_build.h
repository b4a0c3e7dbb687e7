/* levels_build.h - makes the tables of levels.h from a back-off model. */
#ifndef LANGUAGE_LEVELS_BUILD_H
#define LANGUAGE_LEVELS_BUILD_H

#include "language/levels.h"
#include "language/ngram.h"

/* Weights need not be the probabilities of anything: what follows decides how the text reads and
 * how well a word hides that the context expects, and never the bound. */
typedef struct levels_settings {
    double temper; /* all logarithms are multiplied by it: above 0, usually at most 1 */
    double lift;   /* a listed probability counts as at most `lift` times that of the word without
                    * context; INFINITY: as it is */
} levels_settings;

/* Makes the tables of a back-off model; the words are those of g->model, which must stay. Fails
 * with TEM_ERR_MEMORY, TEM_ERR_RANGE (2^32 entries or more), TEM_ERR_CANCELLED. Free with
 * levels_free. */
tem_status levels_make(const tem_ngram *g, const levels_settings *settings, const tem_run *run,
                       levels *out, tem_error *error);

#endif
