/* private_text.h - a corpus after a mechanism, and what an attacker makes of it. */
#ifndef EVAL_PRIVATE_TEXT_H
#define EVAL_PRIVATE_TEXT_H

#include "corpus.h"
#include "pool.h"

/* Every word replaced by a draw from the seeded generator, a stream for each document, the first
 * of which is `first_stream`: NOT private, and the same for any number of threads. */
tem_status private_text_draw(const tem_mechanism *mechanism, const corpus *c, uint64_t seed,
                             uint64_t first_stream, pool *threads, const tem_run *run, corpus *out,
                             tem_error *error);

/* The share of words that are the same in both. */
double private_text_kept(const corpus *original, const corpus *private);

/* The share of words of the second pair that an attacker guesses right who knows the first pair:
 * for an output, the word that it came from most often there (equal ones: the first; an output that
 * did not occur there: itself). An estimate, from below, of what the best attacker achieves on this
 * text. Fails with TEM_ERR_MEMORY. */
tem_status private_text_guessed(const corpus *known, const corpus *known_private,
                                const corpus *original, const corpus *private, uint32_t words,
                                double *share, tem_error *error);

#endif
