/* tem_language.h - public language models, for words drawn in context.
 *
 * A language model says how much each output weighs after the words that a document shows already.
 * A mechanism that draws with one keeps its guarantee (docs/PRIVACY.md): the weights depend on
 * nothing but public data and released words, and the same weights hold for every input. So they
 * need not be right: a language model decides how well the output reads, and how well it hides
 * words that the context expects.
 *
 * It is made of PUBLIC text: whoever has the file learns which words that text has, and in which
 * order. The file keeps the hash of each text that tem has read to make it, and of its lines:
 * tem_privatize_files refuses such a text as an input, and counts find documents that are such
 * lines (tem_counts). The rules at the top of tem.h hold here, too. */
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
    char hash[65];         /* of the content, in hex: what tem_trust_add notes */
    uint32_t order;        /* how many words an n-gram has at most: 1 to 3 */
    uint32_t words;        /* outputs */
    uint32_t bigrams;      /* pairs of words with a weight of their own */
    uint32_t histories;    /* pairs of words after which words have weights of their own */
    uint32_t trigrams;     /* those weights */
    uint64_t bytes;        /* of the file */
    double temper, lift;   /* as it was made; lift 0: not cut */
    uint32_t sources;      /* texts whose hash the file keeps: those that tem has read to make it */
    uint32_t source_lines; /* hashes of their lines, of 5 known words or more: a sample of many */
    uint64_t reserved[7];  /* 0 */
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

/* ---- a language model of your own ---- */

/* What a document shows before the word that is to be drawn. */
typedef struct tem_past {
    const uint32_t *words; /* the last ones, in order: ids of outputs, or a TEM_PAST_... */
    size_t count;          /* past_words of them; all, if the document shows fewer */
    uint64_t before;       /* how many came before these */
    uint64_t reserved[2];  /* 0 */
} tem_past;

/* What the output shows and nobody drew. No id is as large. */
#define TEM_PAST_KEPT_WORD (TEM_NO_WORD - 1)   /* an unknown word, as it was */
#define TEM_PAST_MASK (TEM_NO_WORD - 2)        /* <unk> in the place of an unknown word */
#define TEM_PAST_PUNCTUATION (TEM_NO_WORD - 3) /* as it was */
#define TEM_PAST_LINE_END (TEM_NO_WORD - 4)    /* between two lines of a field */

/* Your functions (tem_language_functions). All of them receive its `context`, and `document`: what
 * your tem_language_begin_fn has made. Those that return an int return 0, or anything else to fail:
 * then the call that draws fails with TEM_ERR_CANCELLED, and releases nothing of the document.
 *
 * The guarantee is that of the mechanism, whatever the weights are, if your functions use nothing
 * but public data and the past that they receive: never an original word, and never another
 * document.
 *
 * Threads: one thread draws a document from its first word to its last, and other threads draw
 * other documents at the same time. Functions that do not allow that need calls with one thread
 * (tem_run), which is the caller's. */

/* Begins and ends a document. *document is NULL before. The end follows each begin that did not
 * fail, whatever failed later. */
typedef int tem_language_begin_fn(void *context, void **document);
typedef void tem_language_end_fn(void *context, void *document);

/* Sets values[y] to what each word y of the model weighs; all are 0 before. tem asks once for each
 * word that it draws, and draws by exactly these numbers, so they need not be the same when it asks
 * again. Where a weight is 0, no input word has that output. tem takes excluded words as 0, and
 * computes the sum: the call that draws fails with TEM_ERR_RANGE if it is 0, or 2^63 or more.
 * Memory: 8 bytes for each word of the model and thread. */
typedef int tem_language_weights_fn(void *context, void *document, const tem_past *past,
                                    uint64_t *values);

/* For a language model that never has all its weights in one place. tem_language_look_fn sets
 * *total to the sum of the weights of all words after this past, from 1 to 2^63 - 1; tem asks once
 * for each word that it draws. Then tem_language_weight_fn returns what a word weighs, and
 * tem_language_draw_fn draws a word: each word y with probability weight(y) / total, by
 * tem_rng_below alone. tem asks for the weight of a word at most once after each look, and for
 * draws as often as it likes.
 * tem cannot check that the three agree. If they disagree, even by a rounding, no bound holds: so
 * reports say that the output is not private, and why, and no budget pays for it. Memory: 12 bytes
 * for each word of the model and thread. */
typedef int tem_language_look_fn(void *context, void *document, const tem_past *past,
                                 uint64_t *total);
typedef uint64_t tem_language_weight_fn(void *context, void *document, uint32_t word);
typedef uint32_t tem_language_draw_fn(void *context, void *document, tem_rng *rng);

/* What a language model of your own is. A field of 0 or NULL means the default. */
typedef struct tem_language_functions {
    const char *name;  /* for reports: up to 63 bytes, without control characters; default "" */
    void *context;     /* for the functions; it must live as long as the language model */
    size_t past_words; /* they see at most so many words of the past: up to 65,536, the default */
    tem_language_begin_fn *begin; /* NULL: there is nothing to do */
    tem_language_end_fn *end;     /* the same */
    tem_language_weights_fn *weights;
    tem_language_look_fn *look; /* these three instead of `weights` */
    tem_language_weight_fn *weight;
    tem_language_draw_fn *draw;
    uint64_t reserved[4]; /* must be 0 */
} tem_language_functions;

/* Makes a language model of functions, which are copied, for all models with the same words, of
 * which the same are excluded. It has no file and no hash, and tem trusts it: it is yours.
 * Fails with TEM_ERR_ARGUMENT (both ways to give weights, or none; past_words above 65,536; a name
 * that is none), TEM_ERR_MEMORY. Cost: one byte for each word of the model. */
TEM_API tem_status tem_language_wrap(const tem_model *model,
                                     const tem_language_functions *functions,
                                     tem_language **language, tem_error *error);

#ifdef __cplusplus
}
#endif
#endif
