/* tem_account.h - numbers that say how much an epsilon protects: the second public header of
 * libtem.
 *
 * tem.h draws words. This header computes what the draws disclose: the exact law of a word, the
 * realized loss of a mechanism, how often an attacker guesses right, the epsilon for a wanted
 * effect, and certificates for a larger exponent. A program that only privatizes texts does not
 * need it. The rules at the top of tem.h hold here, too. */
#ifndef TEM_ACCOUNT_H
#define TEM_ACCOUNT_H

#include "tem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------- the law -- */

/* The law of one word: the probabilities of all output words, computed, not estimated. */
typedef struct tem_law tem_law;

#define TEM_LAW_DIGITS_MAX 1000u

/* Computes the law of `word` (an id, or TEM_NO_WORD) under TEM or EM.
 *   digits   how many decimal digits are right, relative to each probability; 1 to
 *            TEM_LAW_DIGITS_MAX
 *   law      receives the law; free with tem_law_free
 * Fails with TEM_ERR_ARGUMENT, TEM_ERR_UNSUPPORTED (Madlib: no closed form), TEM_ERR_MEMORY. If
 * memory runs out inside MPFR, which computes the law, MPFR ends the program. Cost: microseconds
 * per word of the vocabulary. */
TEM_API tem_status tem_law_create(const tem_mechanism *mechanism, uint32_t word, unsigned digits,
                                  tem_law **law, tem_error *error);
TEM_API void tem_law_free(tem_law *law);

/* The law of `word` in context, for a mechanism with a language model: P(y | word, past).
 *   past     ids of the words that the document shows before, in their order
 *   count    how many; NULL and 0: the document begins
 * Else as tem_law_create. Fails with TEM_ERR_ARGUMENT also where the mechanism has no language
 * model, and as the language model does. */
TEM_API tem_status tem_law_create_after(const tem_mechanism *mechanism, const uint32_t *past,
                                        size_t count, uint32_t word, unsigned digits, tem_law **law,
                                        tem_error *error);

/* P(y | word), rounded to the nearest double; 0 for an id out of range. */
TEM_API double tem_law_probability(const tem_law *law, uint32_t y);

/* The same in decimal, as "1.2345e-06" with `digits` digits, rounded to nearest. Fails with
 * TEM_ERR_ARGUMENT: an id out of range, no digits or more than TEM_LAW_DIGITS_MAX, or a
 * buffer of fewer than digits + 32 bytes. */
TEM_API tem_status tem_law_decimal(const tem_law *law, uint32_t y, unsigned digits, char *buffer,
                                   size_t buffer_bytes, tem_error *error);

/* The same for two other numbers: the probability of all words except `ids` together, and the
 * effective support S_w. */
TEM_API tem_status tem_law_outside_decimal(const tem_law *law, const uint32_t *ids, size_t count,
                                           unsigned digits, char *buffer, size_t buffer_bytes,
                                           tem_error *error);
TEM_API tem_status tem_law_support_decimal(const tem_law *law, unsigned digits, char *buffer,
                                           size_t buffer_bytes, tem_error *error);

/* The distance of y from the word, not cut at gamma; for an unknown word it is gamma, or UINT32_MAX
 * where the law has none. UINT32_MAX for an id out of range. */
TEM_API tem_dist tem_law_distance(const tem_law *law, uint32_t y);

/* Finds the words that are nearest to the word of the law, ordered by (distance, id). For an
 * unknown word these are the first words of the model.
 *   ids     receives `count` ids; count is 1 to the number of words
 * Fails with TEM_ERR_ARGUMENT or TEM_ERR_MEMORY. Cost: one look at each word of the vocabulary. */
TEM_API tem_status tem_law_nearest(const tem_law *law, uint32_t *ids, uint32_t count,
                                   tem_error *error);

/* Entropy in nats, and the effective support S_w = exp(entropy). */
TEM_API double tem_law_entropy(const tem_law *law);
TEM_API double tem_law_support(const tem_law *law);

/* ----------------------------------------------------------- accounting -- */

/* These calls compute how much an epsilon really protects, and costs, on one vocabulary. Z(w) is
 * the sum by which the law of w is divided (tem_mechanism_create). The loss of a pair of words per
 * unit of distance is at most
 *     s + |ln Z(w) - ln Z(w')| / min(d(w,w'), gamma)  <=  2s,
 * and its maximum over all pairs, the realized loss, depends on public numbers only
 * (docs/PRIVACY.md). */

/* What is known about the distances of all pairs of words. One accountant serves every epsilon. */
typedef struct tem_accountant tem_accountant;

/* Looks at all pairs of words of a model, which must live as long as the accountant.
 *   weights   the output weights that mechanisms will have; copied; NULL: all equal
 * In a TEM_MATRIX it checks the triangles as tem_model_build_matrix does.
 * Fails with TEM_ERR_UNTRUSTED (a model that is not trusted), TEM_ERR_METRIC (a broken triangle),
 * TEM_ERR_ARGUMENT, TEM_ERR_RANGE (all weights are 0), TEM_ERR_MEMORY, TEM_ERR_CANCELLED. Cost:
 * n^2/2 distances; memory 4 kB per word. */
TEM_API tem_status tem_accountant_create(const tem_model *model, const uint32_t *weights,
                                         const tem_run *run, tem_accountant **accountant,
                                         tem_error *error);
TEM_API void tem_accountant_free(tem_accountant *accountant);

/* The proof needs distances that are a metric. A TEM_MATRIX of more than 400 words may not be a
 * metric, since tem does not check all of its triangles: nothing is proved for it. */
typedef struct tem_audit {
    int is_metric;             /* 1: the distances are known to be a metric; 0: see above */
    double realised;           /* proved: no pair of words loses more, per unit of distance */
    double realised_least;     /* proved: the worst pair loses at least this, if is_metric, and if
                                * all weights are above 0. Not proved for a model that excludes
                                * words: a pair with an excluded word may lose less */
    uint32_t worst_a, worst_b; /* that pair; TEM_NO_WORD if all words are the same point */
    tem_dist worst_distance;
    double local;            /* proved: no two inputs, in the vocabulary or not, can be told
                               * apart by more: s gamma + max ln Z - min ln Z, or 2 s gamma */
    uint64_t pairs_examined; /* these two add up to n (n - 1) / 2 */
    uint64_t pairs_pruned;   /* proved to lose less without a look at their distance */
    uint64_t reserved[4];    /* 0 */
} tem_audit;

/* Proves the realized loss of a mechanism, TEM or EM. The mechanism must have the model and the
 * weights of the accountant.
 * Fails with TEM_ERR_ARGUMENT (another model or other weights), TEM_ERR_UNSUPPORTED (Madlib),
 * TEM_ERR_MEMORY, TEM_ERR_CANCELLED, TEM_ERR_DAMAGED (a list of the model). */
TEM_API tem_status tem_accountant_audit(const tem_accountant *accountant,
                                        const tem_mechanism *mechanism, const tem_run *run,
                                        tem_audit *audit, tem_error *error);

#define TEM_LOSS_QUANTILES 3

/* Losses of pairs of words, in all: the largest |ln P(y|a) - ln P(y|b)| over the outputs y. */
typedef struct tem_losses {
    uint32_t pairs; /* how many were looked at */
    double mean;
    double quantiles[TEM_LOSS_QUANTILES]; /* 5, 50 and 95 percent */
    double low[TEM_LOSS_QUANTILES];  /* where the pairs are a random sample: intervals that have */
    double high[TEM_LOSS_QUANTILES]; /* each quantile of all pairs with 99 % confidence; elsewhere
                                      * the quantiles */
    double worst;
    uint32_t worst_a, worst_b; /* that pair; TEM_NO_WORD if there is none */
    uint64_t reserved[4];      /* 0 */
} tem_losses;

/* What a mechanism does whose Z is the same for all words, so that it protects them alike. */
typedef struct tem_form_audit {
    double bound;         /* proved: no two inputs, in the vocabulary or not, differ by more */
    double self;          /* N_w of every word that can be an output */
    double support;       /* S_w of every word of the vocabulary */
    tem_losses nearest;   /* each word and the word nearest to it by the model's distance; of more
                           * than 46,340 words n it looks at 2^31 / n, a random sample */
    tem_losses random;    /* 2,000 random pairs, the same for every audit */
    uint64_t reserved[4]; /* 0 */
} tem_form_audit;

/* Audits a mechanism with `has_form` whose Z is the same for all words: rank with equal weights, or
 * coin. The loss of each pair that it looks at is exact but for rounding, 2^-46 of a probability.
 * Fails with TEM_ERR_ARGUMENT, TEM_ERR_UNTRUSTED, TEM_ERR_UNSUPPORTED (another mechanism, weights
 * that differ, or a single word), TEM_ERR_MEMORY, TEM_ERR_CANCELLED, TEM_ERR_DAMAGED. */
TEM_API tem_status tem_form_audit_make(const tem_mechanism *mechanism, const tem_run *run,
                                       tem_form_audit *audit, tem_error *error);

#define TEM_PLACE_WORDS 6u
#define TEM_CONTEXT_PLACES_DEFAULT 2000u
#define TEM_CONTEXT_PLACES_MAX 1000000u

/* A place of a public text, and how often its word stays itself there. */
typedef struct tem_exposed_place {
    uint64_t line; /* of the text, and the word of that line; both counted from 1 */
    uint64_t position;
    uint32_t word;                      /* its id */
    uint32_t before;                    /* how many words the arrays have: those right before it */
    uint32_t original[TEM_PLACE_WORDS]; /* in the text; TEM_NO_WORD for unknown ones */
    uint32_t released[TEM_PLACE_WORDS]; /* as they were drawn; 0 without a language model */
    double stays;                       /* P(the word stays | the word, what was drawn before) */
    double share;         /* how often the language model alone writes the word there; 0 without */
    uint64_t reserved[4]; /* 0 */
} tem_exposed_place;

/* How often words stay themselves in context. A mean hides the words that the context expects: look
 * at `high` and `above_half`. */
typedef struct tem_context_exposure {
    uint64_t documents; /* lines of the text with words */
    uint64_t words;     /* of the text */
    uint64_t content;   /* content positions: words of the model that are no English function words,
                         * among the first 100 words of each document */
    uint32_t positions; /* so many of them were looked at */
    double mean, median;
    double high;          /* 95 % of them stay at most so often */
    double highest;       /* and all of them */
    double above_half;    /* the share of the positions whose word stays in more than half of the
                           * draws */
    uint64_t reserved[8]; /* 0 */
} tem_context_exposure;

/* Draws a PUBLIC text, one document per line, plain or gzip, and computes how often the word of a
 * place stays itself after what was drawn before it: each number is exact but for rounding, the
 * words before are one draw, the same for every call. Excluded words never stay: they count as 0.
 * Without a language model the numbers are N_w of the same words.
 *   path        the text; "-" is standard input
 *   positions   about how many content positions to look at: 0 means TEM_CONTEXT_PLACES_DEFAULT;
 *               at most TEM_CONTEXT_PLACES_MAX. They are those of documents at equal distances
 *   most        receives the places whose words stay most often, the most exposed first, one for
 *               each word; NULL if max is 0
 *   count       receives how many: `max`, or fewer if there are not so many; may be NULL
 * Fails with TEM_ERR_ARGUMENT, TEM_ERR_FILE, TEM_ERR_FORMAT (not UTF-8; no content word),
 * TEM_ERR_UNSUPPORTED (Madlib), TEM_ERR_MEMORY, TEM_ERR_CANCELLED, or as the language model does.
 * Cost: that of drawing at most 100 words of each chosen document, and one look at all outputs for
 * each place. */
TEM_API tem_status tem_context_exposure_measure(const tem_mechanism *mechanism, const char *path,
                                                uint32_t positions, const tem_run *run,
                                                tem_context_exposure *exposure,
                                                tem_exposed_place *most, uint32_t max,
                                                uint32_t *count, tem_error *error);

/* What the outputs of a mechanism disclose about which of two inputs it had, a or b. */
typedef struct tem_pair_loss {
    double loss;          /* the largest |ln P(y|a) - ln P(y|b)| over all outputs y, from the exact
                           * laws; INFINITY if only one of the two can become some output */
    uint32_t output;      /* a y where it is that large, the first one; TEM_NO_WORD if it is 0 */
    double probability_a; /* P(y|a) and P(y|b) of that y; NaN if there is none */
    double probability_b;
    double proved;   /* the theorem: the loss between a and b is at most this; INFINITY if the
                      * mechanism proves nothing */
    double distance; /* what epsilon is multiplied by for `proved`: min(d(a,b), gamma), where an
                      * unknown word is at gamma; for rank d_r(a,b). NaN if there is none */
    double bound;    /* proved: no two inputs, in the vocabulary or not, differ by more; INFINITY */
    uint64_t reserved[4]; /* 0 */
} tem_pair_loss;

/* Computes the loss between two inputs, ids or TEM_NO_WORD. Each may be any word of the model, an
 * excluded one, too. Fails as tem_law_create does: with TEM_ERR_UNSUPPORTED where the law cannot be
 * computed (Madlib) or is not one of the word alone (a language model). Cost: that of two laws. */
TEM_API tem_status tem_pair_loss_make(const tem_mechanism *mechanism, uint32_t a, uint32_t b,
                                      tem_pair_loss *loss, tem_error *error);

/* Computes the loss against the distance, for plots.
 *   count    the number of equal ranges of distance from 0 to gamma, at least 1
 *   losses   receives count + 1 numbers. losses[i] is the largest bound on the loss of the pairs in
 *            range i; 0 if there is no pair. losses[count] is that of all pairs beyond gamma
 * Looks at every pair and leaves none out. So the largest of these numbers is tem_audit's
 * `realised`, except that the audit may have refined that bound. Fails as tem_accountant_audit
 * does. */
TEM_API tem_status tem_accountant_losses(const tem_accountant *accountant,
                                         const tem_mechanism *mechanism, uint32_t count,
                                         const tem_run *run, double *losses, tem_error *error);

/* How often each word is expected in future texts. A prior is the same for every use and public.
 * Never count it in the text that you want to protect. */
typedef struct tem_prior tem_prior;

/* Makes a prior proportional to (rank of the word)^-power, where the rank is the word's place in
 * the model. The power is 0 or more; 1 is Zipf's law. Fails with TEM_ERR_ARGUMENT,
 * TEM_ERR_MEMORY. */
TEM_API tem_status tem_prior_create_zipf(const tem_model *model, double power, tem_prior **prior,
                                         tem_error *error);

/* Reads a prior from a file. If the first line has a tab, each line is a word, a tab and a count, a
 * whole number; there is no header. Otherwise the file is a text. tem finds the words of the text,
 * and those of the lines, as tem_privatize_text would; a word that occurs twice counts twice. tem
 * leaves out words that the model does not have.
 *   path     the file; "-" is standard input
 * Fails with TEM_ERR_FILE, TEM_ERR_FORMAT (with the line; or no word of the file is in the model),
 * TEM_ERR_MEMORY, TEM_ERR_CANCELLED. */
TEM_API tem_status tem_prior_load(const tem_model *model, const char *path, const tem_run *run,
                                  tem_prior **prior, tem_error *error);
TEM_API void tem_prior_free(tem_prior *prior);

/* The source of a prior. */
typedef struct tem_prior_info {
    int is_counts;        /* 1: a file of counts, 0: a text, or no file */
    double counted;       /* words of the file that the model has, or the sum of their counts */
    double unknown;       /* the same for words that the model does not have, which are left out */
    uint64_t reserved[4]; /* 0 */
} tem_prior_info;

TEM_API void tem_prior_get_info(const tem_prior *prior, tem_prior_info *info);

/* Effects of a mechanism on words that occur with the probabilities of a prior. "Median" and "mean"
 * are over these words. */
typedef struct tem_summary {
    double self_median; /* N_w, how often a word stays itself */
    double self_mean;
    double support_median;  /* S_w = exp(entropy): over how many words the output is spread */
    double entropy_mean;    /* in nats */
    double distance_mean;   /* of min(d(w, output), gamma) */
    double beyond_mean;     /* how often the output is farther away than gamma */
    double bayes;           /* how often the best guess of w from its output is right */
    double self_exposed;    /* the largest N_w of a word that a text can contain; in a tem_point as
                            * the wish says; NaN if there is no such word */
    double support_exposed; /* the same for the least S_w */
    uint64_t reserved[2];   /* 0 */
} tem_summary;

/* Computes the effects from the law, not by drawing. Each number is within 0.1 % of the truth
 * (beyond_mean: or within 10^-6). Beyond 2048 words tem does not look at far words one by one; it
 * tests on some of the words whether that is good enough, and looks at all if it is not.
 *   with_bayes   1: also compute `bayes`, which takes longer; 0: `bayes` is NaN
 * Fails as tem_accountant_audit does, and with TEM_ERR_ARGUMENT for a prior of another model. */
TEM_API tem_status tem_accountant_summarise(const tem_accountant *accountant,
                                            const tem_mechanism *mechanism, const tem_prior *prior,
                                            int with_bayes, const tem_run *run,
                                            tem_summary *summary, tem_error *error);

/* The effect by which to choose an epsilon. The number alone, such as 3, does not tell a user how
 * much it protects. */
typedef enum tem_target {
    TEM_TARGET_SELF = 1,    /* N_w is at most this: a probability */
    TEM_TARGET_SUPPORT = 2, /* S_w is at least this: a number above 1 */
    TEM_TARGET_BAYES = 3    /* bayes is at most this: a probability */
} tem_target;

/* How exposed one word is. */
typedef struct tem_exposure {
    uint32_t word;        /* its id */
    double self;          /* N_w */
    double support;       /* S_w */
    uint64_t reserved[2]; /* 0 */
} tem_exposure;

/* Finds the words that a mechanism protects least, the most exposed first. The call looks at all
 * words, and then computes N_w and S_w of those that it returns one output at a time.
 *   by           TEM_TARGET_SELF: the words with the largest N_w; TEM_TARGET_SUPPORT: those with
 *                the least S_w
 *   words        `word_count` ids among which to look; no ids: all words that a text can contain
 *                (tem_model_count_unreachable counts the others)
 *   most         receives *count words: `max`, or fewer if there are not so many
 * Fails with TEM_ERR_ARGUMENT (also: an id out of range, no place for words, another target), or as
 * tem_accountant_audit does. Cost: that of tem_accountant_summarise without `bayes`, and one
 * distance per word of the vocabulary for each word of `most`. */
TEM_API tem_status tem_accountant_exposed(const tem_accountant *accountant,
                                          const tem_mechanism *mechanism, tem_target by,
                                          const uint32_t *words, size_t word_count,
                                          const tem_run *run, tem_exposure *most, uint32_t max,
                                          uint32_t *count, tem_error *error);

/* --------------------------------------------------- making certificates -- */

/* State of a search for weights. Unknown numbers are NaN. */
typedef struct tem_search_state {
    const char *doing; /* "balancing", "flattening" or "tuning"; static string */
    uint32_t step, steps;
    double s;        /* the current s */
    double distance; /* expected distance under the prior, at the current weights */
    double loss;     /* realized loss there, not proved, when last computed */
    double best; /* the least distance with a loss of at most epsilon, not proved; or INFINITY */
} tem_search_state;

/* Callback after every step of a search, from the thread that made the call. If it returns
 * non-zero, all searching ends: tem proves the best result so far and returns it. */
typedef int tem_search_fn(void *context, const tem_search_state *state);

typedef struct tem_calibration {
    double epsilon; /* finite, above 0 */
    double beta;    /* as in tem_mechanism_options: at most one of these */
    double gamma;
    tem_weights_kind weights; /* 0: equal; for tem_certificate_find: the first that exists */
    const tem_prior *prior;   /* of this model. Tuned weights minimize the expected distance under
                               * it; for others it may be NULL, and then no effects are computed */
    const char *prior_name;   /* for the certificate, 1 to 63 bytes; needed if there is a prior */
    uint32_t steps;           /* tuned: steps of the search; 0: 100, or 24 beyond some 56,000 words.
                               * More steps find a smaller expected distance, which is not always
                               * better text (docs/TUNING.md) */
    tem_search_fn *told;      /* or NULL */
    void *told_context;
    uint64_t reserved[4]; /* must be 0 */
} tem_calibration;

/* Finds an s, and weights, for which tem can prove that the realized loss is at most epsilon. The
 * accountant's own weights must be equal. By kind of weights:
 *  - equal: the largest s that a bisection between epsilon/2 and epsilon finds, to 0.2 %;
 *  - balanced: if there are weights that make Z the same for all words, s is 0.999 of epsilon or
 *    more; else as large as flatter weights allow;
 *  - tuned: the least expected distance under the prior that a search finds; never worse than equal
 *    or balanced weights.
 * tem searches for weights in floating point, rounds them to integers, and then proves the loss.
 *   certificate   receives the certificate; free with tem_certificate_free
 *   audit         receives what was proved, as tem_accountant_audit reports it; may be NULL
 * Fails with TEM_ERR_RANGE as tem_mechanism_create does, TEM_ERR_ARGUMENT (tuned without a prior,
 * or with the prior of another model), TEM_ERR_UNSUPPORTED (the accountant's weights are not equal;
 * a matrix of more than 400 words), TEM_ERR_MEMORY, TEM_ERR_CANCELLED, TEM_ERR_DAMAGED.
 * Cost: seconds for 33,860 words, minutes with tuned weights. Memory for weights that are not
 * equal: 2 bytes for each pair of words, but at most 3 GB. Beyond 3 GB tem computes all
 * distances anew for every step: minutes per step for 341,479 words, and hours if distances are not
 * euclidean (docs/TUNING.md). */
TEM_API tem_status tem_accountant_calibrate(const tem_accountant *accountant,
                                            const tem_calibration *wanted, const tem_run *run,
                                            tem_certificate **certificate, tem_audit *audit,
                                            tem_error *error);

/* Recomputes what a certificate claims.
 *   accountant   of the certificate's model, with equal weights. For a certificate with other
 *                weights the call looks at all pairs once more
 * Fails with TEM_ERR_CERTIFICATE if the certificate does not hold, or as tem_accountant_audit
 * does. */
TEM_API tem_status tem_certificate_verify(const tem_certificate *certificate,
                                          const tem_accountant *accountant, const tem_run *run,
                                          tem_error *error);

/* Adds a certificate to a file (docs/FORMAT.md). By convention the file lies beside the model and
 * has the model's name with ".cert" added. The certificate replaces one for the same epsilon, beta
 * or gamma and weights. It also replaces all certificates for other models, which are of no use in
 * that file any more. tem makes the file if need be, and replaces it as a whole. Others who add to
 * it at the same time wait.
 *   run       this call asks its callback while it waits; NULL: no callback
 * Fails with TEM_ERR_FILE, TEM_ERR_FORMAT, TEM_ERR_VERSION, TEM_ERR_DAMAGED, TEM_ERR_MEMORY,
 * TEM_ERR_RANGE (the file has 4096 certificates already), TEM_ERR_CANCELLED. */
TEM_API tem_status tem_certificate_save(const tem_certificate *certificate, const char *path,
                                        const tem_run *run, tem_error *error);

/* Finds a certificate in a file.
 *   wanted        epsilon; beta or gamma (both 0: the default beta); the kind of weights (0:
 *                 balanced, else equal, else tuned, the first that the file has)
 *   certificate   receives the certificate; free with tem_certificate_free
 * Fails with TEM_ERR_CERTIFICATE if there is no such certificate for this model, or no file; the
 * message says whether there is one for another model. Also fails with TEM_ERR_RANGE (epsilon),
 * TEM_ERR_ARGUMENT, or as tem_certificate_load does. */
TEM_API tem_status tem_certificate_find(const char *path, const tem_model *model,
                                        const tem_calibration *wanted,
                                        tem_certificate **certificate, tem_error *error);

/* ------------------------------------------------------------- choosing -- */

/* Rounds x, positive and finite, to 1 to 15 significant digits: to the least such number that is
 * not below x, or to the largest that is not above x. So "at most x" or "at least x" stays
 * true. */
TEM_API double tem_round_up(double x, int digits);
TEM_API double tem_round_down(double x, int digits);

/* The name of a target: "self", "support" or "bayes"; "unknown" for an invalid value. And the
 * target of a name: TEM_ERR_ARGUMENT for other names. */
TEM_API const char *tem_target_name(tem_target target);
TEM_API tem_status tem_target_parse(const char *name, tem_target *target, tem_error *error);

/* Whose N_w or S_w a wish is about:
 *  - neither `words` nor `quantile`: the median word of a text under the prior;
 *  - `words`: every one of these words;
 *  - `quantile`: this share of the words that a text can contain;
 *  - both: this share of `words`. */
typedef struct tem_wish {
    tem_target target;
    double wanted; /* see tem_target; probabilities above 0 and below 1 */
    double beta;   /* as in tem_mechanism_options: at most one of these */
    double gamma;
    const tem_prior *prior; /* of this model */
    int calibrated;         /* 1: epsilon is the loss that is proved, with equal weights; 0:
                             * epsilon is that of the paper */
    const uint32_t *words;  /* `word_count` ids. They must be public, as the prior must be */
    uint64_t word_count;    /* 0: no words */
    double quantile;        /* above 0, at most 1; 0: not given. Not with TEM_TARGET_BAYES, and no
                             * words either */
    uint64_t reserved[1];   /* must be 0 */
} tem_wish;

/* The value in a summary that a wish is about; and whether it discloses no more than the wish
 * allows: 1 or 0. Any thread. */
TEM_API double tem_wish_value(const tem_wish *wish, const tem_summary *summary);
TEM_API int tem_wish_is_kept(const tem_wish *wish, const tem_summary *summary);

/* Effects of one epsilon. */
typedef struct tem_point {
    double epsilon;       /* with `calibrated`: the loss that is proved for this s, rounded up to
                           * four digits */
    double epsilon_paper; /* the epsilon that the paper needs for the same s */
    double s, gamma;
    tem_summary summary;
    uint64_t reserved[4]; /* 0 */
} tem_point;

/* Sets *options to those of a mechanism with the s and gamma of a point and with equal weights: the
 * mechanism whose effects the point has. */
TEM_API void tem_point_get_options(const tem_point *point, tem_mechanism_options *options);

/* Finds the largest epsilon of four digits, to 0.04 %, that discloses no more than the wish allows.
 * A larger epsilon means that words stay themselves or are guessed more often, and are spread over
 * fewer words; so a bisection finds it. With `calibrated` it is the epsilon of a certificate with
 * equal weights that keeps the wish; tem_accountant_calibrate makes the same certificate again.
 *   accountant   with equal weights
 *   answer       receives the epsilon and its effects
 * Fails with TEM_ERR_ARGUMENT (also: an impossible wish), TEM_ERR_RANGE (no epsilon keeps the
 * wish), or as tem_accountant_summarise and tem_accountant_calibrate do. Cost: some twenty to
 * thirty summaries. */
TEM_API tem_status tem_accountant_choose(const tem_accountant *accountant, const tem_wish *wish,
                                         const tem_run *run, tem_point *answer, tem_error *error);

/* Effects of one epsilon of a mechanism whose Z is the same for all words, so that it protects them
 * alike: rank with equal weights, or coin. */
typedef struct tem_form_point {
    double epsilon, s;
    double bound;   /* proved: no two inputs, in the vocabulary or not, differ by more */
    double self;    /* N_w of every word that can be an output */
    double support; /* S_w of every word of the vocabulary */
    double bayes;   /* how often the best guess of w from its output is right; NaN: no prior */
    uint64_t reserved[4]; /* 0 */
} tem_form_point;

/* Computes the effects of such a mechanism.
 *   prior   of the mechanism's model; NULL: no `bayes`
 * Fails with TEM_ERR_ARGUMENT (also: the prior of another model), TEM_ERR_UNSUPPORTED (another
 * mechanism, or weights that differ), TEM_ERR_MEMORY, TEM_ERR_CANCELLED, TEM_ERR_DAMAGED. Cost: one
 * law; with a prior some hundred laws. */
TEM_API tem_status tem_form_measure(const tem_mechanism *mechanism, const tem_prior *prior,
                                    const tem_run *run, tem_form_point *point, tem_error *error);

/* Does what tem_accountant_choose does for such a mechanism, without an accountant.
 *   options   of the mechanism, but for its epsilon, which is ignored
 *   wish      a target. Its prior may be NULL but for TEM_TARGET_BAYES. Everything else in it must
 *             be 0: all words are alike, and there is no beta, gamma or certificate
 *   answer    receives the epsilon, of four digits, and its effects
 * Fails with TEM_ERR_ARGUMENT, TEM_ERR_RANGE (no epsilon keeps the wish), or as
 * tem_mechanism_create and tem_form_measure do. Cost: some twenty calls of tem_form_measure. */
TEM_API tem_status tem_form_choose(const tem_model *model, const tem_mechanism_options *options,
                                   const tem_wish *wish, const tem_run *run, tem_form_point *answer,
                                   tem_error *error);

/* Computes the effects of several epsilons, in ascending order; the answer is one of them. The
 * others are the epsilons that people use with embeddings or, if distances have another scale, some
 * around the answer.
 *   points    receives *count points
 * Fails as tem_accountant_choose does. */
#define TEM_CURVE_MAX 16u
TEM_API tem_status tem_accountant_curve(const tem_accountant *accountant, const tem_wish *wish,
                                        const tem_point *answer, const tem_run *run,
                                        tem_point points[TEM_CURVE_MAX], uint32_t *count,
                                        tem_error *error);

#ifdef __cplusplus
}
#endif
#endif
