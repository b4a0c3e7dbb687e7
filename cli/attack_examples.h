/* attack_examples.h - how a program that tem does not have released a public text. */
#ifndef CLI_ATTACK_EXAMPLES_H
#define CLI_ATTACK_EXAMPLES_H

#include "attack_text.h"

/* Pairs of a word and what the program gave out for it. */
typedef struct attack_examples {
    attack_text text; /* `words` and `originals` are the pairs, in whole documents */
    uint64_t pairs;   /* of the first numbers of `words` and `originals` */
    uint64_t unknown; /* pairs of a word that the model does not have */
    uint64_t outside; /* words given out that the model does not have: left out of the pairs */
} attack_examples;

/* Reads both texts, which have the same records, and in each as many words.
 *   original, output   the paths; format and field are those of `records`
 * Returns an exit status; prints what went wrong. Free with attack_examples_free, also after a
 * failure. */
int attack_examples_read(const tem_records *records, const char *original, const char *output,
                         const law *l, const tem_run *run, attack_examples *out);
void attack_examples_free(attack_examples *e);

#endif
