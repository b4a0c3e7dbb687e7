/* attack_masks.h - questions for a language model of the user's, and its answers.
 *
 * tem has no neural language model. It writes, for each released word, the released words around
 * it and the words that may be behind it with their likelihoods; a program of the user ranks them
 * by context, and tem counts how many of its guesses are right. */
#ifndef CLI_ATTACK_MASKS_H
#define CLI_ATTACK_MASKS_H

#include "attack_text.h"

typedef struct mask_export {
    const char *path;
    bool force;
    uint32_t candidates;
    bool with_originals; /* also write the original words, under a key of their own */
} mask_export;

/* Writes one JSON object per released word and line: document, position, released, text,
 * candidates, likelihoods, posteriors and, if asked for, original. Only the owner can read a file
 * with original words. Returns an exit status; prints what went wrong. */
int masks_write(const mask_export *how, const tem_model *model, const tem_attack *attack,
                const attack_text *text, const tem_run *run);

/* Reads guesses, one JSON object per line with document, position and guess. Others of its keys do
 * not matter. A position without a line has no guess. guesses: one per word of the text. */
int masks_read_guesses(const char *path, const tem_model *model, const attack_text *text,
                       uint32_t *guesses);

#endif
