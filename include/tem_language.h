/* tem_language.h - public language models, for words drawn in context.
 *
 * A language model says how much each output weighs after the words that a document shows already.
 * A mechanism that draws with one keeps its guarantee (docs/PRIVACY.md): the weights depend on
 * nothing but public data and released words, and the same weights hold for every input. So they
 * need not be right: a language model decides how well the output reads, and how well it hides
 * words that the context expects.
 *
 * It is made of PUBLIC text: whoever has the file learns which words that text has, and in which
 * order. The rules at the top of tem.h hold here, too. */
#ifndef TEM_LANGUAGE_H
#define TEM_LANGUAGE_H

#include "tem_attack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a language model is made from probabilities. A field of 0 or NULL means the default. */
typedef struct tem_language_options {
    const char *name;     /* for reports: up to 63 bytes, without control characters; default "" */
    const char *origin;   /* which public text it was made of; default "" */
    const char *license;  /* under which terms; default "" */
    double temper;        /* all logarithms of probabilities are multiplied by it: above 0, up to 4;
                           * default 1. Below 1 the output is less fluent, and likely words are
                           * lifted less */
    double lift;          /* what an n-gram gives a word is cut to `lift` times the probability of
                           * the word without context: 1 or more; default: not cut. It bounds how
                           * much the context can make a word stay */
    uint64_t reserved[4]; /* must be 0 */
} tem_language_options;

/* Makes a language model from an n-gram model; it is for all models with the same words, of which
 * the same are excluded. You trust what you have made.
 * Its weights are integers: see docs/FORMAT.md. Converting is not exact, and need not be.
 *   language   receives the object; free with tem_language_free. It needs neither the n-gram model
 *              nor its tem_model later
 * Fails with TEM_ERR_ARGUMENT (also: texts with control characters, temper or lift out of range),
 * TEM_ERR_RANGE (2^32 n-grams of an order or more), TEM_ERR_MEMORY, TEM_ERR_CANCELLED. Cost: some
 * 100 ns per n-gram. */
TEM_API tem_status tem_language_make(const tem_ngram *ngram, const tem_language_options *options,
                                     const tem_run *run, tem_language **language, tem_error *error);

/* Maps a file NAME.temlm for reading. tem does not trust it: the call checks its numbers, and that
 * it is for the words of this model; each table is checked when it is first used. Nobody may change
 * the file in place while it is open; replacing it, as tem_language_save does, is safe.
 * Fails with TEM_ERR_FILE, TEM_ERR_FORMAT (not a language model), TEM_ERR_VERSION, TEM_ERR_DAMAGED,
 * TEM_ERR_UNSUPPORTED (made for other words), TEM_ERR_MEMORY. Cost: about 2 ms for 34,000 words. */
TEM_API tem_status tem_language_open(const tem_model *model, const char *path,
                                     tem_language **language, tem_error *error);

/* Writes the file: under a temporary name, then renamed. Fails as tem_model_save does. */
TEM_API tem_status tem_language_save(const tem_language *language, const char *path,
                                     tem_overwrite overwrite, const tem_run *run, tem_error *error);
TEM_API void tem_language_free(tem_language *language);

/* Compares all bytes with their hashes, and all tables with what mechanisms rely on. After success
 * the language model is trusted in this process. Fails with TEM_ERR_DAMAGED, TEM_ERR_CANCELLED.
 * Cost: about 40 ms for 3 million n-grams. */
TEM_API tem_status tem_language_verify(tem_language *language, const tem_run *run,
                                       tem_error *error);

/* Mechanisms take a language model only if it is trusted, as with models (tem.h): it was made or
 * verified by this process, tem_language_trust has found its hash in the user's list or the caller
 * has named its hash, or the caller has said that it came with the program.
 *   hash   64 digits, or NULL: the user's list must have it (tem_trust_has)
 * Fails with TEM_ERR_UNTRUSTED, TEM_ERR_ARGUMENT. */
TEM_API int tem_language_is_trusted(const tem_language *language);
TEM_API tem_status tem_language_trust(tem_language *language, const char *hash, tem_error *error);
TEM_API void tem_language_trust_own(tem_language *language);

/* Finds the language model of general English that comes with tem, english.temlm: beside the model
 * that is used; else in each of `folders`, and then in its ../share/tem, as tem_model_find_default
 * does. It is for the words of the default model: for others tem_language_open fails with
 * TEM_ERR_UNSUPPORTED.
 *   model_path      the file of the model, or NULL
 *   model_is_own    what tem_model_find_default says; 0 if the user names the model
 *   folders         `count` directories, such as that of the program
 *   path, path_bytes   receives the name, NUL-terminated
 *   is_own          receives 1 if the file came with the program: tem_language_trust_own. Else
 *                   somebody must have vouched for it: tem_language_trust
 * Fails with TEM_ERR_FILE (no such file), TEM_ERR_RANGE (the name is too long) or
 * TEM_ERR_ARGUMENT. */
TEM_API tem_status tem_language_find_english(const char *model_path, int model_is_own,
                                             const char *const *folders, size_t count, char *path,
                                             size_t path_bytes, int *is_own, tem_error *error);

typedef struct tem_language_info {
    char name[64];
    char hash[65];        /* of the content, in hex: what tem_trust_add notes */
    uint32_t order;       /* how many words an n-gram has at most: 1 to 3 */
    uint32_t words;       /* outputs */
    uint32_t bigrams;     /* pairs of words with a weight of their own */
    uint32_t histories;   /* pairs of words after which words have weights of their own */
    uint32_t trigrams;    /* those weights */
    uint64_t bytes;       /* of the file */
    double temper, lift;  /* as it was made; lift 0: not cut */
    uint64_t reserved[8]; /* 0 */
} tem_language_info;

/* Fills *info. All 0 for a language model that is not made of n-grams. */
TEM_API void tem_language_get_info(const tem_language *language, tem_language_info *info);

/* The texts of tem_language_options; "" if there are none. They live as long as the language
 * model. */
TEM_API const char *tem_language_origin(const tem_language *language);
TEM_API const char *tem_language_license(const tem_language *language);

/* How well a language model fits a public text: what the text would gain by one. */
typedef struct tem_language_evaluation {
    uint64_t documents;   /* lines with words */
    uint64_t words;       /* words of the text, unknown ones included */
    uint64_t unknown;     /* words that the model does not have, or excludes */
    double perplexity;    /* per known word: exp of the mean of -ln P(word | past), P by the weights
                            * alone. A uniform draw has the number of outputs */
    double without;       /* the same without context */
    uint64_t reserved[4]; /* 0 */
} tem_language_evaluation;

/* Computes the perplexity of a PUBLIC text, plain or gzip, one document per line; "-" is standard
 * input. `model` must be one that the language model is for. Fails with TEM_ERR_UNSUPPORTED,
 * TEM_ERR_FILE, TEM_ERR_FORMAT (not UTF-8; no known word), TEM_ERR_DAMAGED, TEM_ERR_MEMORY,
 * TEM_ERR_CANCELLED. Cost: about 1 us per word. */
TEM_API tem_status tem_language_evaluate(const tem_language *language, const tem_model *model,
                                         const char *path, const tem_run *run,
                                         tem_language_evaluation *evaluation, tem_error *error);

#ifdef __cplusplus
}
#endif
#endif
