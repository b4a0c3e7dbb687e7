/* word_sets.h - the sets of words whose shares 'tem estimate' estimates. */
#ifndef CLI_WORD_SETS_H
#define CLI_WORD_SETS_H

#include "released.h"

typedef struct word_sets {
    char **names;
    uint32_t count;
    double *members; /* a row per input of the channel, `count` numbers to a row: 1 or 0 */
} word_sets;

/* Each makes sets, and returns an exit status after printing what went wrong. Free with
 * word_sets_free.
 *
 * A lexicon has lines of a category, a tab and a word; a set is a category. --words has one word
 * per line; a set is a word. Both files are read as word_file.h says. tem cuts and folds the words
 * as it does text, and leaves out those that the model does not have: a note counts them. It
 * refuses a line of a lexicon with several words, or with one that it cuts into several. */
int word_sets_read_lexicon(const char *path, const tem_model *model, bool quiet, word_sets *out);
int word_sets_read_words(const char *path, const tem_model *model, bool quiet, word_sets *out);

/* Chooses the 20 words whose estimated share is most above the share to compare with: the expected
 * one or, if there are several groups, the one in all groups together. The score of a word is
 * share * ln(share / compared), the largest over the groups; the shares come from ten steps of
 * tem_channel_deconvolve. */
int word_sets_choose(const tem_channel *channel, const law *l, const released *r,
                     const tem_run *run, word_sets *out);

void word_sets_free(word_sets *s);

#endif
