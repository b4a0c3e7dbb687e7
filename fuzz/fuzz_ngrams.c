/* fuzz_ngrams.c - any bytes as a file of n-grams: ARPA or packed.
 *
 * If tem reads the file, the probabilities after each history must add up to 1, and mixtures,
 * pruned models and language models of it must be possible, too. */
#include "six_words.h"
#include "target.h"

#include "language/ngram_listed.h"
#include "tem_language.h"

#include <math.h>
#include <string.h>

enum { SYMBOLS = SIX_WORDS + 2 };

static uint32_t symbol(uint32_t i) {
    return i < SIX_WORDS ? i : i == SIX_WORDS ? TEM_NO_WORD : TEM_NGRAM_END;
}

/* A row whose listed words leave hardly anything may miss 1 by a little (ngram_listed.c). */
static void check_sums(const tem_ngram *g) {
    static const double off_most = 1e-6;
    for (uint32_t h = 0; h < SYMBOLS * SYMBOLS; h++)
        for (size_t count = 0; count < 3; count++) {
            const uint32_t history[] = {symbol(h / SYMBOLS), symbol(h % SYMBOLS)};
            double sum = 0;
            for (uint32_t w = 0; w < SYMBOLS; w++) {
                const double p = tem_ngram_probability(g, history + 2 - count, count, symbol(w));
                if (!(p > -off_most && p < 1 + off_most))
                    abort();
                sum += p;
            }
            if (!(fabs(sum - 1) < off_most))
                abort();
        }
}

static void use(const tem_ngram *g) {
    const tem_ngram *const both[] = {g, g};
    const double shares[] = {1, 2};
    const tem_language_options options = {.temper = 0.5, .lift = 3};
    tem_ngram *mixed = NULL, *pruned = NULL;
    tem_language *language = NULL, *tempered = NULL;
    check_sums(g);
    if (tem_ngram_mix(both, shares, 2, NULL, &mixed, NULL) != TEM_OK ||
        tem_ngram_prune(g, 1e-3, NULL, &pruned, NULL) != TEM_OK ||
        tem_language_make(g, NULL, NULL, &language, NULL) != TEM_OK ||
        tem_language_make(mixed, &options, NULL, &tempered, NULL) != TEM_OK)
        abort();
    check_sums(mixed);
    check_sums(pruned);
    tem_language_free(tempered);
    tem_language_free(language);
    tem_ngram_free(pruned);
    tem_ngram_free(mixed);
}

/* A block of exactly the input's size, so that a read beyond it is detected. */
bool fuzz_input(const uint8_t *data, size_t size) {
    char *block = malloc(size == 0 ? 1 : size);
    ngram_listed listed;
    if (block == NULL)
        return false;
    if (size > 0)
        memcpy(block, data, size);
    file_view view = {.data = block, .size = size, .mapped = false};
    bool is_good = false;
    if (!ngram_is_weights(&view) &&
        ngram_listed_begin(&listed, six_words(), "input", NULL) == TEM_OK) {
        is_good = ngram_read_file(&view, NULL, &listed, NULL) == TEM_OK;
        if (is_good)
            use(listed.g);
        ngram_listed_free(&listed);
    }
    free(block);
    return is_good;
}
