/* vector_file.h - writes the vectors of the words of a model to a file. */
#ifndef CLI_VECTOR_FILE_H
#define CLI_VECTOR_FILE_H

#include "tem.h"

#include <stdbool.h>

/* Vectors to write. Their numbers are written as floats. */
typedef struct word_vectors {
    const tem_model *model;
    uint32_t words, columns;
    const double *numbers; /* a row per word of the model */
    const bool *left_out;  /* per word: a .vec file does not have it; NULL: none */
} word_vectors;

/* Checks, before the work, that vectors can be written to `path`: it ends in .vec or .npy, and
 * outputs_check agrees, for FILE.npy also about FILE.words. Returns an exit status; prints why
 * not. */
int vector_file_check(const char *command, const char *path, bool force);

/* Writes the vectors; each file appears when it is complete.
 *   FILE.vec    word2vec text: the number of words and of columns, then a line per word, with 9
 *               digits per number. A word with a blank in it would break the format, and is left
 *               out; a note counts these words
 *   FILE.npy    a matrix of NumPy, float32, a row per word of the model in its order; the words
 *               themselves go to FILE.words, one per line
 * Returns an exit status; prints what went wrong. */
int vector_file_write(const char *path, bool force, const word_vectors *vectors, const tem_run *run,
                      bool quiet);

#endif
