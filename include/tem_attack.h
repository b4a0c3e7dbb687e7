/* tem_attack.h - attacks on released text: the fifth public header of libtem.
 *
 * An attacker knows the model, the mechanism and public text, sees released text, and guesses the
 * original words. These calls are such attackers. They read no private text and change no released
 * byte. The rules at the top of tem.h hold here, too; docs/ATTACKS.md says what the numbers mean.
 *
 * A measured attack is a lower bound on what attackers can do. Only epsilon is a bound for all of
 * them. These functions compute in double precision. The draw never uses their results. */
#ifndef TEM_ATTACK_H
#define TEM_ATTACK_H

#include "tem_learn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------- n-gram models -- */

/* Which word comes after which: probabilities of a word alone (order 1), after the one word before
 * it (order 2) or after the two words before it (order 3), for the words of a tem_model. All
 * unknown words are one word, TEM_NO_WORD. Every document begins with a begin and ends with an end,
 * so no history crosses documents. After each history the probabilities of the words of the model,
 * of the unknown word and of the end add up to 1, and all but those of damaged or foreign files are
 * above 0. */
typedef struct tem_ngram tem_ngram;

#define TEM_NGRAM_ORDER_DEFAULT 3u
#define TEM_NGRAM_WORDS_MAX 2097148u /* words of the model: three ids fit into 64 bits */
#define TEM_NGRAM_END                                                                              \
    (UINT32_MAX - 1u) /* as a word: the end of a document; in a history: the
                                         * begin */

/* Counts n-grams of PUBLIC texts and smooths them: interpolated Kneser-Ney, with one discount
 * D = n1 / (n1 + 2 n2) per order, where n1 and n2 are the numbers of n-grams of this order with the
 * count 1 and 2 (D is 1/2 if there is none with the count 1). Lower orders count how many words
 * come before an n-gram, not how often it occurs; n-grams that begin a document count as often as
 * they occur. The last step mixes with the uniform distribution.
 *   paths     `count` texts, at least 1, plain or gzip, one document per line; "-" is standard
 *             input. tem cuts them into words as tem_privatize_text does. A line without words is
 *             no document
 *   order     1 (words without context) to 3; 0: TEM_NGRAM_ORDER_DEFAULT
 *   ngram     receives the object, which needs the model as long as it lives; free with
 *             tem_ngram_free
 * Fails with TEM_ERR_ARGUMENT, TEM_ERR_FILE, TEM_ERR_FORMAT (not UTF-8; no known word),
 * TEM_ERR_UNSUPPORTED (more than TEM_NGRAM_WORDS_MAX words), TEM_ERR_MEMORY, TEM_ERR_CANCELLED.
 * Cost: for 20,000 reviews of 230 words some seconds and 300 MB. */
TEM_API tem_status tem_ngram_train(const tem_model *model, const char *const *paths, size_t count,
                                   uint32_t order, const tem_run *run, tem_ngram **ngram,
                                   tem_error *error);

/* Reads an n-gram model: packed n-grams (NAME.temng, docs/FORMAT.md), or ARPA format, plain or
 * gzip, of order 1 to 3, as tem_ngram_save and other programs write it; or a language model for the
 * same words (NAME.temlm, tem_language.h), whose probabilities are those of its weights, and which
 * nobody need trust for it. The words must be those of the model, letter by
 * letter. n-grams with a word that the model does not have are left out; the probability of such a
 * word alone goes to the unknown word. A word of the model that the file does not have gets an
 * equal part of the probability of the unknown word. tem computes the back-off weights anew, so
 * that the probabilities after each history add up to 1.
 * Fails with TEM_ERR_FILE, TEM_ERR_FORMAT with the line (not ARPA, cut short, counts that do not
 * match, a number above 0 as logarithm of a probability, a repeated n-gram, a trigram whose first
 * two words are no bigram, probabilities after a history that add up to more than 1; or no word is
 * in the model), TEM_ERR_UNSUPPORTED as tem_ngram_train, TEM_ERR_MEMORY, TEM_ERR_CANCELLED. */
TEM_API tem_status tem_ngram_load(const tem_model *model, const char *path, const tem_run *run,
                                  tem_ngram **ngram, tem_error *error);

/* Leaves out the n-grams of order 2 and 3 without which the perplexity rises by less than
 * `threshold` times itself, each seen alone (relative entropy: Stolcke 1998, SRILM's -prune); a
 * bigram that begins a trigram stays. 1e-8 leaves out few n-grams of a large text, 1e-7 most.
 *   pruned   receives the object, as tem_ngram_train's
 * Fails with TEM_ERR_ARGUMENT, TEM_ERR_MEMORY, TEM_ERR_CANCELLED. */
TEM_API tem_status tem_ngram_prune(const tem_ngram *ngram, double threshold, const tem_run *run,
                                   tem_ngram **pruned, tem_error *error);

/* Mixes n-gram models of the same model: P(w|h) = sum of share_i P_i(w|h), for all n-grams that one
 * of them lists; for others tem computes back-off weights, as for files. The order is the largest.
 *   shares   above 0; their sum need not be 1
 *   mixed    receives the object, as tem_ngram_train's
 * Fails with TEM_ERR_ARGUMENT, TEM_ERR_MEMORY, TEM_ERR_CANCELLED. */
TEM_API tem_status tem_ngram_mix(const tem_ngram *const *ngrams, const double *shares, size_t count,
                                 const tem_run *run, tem_ngram **mixed, tem_error *error);

/* Writes the n-grams in ARPA format, with seven digits after the point. Leaves out words that ARPA
 * cannot have: those with a blank, and <s>, </s> and <unk>. Fails as tem_model_save does. */
TEM_API tem_status tem_ngram_save(const tem_ngram *ngram, const char *path, tem_overwrite overwrite,
                                  const tem_run *run, tem_error *error);
TEM_API void tem_ngram_free(tem_ngram *ngram);

typedef struct tem_ngram_info {
    uint32_t order;       /* 1 to 3 */
    uint64_t bigrams;     /* that were seen, those with begin or end included */
    uint64_t trigrams;    /* the same; 0 for order 2 */
    uint64_t documents;   /* training: lines with words; else 0 */
    uint64_t words;       /* training: words, unknown ones included; else 0 */
    uint64_t unknown;     /* training: unknown words among them; else 0 */
    uint64_t outside;     /* a file: its words that the model does not have; else 0 */
    double discounts[3];  /* training: of orders 1 to 3; else 0 */
    uint64_t reserved[4]; /* 0 */
} tem_ngram_info;

/* Fills *info. Any thread. */
TEM_API void tem_ngram_get_info(const tem_ngram *ngram, tem_ngram_info *info);

/* The probability of a word after a history: `count` ids, the last word before it last. Of a longer
 * history than the order allows tem takes the end. Ids are those of the model, TEM_NO_WORD, or
 * TEM_NGRAM_END: the end as the word, the begin in the history. NaN for other ids and NULL. Any
 * thread. */
TEM_API double tem_ngram_probability(const tem_ngram *ngram, const uint32_t *history, size_t count,
                                     uint32_t word);

/* -------------------------------------------------------------- attacks -- */

/* How an attacker guesses the original word behind a released word. */
typedef enum tem_attacker {
    TEM_ATTACKER_ITSELF = 1,  /* the released word itself */
    TEM_ATTACKER_NEAREST = 2, /* the word that is nearest to the released word and not it */
    TEM_ATTACKER_WORD = 3,    /* the best guess from prior and law, without context: the w with the
                               * largest prior(w) P(y | w) */
    TEM_ATTACKER_BIGRAM = 4,  /* the w with the largest probability given all released words of the
                               * document, if its words follow an n-gram model of order 2. No list
                               * of candidates decides: all words of the model count */
    TEM_ATTACKER_TRIGRAM = 5  /* the same with order 3, for the `beam` likeliest words of each
                               * position by the attacker with order 2 */
} tem_attacker;

/* "itself", "nearest", "word", "bigram", "trigram"; "unknown" for other numbers. And the attacker
 * with a name: TEM_ERR_ARGUMENT for other names. Any thread. */
TEM_API const char *tem_attacker_name(tem_attacker attacker);
TEM_API tem_status tem_attacker_parse(const char *name, tem_attacker *attacker, tem_error *error);

#define TEM_BEAM_DEFAULT 64u
#define TEM_BEAM_MAX 1024u
#define TEM_ATTACK_PAIRS_DEFAULT 500000u

/* What an attacker knows. A field of 0 or NULL means the default; `expected` has none. */
typedef struct tem_attack_options {
    tem_expectation expected; /* of the original words, without context. If its share of unknown
                               * words is 0, no attacker thinks that a released word was drawn for
                               * an unknown one */
    const tem_ngram *ngram;   /* of the same model; needed for bigram and trigram; must live as long
                               * as the attack */
    uint32_t beam;            /* trigram: words per position, 1 to TEM_BEAM_MAX; default
                               * TEM_BEAM_DEFAULT */
    uint32_t pairs;           /* mechanisms without a law that tem can compute: drawn pairs to learn
                               * from; default TEM_ATTACK_PAIRS_DEFAULT */
    uint64_t reserved[4];     /* must be 0 */
} tem_attack_options;

typedef struct tem_attack tem_attack;

/* Prepares attacks on the output of a mechanism, which must live as long as the attack.
 * The attackers need the likelihood P(y | w) of all w for an output y. For TEM, EM and Diffractor
 * tem computes it. For another mechanism whose law tem can compute word by word it keeps the
 * probabilities above a cutoff of 2^-18 or, to save memory, up to 2^-10, and shares out the rest of
 * each law as g, the expected share of y among all outputs. For other mechanisms it draws pairs of
 * a word and its output, from a fixed seed, words by their expected shares, and learns from them as
 * tem_learned_create does (tem_compare.h). Such an attacker may be weaker than one who knows the
 * law.
 * Fails with TEM_ERR_ARGUMENT, TEM_ERR_UNSUPPORTED (no OpenBLAS; a mechanism with a language model,
 * whose words have no law of their own), TEM_ERR_MEMORY, TEM_ERR_CANCELLED. Cost: that of
 * tem_channel_create; or the laws of all words, three times; or the draws and a pass over all pairs
 * of words. */
TEM_API tem_status tem_attack_create(const tem_mechanism *mechanism,
                                     const tem_attack_options *options, const tem_run *run,
                                     tem_attack **attack, tem_error *error);

/* The same for the output of a program that tem does not have, which learns it from pairs of a word
 * and its output: released text whose original is known, such as a public text that the attacker
 * has run that program on.
 *   words     `count` ids, at least 1; TEM_NO_WORD: a word that the model does not have
 *   outputs   `count` ids, those of the words that the program gave out for them
 * Every word of the model counts as a possible output, also one that the model excludes. The
 * attack needs the model as long as it lives; options->pairs must be 0.
 * Fails with TEM_ERR_ARGUMENT (also: an id out of range), TEM_ERR_MEMORY, TEM_ERR_CANCELLED. Cost:
 * a pass over all pairs of words. */
TEM_API tem_status tem_attack_create_from_pairs(const tem_model *model, const uint32_t *words,
                                                const uint32_t *outputs, size_t count,
                                                const tem_attack_options *options,
                                                const tem_run *run, tem_attack **attack,
                                                tem_error *error);
TEM_API void tem_attack_free(tem_attack *attack);

/* Writes the expected shares of all words of the model and, as the last number, of the unknown
 * words; they add up to 1 (tem_channel_expect). Fails with TEM_ERR_ARGUMENT. */
TEM_API tem_status tem_attack_shares(const tem_attack *attack, double *shares, tem_error *error);

/* Words of documents, one document after the other. */
typedef struct tem_documents {
    const uint32_t *words; /* ids of the model; TEM_NO_WORD */
    const uint64_t *ends;  /* per document: the number of words up to its end, ascending */
    uint64_t count;        /* of documents */
    uint64_t reserved[4];  /* must be 0 */
} tem_documents;

/* Guesses the word behind each released word.
 *   released    the released words. TEM_NO_WORD: the position shows that the original was an
 *               unknown word, such as <unk>; the guess for it is TEM_NO_WORD
 *   guesses     receives an id per released word; TEM_NO_WORD also where there is no guess
 *   success     receives, per released word, how probable the attacker thinks it is that the guess
 *               is right (trigram: among the words of the beam, times the probability of these by
 *               order 2); NaN for itself and nearest; may be NULL
 * The result is the same for every number of threads.
 * Fails with TEM_ERR_ARGUMENT (also: no n-gram model, or one of order 2 for trigram),
 * TEM_ERR_FORMAT (a word that the mechanism never outputs), TEM_ERR_RANGE (trigram: a document of
 * more than 65,536 words), TEM_ERR_MEMORY, TEM_ERR_CANCELLED. Cost per released word: one distance
 * per word of the model; bigram: and four operations per seen bigram; trigram: and 2 beam^3
 * operations. Memory per thread: 2 kB per word of the model; trigram: also 8 beam^2 bytes per word
 * of a document. */
TEM_API tem_status tem_attack_guess(const tem_attack *attack, tem_attacker attacker,
                                    const tem_documents *released, const tem_run *run,
                                    uint32_t *guesses, double *success, tem_error *error);

/* The likeliest words behind a released word, without context, most probable first, for a language
 * model that ranks them by context.
 *   count         the number of words, 1 to the number of words of the model
 *   ids, likelihoods, posteriors
 *                 receive `count` ids, P(y | w), and the probabilities of w given y
 * Fails as tem_attack_guess does. */
TEM_API tem_status tem_attack_candidates(const tem_attack *attack, uint32_t released,
                                         uint32_t count, uint32_t *ids, double *likelihoods,
                                         double *posteriors, tem_error *error);

/* Wilson's interval for the probability behind `successes` of `trials`, with about 95 % confidence
 * if the trials are independent: 0 and 1 without trials. Fails with TEM_ERR_ARGUMENT (more
 * successes than trials). Any thread. */
TEM_API tem_status tem_wilson_interval(uint64_t successes, uint64_t trials, double *low,
                                       double *high, tem_error *error);

/* ------------------------------------------------------------- choosing -- */

/* A target for an attacker with context, measured on public documents. */
typedef struct tem_context_wish {
    double wanted;             /* the attacker recovers at most this share of the known words: above
                                * 0 and below 1 */
    double beta, gamma;        /* as in tem_mechanism_options: at most one of these */
    tem_attacker attacker;     /* 0: bigram */
    tem_attack_options attack; /* what the attacker knows */
    tem_documents documents;   /* PUBLIC text like the one to protect, and not that of the n-gram
                                * model: an attacker knows text that it was trained on by heart */
    uint64_t seed;             /* of the draws */
    uint64_t reserved[4];      /* must be 0 */
} tem_context_wish;

typedef struct tem_context_answer {
    double epsilon;       /* four digits */
    double s, gamma;      /* of the mechanism */
    uint64_t words;       /* known words of the documents */
    uint64_t recovered;   /* of these, with the draws of the seed */
    double share;         /* recovered / words */
    double low, high;     /* tem_wilson_interval */
    double word_share;    /* the same share for the attacker without context */
    uint64_t reserved[4]; /* 0 */
} tem_context_answer;

/* Finds, for the mechanism tem, an epsilon at which the attacker recovers at most the wanted share
 * of the words of the documents, and at which 1 % more recovers more, by bisection. Each step draws
 * outputs for the documents, from the same seed, and attacks them. This is a measurement on these
 * documents and draws, not a proof: the interval says how far the share may be off for other draws
 * and similar words.
 * Fails with TEM_ERR_ARGUMENT (also: no known word), TEM_ERR_RANGE (no epsilon from 2^-10 to 2^10
 * that the model allows keeps the target, or none breaks it), or as tem_attack_create and
 * tem_attack_guess do. Cost: some 10 to 20 attacks. */
TEM_API tem_status tem_attack_choose(const tem_model *model, const tem_context_wish *wish,
                                     const tem_run *run, tem_context_answer *answer,
                                     tem_error *error);

#ifdef __cplusplus
}
#endif
#endif
