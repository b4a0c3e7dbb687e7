/* words_option.h - the option --words FILE: words that a command is about. */
#ifndef CLI_WORDS_OPTION_H
#define CLI_WORDS_OPTION_H

#include "tem.h"

#include <stdbool.h>

/* Ids of words of a model in the order in which they were given, each once. */
typedef struct word_ids {
    uint32_t *ids;
    uint32_t count;
} word_ids;

/* Cuts a line and folds it as text is. *out receives the ids of its words, TEM_NO_WORD for those
 * that the model does not have. A line without words, such as punctuation, is one word, as it is.
 * Fails with TEM_ERR_FORMAT (not UTF-8), TEM_ERR_RANGE, TEM_ERR_MEMORY. Free with word_ids_free. */
tem_status words_of_line(const tem_model *model, const char *line, word_ids *out, tem_error *error);

/* Finds the words of a file (word_file.h) in the model. A line is cut and folded as text is, so it
 * may have several words. Words that the model does not have are left out; unless `quiet`, a note
 * on stderr counts them. No message contains a word: the file tells what the user thinks is
 * sensitive. Returns an exit status; prints what went wrong, also if no word is left. Free with
 * word_ids_free. */
int words_option_read(const char *path, const tem_model *model, bool quiet, word_ids *out);
void word_ids_free(word_ids *words);

/* Marks the words of a file in an array with one byte per word of the model: 1 for those of the
 * file, 0 for the others. Marks also the words of the model that fold to a marked one, which texts
 * do not have, but outputs may. Unless `quiet`, a note on stderr counts the lines with words that
 * the model does not have, which need no mark; the file may have no others. Returns an exit status;
 * prints what went wrong. The caller frees *marked. */
int words_option_mark(const char *path, const tem_model *model, bool quiet, unsigned char **marked);

#endif
