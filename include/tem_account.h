/* tem_account.h - what an epsilon really protects, as numbers: the second public header of libtem.
 *
 * tem.h draws words. This header computes what the draws disclose: the exact distribution of the
 * output of a word, the realised loss of a mechanism, what an attacker can guess, the epsilon for a
 * wanted effect, and certificates for a larger exponent. A program that only privatises texts does
 * not need it. The rules at the top of tem.h hold here, too. */
#ifndef TEM_ACCOUNT_H
#define TEM_ACCOUNT_H

#include "tem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------- the law -- */

/* The probabilities with which a mechanism answers one word: of all words, computed, not
 * estimated. */
typedef struct tem_law tem_law;

#define TEM_LAW_DIGITS_MAX 1000u

/* The law of `word` (an id, or TEM_NO_WORD) under TEM or EM.
 *   digits   how many decimal digits are right, relative to each probability; 1 to
 *            TEM_LAW_DIGITS_MAX
 * Fails with TEM_ERR_ARGUMENT, TEM_ERR_UNSUPPORTED (Madlib: no closed form),
 * TEM_ERR_MEMORY; should memory run out inside MPFR, which computes it, that library ends
 * the program. Cost: microseconds a word of the vocabulary. */
TEM_API tem_status tem_law_create(const tem_mechanism *mechanism, uint32_t word, unsigned digits,
                                  tem_law **law, tem_error *error);
TEM_API void tem_law_free(tem_law *law);

/* P(y | word), rounded to the nearest double; 0 for an id out of range. */
TEM_API double tem_law_probability(const tem_law *law, uint32_t y);

/* The same in decimal, as "1.2345e-06" with `digits` digits, rounded to nearest. Fails with
 * TEM_ERR_ARGUMENT: an id out of range, no digits or more than TEM_LAW_DIGITS_MAX, or a
 * buffer of fewer than digits + 32 bytes. */
TEM_API tem_status tem_law_decimal(const tem_law *law, uint32_t y, unsigned digits, char *buffer,
                                   size_t buffer_bytes, tem_error *error);

/* The probability of all words but these together, and the effective support, in the
 * same way. */
TEM_API tem_status tem_law_outside_decimal(const tem_law *law, const uint32_t *ids, size_t count,
                                           unsigned digits, char *buffer, size_t buffer_bytes,
                                           tem_error *error);
TEM_API tem_status tem_law_support_decimal(const tem_law *law, unsigned digits, char *buffer,
                                           size_t buffer_bytes, tem_error *error);

/* The distance of y from the word, not cut at gamma; for an unknown word it is gamma. For
 * an id out of range UINT32_MAX. */
TEM_API tem_dist tem_law_distance(const tem_law *law, uint32_t y);

/* The words nearest to it, by (distance, id); of an unknown word, the first ones.
 *   ids     receives `count` ids, at most as many as there are words
 * Fails with TEM_ERR_ARGUMENT or TEM_ERR_MEMORY. Cost: one look at each word of the vocabulary. */
TEM_API tem_status tem_law_nearest(const tem_law *law, uint32_t *ids, uint32_t count,
                                   tem_error *error);

/* Entropy in nats, and the effective support S_w = exp(entropy). */
TEM_API double tem_law_entropy(const tem_law *law);
TEM_API double tem_law_support(const tem_law *law);

/* ----------------------------------------------------------- accounting -- */

/* What an epsilon really protects, and costs, on the vocabulary at hand. Z(w) is what the
 * probabilities of w are divided by. The loss of a pair of words per unit of distance is at
 * most
 *     s + |ln Z(w) - ln Z(w')| / min(d(w,w'), gamma)  <=  2s,
 * and its maximum over all pairs, the realised epsilon, depends on public numbers only
 * (docs/PRIVACY.md). */

/* What is known about the distances of all pairs of words: found once, good for every
 * epsilon. */
typedef struct tem_accountant tem_accountant;

/* Looks at all pairs of words of a model, which must live as long as the accountant.
 *   weights   the output weights that mechanisms will have; copied; NULL: all equal
 * Of a TEM_MATRIX the triangles are checked as they are when it is built.
 * Fails with TEM_ERR_UNTRUSTED (a model that is not trusted), TEM_ERR_METRIC (a triangle that is
 * broken), TEM_ERR_ARGUMENT, TEM_ERR_RANGE (weights that are all 0), TEM_ERR_MEMORY,
 * TEM_ERR_CANCELLED. Cost: n^2/2 distances; memory 4 kB a word. */
TEM_API tem_status tem_accountant_create(const tem_model *model, const uint32_t *weights,
                                         const tem_run *run, tem_accountant **accountant,
                                         tem_error *error);
TEM_API void tem_accountant_free(tem_accountant *accountant);

/* What is proved here is proved of distances that are a metric. A TEM_MATRIX of more than 400
 * words may be none, since not all of its triangles are checked: of that nothing is proved. */
typedef struct tem_audit {
    int is_metric;             /* 1: the distances are known to be a metric; 0: see above */
    double realised;           /* proved: no pair of words loses more, per unit of distance */
    double realised_least;     /* proved: the worst pair loses at least this */
    uint32_t worst_a, worst_b; /* that pair; TEM_NO_WORD if all words are the same point */
    tem_dist worst_distance;
    double local;            /* proved: no two inputs, in the vocabulary or not, can be told
                               * apart by more: s gamma + max ln Z - min ln Z, or 2 s gamma */
    uint64_t pairs_examined; /* these two add up to n (n - 1) / 2 */
    uint64_t pairs_pruned;   /* proved to lose less without a look at their distance */
    uint64_t reserved[4];    /* 0 */
} tem_audit;

/* The realised loss of a mechanism, TEM or EM, over the accountant's model, with its weights.
 * Fails with TEM_ERR_ARGUMENT (another model or other weights), TEM_ERR_UNSUPPORTED (Madlib),
 * TEM_ERR_MEMORY, TEM_ERR_CANCELLED, TEM_ERR_DAMAGED (a list of the model). */
TEM_API tem_status tem_accountant_audit(const tem_accountant *accountant,
                                        const tem_mechanism *mechanism, const tem_run *run,
                                        tem_audit *audit, tem_error *error);

/* The loss against the distance, for plots: of all pairs whose distance is within gamma, the
 * largest bound on the loss in each of `count` equal ranges of distance from 0 to gamma
 * (0 where there is no pair), and of all pairs beyond gamma in losses[count]. Looks at every
 * pair, and leaves none out: the largest of these numbers is tem_audit's `realised`, up to
 * what that has refined. Fails as tem_accountant_audit does. */
TEM_API tem_status tem_accountant_losses(const tem_accountant *accountant,
                                         const tem_mechanism *mechanism, uint32_t count,
                                         const tem_run *run, double *losses, tem_error *error);

/* How often each word is expected in the texts to come: the same for every use, public, and
 * never counted in the text that is to be protected. */
typedef struct tem_prior tem_prior;

/* f(w) proportional to (rank of w)^-power, the rank being its place in the model; power 0 or
 * more, 1 being Zipf's law. Fails with TEM_ERR_ARGUMENT, TEM_ERR_MEMORY. */
TEM_API tem_status tem_prior_create_zipf(const tem_model *model, double power, tem_prior **prior,
                                         tem_error *error);

/* From a file: if its first line has a tab, lines of a word, a tab and a count, a whole number,
 * without a header; else a text, whose words are counted as tem_privatize_text would find them.
 * So are the words of the lines, and a word that is there twice counts twice. Words that the model
 * does not have are left out. path "-" is standard input. Fails with
 * TEM_ERR_FILE, TEM_ERR_FORMAT (with the line; or no word of it is in the model),
 * TEM_ERR_MEMORY. */
TEM_API tem_status tem_prior_load(const tem_model *model, const char *path, const tem_run *run,
                                  tem_prior **prior, tem_error *error);
TEM_API void tem_prior_free(tem_prior *prior);

/* What a prior was made from. */
typedef struct tem_prior_info {
    int is_counts;        /* 1: a file of counts, 0: a text, or no file */
    double counted;       /* words of the file that the model has, or what their counts add up to */
    double unknown;       /* those that it does not have, which are left out */
    uint64_t reserved[4]; /* 0 */
} tem_prior_info;

TEM_API void tem_prior_get_info(const tem_prior *prior, tem_prior_info *info);

/* What a mechanism does to words that come with the probabilities of a prior. "Median" and
 * "mean" are over these words. */
typedef struct tem_summary {
    double self_median; /* N_w, how often a word stays itself */
    double self_mean;
    double support_median; /* S_w = exp(entropy): words it is spread over in effect */
    double entropy_mean;   /* in nats */
    double distance_mean;  /* of min(d(w, output), gamma) */
    double beyond_mean;    /* how often the output is farther away than gamma */
    double bayes;          /* how often the best guess at w from its output is right */
    uint64_t reserved[4];  /* 0 */
} tem_summary;

/* Computed from the distribution, not by drawing; each number within 0.1 % of the truth
 * (beyond_mean: or within 10^-6). Beyond 2048 words far ones are not looked at one by one; a
 * sample of words shows whether that is good enough, and otherwise they are.
 *   with_bayes   whether to find `bayes` too, which takes longer; else it is NaN
 * Fails as tem_accountant_audit does, and with TEM_ERR_ARGUMENT for a prior of another
 * model. */
TEM_API tem_status tem_accountant_summarise(const tem_accountant *accountant,
                                            const tem_mechanism *mechanism, const tem_prior *prior,
                                            int with_bayes, const tem_run *run,
                                            tem_summary *summary, tem_error *error);

/* --------------------------------------------------- making certificates -- */

/* How a search for weights stands. Numbers that are not known are NaN. */
typedef struct tem_search_state {
    const char *doing; /* "balancing", "flattening" or "tuning"; static string */
    uint32_t step, steps;
    double s;        /* where it is now */
    double distance; /* expected under the prior, there */
    double loss;     /* realised there, unproved, when last looked at */
    double best; /* the least distance with a loss of at most epsilon, unproved; may be INFINITY */
} tem_search_state;

/* Told after every step of a search, from the thread that made the call. Returning non-zero ends
 * all searching: the best of what was found by then is proved and handed out. */
typedef int tem_search_fn(void *context, const tem_search_state *state);

typedef struct tem_calibration {
    double epsilon; /* finite, above 0 */
    double beta;    /* as in tem_mechanism_options: at most one of these */
    double gamma;
    tem_weights_kind weights; /* 0: equal; for tem_certificate_find: the best there is */
    const tem_prior *prior;   /* of this model; tuned: what the expected distance is taken under;
                               * else NULL will do, and then no effects are computed */
    const char *prior_name;   /* for the certificate, 1 to 63 bytes; where there is a prior */
    uint32_t steps;           /* tuned: of the search; 0: 100, or 24 beyond some 56,000 words. More
                               * find a smaller expected distance, which is not always better text
                               * (docs/TUNING.md) */
    tem_search_fn *told;      /* or NULL */
    void *told_context;
    uint64_t reserved[4]; /* must be 0 */
} tem_calibration;

/* Finds an s, and weights, for which the realised loss is proved to be at most epsilon. The
 * accountant's own weights must be equal.
 *   audit      receives what was proved, as tem_accountant_audit reports it; may be NULL
 *   equal      s as large as a bisection between epsilon/2 and epsilon finds it, to 0.2 %
 *   balanced   where there are weights that make Z the same for all words, s is 0.999 of epsilon or
 *              more; else as much as flatter weights allow
 *   tuned      the least expected distance under the prior that a search finds; never worse than
 *              equal or balanced weights
 * Weights are searched for in floating point, rounded to integers, and then proved. Fails with
 * TEM_ERR_RANGE as tem_mechanism_create does, TEM_ERR_ARGUMENT (tuned without a prior, or with that
 * of another model), TEM_ERR_UNSUPPORTED (other weights; a matrix of more than 400
 * words), TEM_ERR_MEMORY, TEM_ERR_CANCELLED, TEM_ERR_DAMAGED. Cost: seconds for 33,860 words,
 * minutes with tuned ones; memory for other than equal weights 2 bytes for each pair of words, both
 * ways, but at most 6 GB. Beyond that all distances are computed anew for every step: minutes a
 * step for 341,479 words, and hours where distances are not euclidean (docs/TUNING.md). */
TEM_API tem_status tem_accountant_calibrate(const tem_accountant *accountant,
                                            const tem_calibration *wanted, const tem_run *run,
                                            tem_certificate **certificate, tem_audit *audit,
                                            tem_error *error);

/* Recomputes what a certificate claims, from an accountant of its model with equal weights; for
 * other weights all pairs are looked at once more. Fails with TEM_ERR_CERTIFICATE if it does not
 * hold, or as tem_accountant_audit does. */
TEM_API tem_status tem_certificate_verify(const tem_certificate *certificate,
                                          const tem_accountant *accountant, const tem_run *run,
                                          tem_error *error);

/* Certificates are kept in a file (docs/FORMAT.md) beside the model, by convention the
 * model's name with ".cert" added.
 *
 * Adds the certificate, in place of one for the same epsilon, beta or gamma and weights and of
 * those for other models, which can be of no use there any more; the
 * file is made if need be and replaced as a whole; others who add to it at the same time wait.
 *   run       its callback is asked while this one waits; NULL: nobody is
 * Fails with TEM_ERR_FILE, TEM_ERR_FORMAT, TEM_ERR_VERSION, TEM_ERR_DAMAGED, TEM_ERR_MEMORY,
 * TEM_ERR_RANGE (4096 certificates are there already), TEM_ERR_CANCELLED. */
TEM_API tem_status tem_certificate_save(const tem_certificate *certificate, const char *path,
                                        const tem_run *run, tem_error *error);

/* The certificate of the file for this model, epsilon, and beta or gamma (0: the default
 * beta), and kind of weights (0: tuned, else balanced, else equal, whichever is there). Fails with
 * TEM_ERR_CERTIFICATE if there is none, which says whether there is one for another model, or as
 * tem_certificate_load does. */
TEM_API tem_status tem_certificate_find(const char *path, const tem_model *model,
                                        const tem_calibration *wanted,
                                        tem_certificate **certificate, tem_error *error);

/* ------------------------------------------------------------- choosing -- */

/* x, positive and finite, in this many significant digits, 1 to 15: the least such number that is
 * not below x, or the largest that is not above it. So that what is said "at most" stays true. */
TEM_API double tem_round_up(double x, int digits);
TEM_API double tem_round_down(double x, int digits);

/* What an epsilon should be judged by: nobody knows what an epsilon of 3 means. */
typedef enum tem_target {
    TEM_TARGET_SELF = 1,    /* self_median is at most this: a probability */
    TEM_TARGET_SUPPORT = 2, /* support_median is at least this: a number above 1 */
    TEM_TARGET_BAYES = 3    /* bayes is at most this: a probability */
} tem_target;

/* "self", "support", "bayes", and back: TEM_ERR_ARGUMENT for other names. */
TEM_API const char *tem_target_name(tem_target target);
TEM_API tem_status tem_target_parse(const char *name, tem_target *target, tem_error *error);

typedef struct tem_wish {
    tem_target target;
    double wanted; /* see tem_target; probabilities above 0 and below 1 */
    double beta;   /* as in tem_mechanism_options: at most one of these */
    double gamma;
    const tem_prior *prior; /* of this model */
    int calibrated;         /* 1: by epsilon what is proved is meant, with equal weights, not what
                             * the paper bounds */
    uint64_t reserved[4];   /* must be 0 */
} tem_wish;

/* What a wish looks at in a summary, and whether no more is disclosed than it says: 1 or 0. Any
 * thread. */
TEM_API double tem_wish_value(const tem_wish *wish, const tem_summary *summary);
TEM_API int tem_wish_is_kept(const tem_wish *wish, const tem_summary *summary);

/* What one epsilon does. */
typedef struct tem_point {
    double epsilon;       /* calibrated: proved for this s, in four digits, rounded up */
    double epsilon_paper; /* what the paper asks for the same s */
    double s, gamma;
    tem_summary summary;
    uint64_t reserved[4]; /* 0 */
} tem_point;

/* The largest epsilon of four digits, to 0.04 %, that discloses no more than the wish says: the
 * larger it is, the more often words stay themselves or are guessed, and the fewer words they are
 * spread over, so a bisection finds it. With `calibrated` it is the epsilon of a certificate with
 * equal weights that keeps the wish, which tem_accountant_calibrate makes again.
 *   accountant   with equal weights
 * Fails with TEM_ERR_ARGUMENT (also: what no wish can be), TEM_ERR_RANGE (no epsilon does it), or
 * as tem_accountant_summarise and tem_accountant_calibrate do. Cost: some twenty to thirty
 * summaries. */
TEM_API tem_status tem_accountant_choose(const tem_accountant *accountant, const tem_wish *wish,
                                         const tem_run *run, tem_point *answer, tem_error *error);

/* What other epsilons do, with the answer in its place, in ascending order: those that people use
 * with embeddings or, where distances have another scale, some around the answer.
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
