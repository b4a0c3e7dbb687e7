/* guess.h - the words behind an output, as an attacker sees them who knows the mechanism and how
 * often words are used.
 *
 * The prior is Zipf's law: the word of rank r has a share proportional to 1/r, as in `tem choose`.
 * For the output y the probability of the input w is proportional to f_w K(w, y) / Z(w)
 * (mech/law_form.h).
 * Z comes from a table (log_totals.h). Where the table cannot tell which of several words is the
 * best guess, their Z is computed exactly. So the guess is exact; its probability has a relative
 * error below 2 %. */
#ifndef WASM_GUESS_H
#define WASM_GUESS_H

#include "log_totals.h"
#include "mech/model_mechanism.h"

typedef struct guesser {
    const tem_mechanism *mechanism;
    double *gains;  /* g_w = ln f_w - ln Z(w) */
    bool *exact;    /* whether Z(w) was computed */
    double *values; /* of the last output: g_w + ln K(w, y) */
    double *row;    /* scratch */
    double *logs;   /* of the last output: ln K(w, y) */
} guesser;

/* Makes the guesser of a mechanism. certificate: the number of its certificate, or -1. Fails with
 * TEM_ERR_UNSUPPORTED if gamma is smaller than that of the default beta (the table does not serve
 * it), TEM_ERR_MEMORY. Free with guesser_free. */
tem_status guesser_make(const tem_mechanism *mechanism, const log_totals *table,
                        int32_t certificate, guesser *out, tem_error *error);
void guesser_free(guesser *g);

typedef struct guessed_word {
    uint32_t id;
    double probability;
} guessed_word;

/* Sets out[0] to out[top - 1] to the likeliest words behind the output y, the best guess first; of
 * equally good guesses, the word with the lowest id. top: 1 to the number of words. y must be an
 * output: TEM_ERR_ARGUMENT if not. */
tem_status guesser_top(guesser *g, uint32_t y, uint32_t top, guessed_word *out, tem_error *error);

#endif
