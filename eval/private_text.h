/* private_text.h - privatizes a corpus, and measures what an attacker can guess from it. */
#ifndef EVAL_PRIVATE_TEXT_H
#define EVAL_PRIVATE_TEXT_H

#include "corpus.h"
#include "ranges.h"

/* Replaces every word by a draw from the seeded generator. Each document has its own stream; the
 * first is `first_stream`. NOT private. The result is the same for any number of threads. */
tem_status private_text_draw(const tem_mechanism *mechanism, const corpus *c, uint64_t seed,
                             uint64_t first_stream, core_team *team, const tem_run *run,
                             corpus *out, tem_error *error);

/* The share of words that are the same in both corpora. */
double private_text_kept(const corpus *original, const corpus *private);

/* The share of words of the second pair that an attacker who knows the first pair guesses right.
 * For each output, the attacker guesses the word that most often led to it in the first pair (on a
 * tie, the first word; for an output that did not occur there, the output itself). This is an
 * estimate, from below, of the success of the best attacker on this text. Fails with
 * TEM_ERR_MEMORY. */
tem_status private_text_guessed(const corpus *known, const corpus *known_private,
                                const corpus *original, const corpus *private, uint32_t words,
                                double *share, tem_error *error);

#endif
