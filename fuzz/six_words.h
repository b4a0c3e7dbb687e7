/* six_words.h - the model of the targets about language models: six words, those of
 * tests/data/cli/glove.txt, so that tem makes the corpora (fuzz/make-languages). */
#ifndef FUZZ_SIX_WORDS_H
#define FUZZ_SIX_WORDS_H

#include "tem.h"

#include <stdlib.h>

enum { SIX_WORDS = 6 };

/* Made once, and never freed. */
static inline const tem_model *six_words(void) {
    static tem_model *model;
    static const char *const words[SIX_WORDS] = {"the", "movie",     "film",
                                                 "was", "wonderful", "great"};
    static const float values[SIX_WORDS] = {1, 2, 4, 7, 11, 16};
    const tem_build_options options = {
        .metric = TEM_EUCLIDEAN, .neighbours = 3, .allow_coarse = 1, .space = TEM_SPACE_RAW};
    tem_vectors *vectors = NULL;
    if (model != NULL)
        return model;
    if (tem_vectors_create(words, values, SIX_WORDS, 1, &vectors, NULL) != TEM_OK ||
        tem_model_build(vectors, &options, NULL, &model, NULL) != TEM_OK)
        abort();
    tem_vectors_free(vectors);
    return model;
}

#endif
