/* tem_compare.h - one attacker for all mechanisms: a public header of libtem.
 *
 * Mechanisms have different epsilons: the same number means another protection. This header gives
 * them one measure, the guess: how often an attacker who sees an output names the input word.
 * tem_learned is an attacker who needs no law. It learns a mechanism from pairs (word, output) that
 * it draws itself, so a mechanism whose law nobody can compute does not look safer. tem_effects has
 * the same numbers without any draw, for mechanisms with a law.
 *
 * The rules at the top of tem.h hold here, too. Nothing here is a guarantee: an attack that fails
 * proves nothing. */
#ifndef TEM_COMPARE_H
#define TEM_COMPARE_H

#include "tem_account.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Effects of a mechanism on words under a prior. A number that is not known is NaN. */
typedef struct tem_effects {
    double guess;            /* sum over outputs y of max over w of prior(w) P(y | w) */
    double guess_vocabulary; /* the same where all words are equally frequent */
    double self_median;      /* N_w of the median word under the prior */
    double support_median;   /* S_w of the median word under the prior */
    double self_exposed;     /* the largest N_w of a word that a text can contain */
    double support_exposed;  /* S_w of that word */
    uint32_t exposed;        /* that word, or TEM_NO_WORD */
    uint64_t reserved[4];    /* 0 */
} tem_effects;

/* Computes the effects of a mechanism from its law: by the accountant for an exponential law, as
 * tem_form_measure does for rank and coin, else one row of the law after the other. The accountant
 * must be of the mechanism's model, and its weights must be equal.
 * Fails with TEM_ERR_ARGUMENT (another model or other weights), TEM_ERR_UNSUPPORTED (a law that
 * cannot be computed), TEM_ERR_MEMORY, TEM_ERR_CANCELLED. Cost by rows: one row per word; each
 * takes about as long as tem_mechanism_self. */
TEM_API tem_status tem_accountant_effects(const tem_accountant *accountant,
                                          const tem_mechanism *mechanism, const tem_prior *prior,
                                          const tem_run *run, tem_effects *effects,
                                          tem_error *error);

/* An attacker who has learned a mechanism from drawn pairs. */
typedef struct tem_learned tem_learned;

#define TEM_LEARNED_PAIRS_DEFAULT 50000u

/* A field of 0 means the default. */
typedef struct tem_learned_options {
    uint64_t pairs;       /* to learn from; default TEM_LEARNED_PAIRS_DEFAULT */
    uint64_t seed;        /* of all draws */
    double smoothing;     /* k below; default: the k that predicts the pairs best */
    uint64_t reserved[4]; /* must be 0 */
} tem_learned_options;

/* Draws pairs, w by the prior and y by the mechanism, and learns
 *     P^(y | w) = (count(w,y) + k g(y | w)) / (count(w) + k),   g(y | w) = f(d(w,y)) / Z(w),
 * where ln f is a continuous function of the distance, straight between about 30 quantiles of the
 * distances drawn, with a number of its own for y = w. f is the one that makes the pairs likeliest.
 * Z(w) makes the g of a word add up to 1 over all outputs. k is, of powers of sqrt(10), the one
 * that predicts each pair best from all others.
 * The accountant, the mechanism and the prior must be of one model and live as long as the result;
 * the accountant's weights must be equal. Free with tem_learned_free.
 * Fails with TEM_ERR_ARGUMENT, TEM_ERR_MEMORY, TEM_ERR_CANCELLED, or as tem_mechanism_draw does.
 * The result is the same for any number of threads. */
TEM_API tem_status tem_learned_create(const tem_accountant *accountant,
                                      const tem_mechanism *mechanism, const tem_prior *prior,
                                      const tem_learned_options *options, const tem_run *run,
                                      tem_learned **learned, tem_error *error);
TEM_API void tem_learned_free(tem_learned *learned);

/* P^(y | word) as learned; 0 for ids out of range and for outputs that are excluded. Any thread. */
TEM_API double tem_learned_probability(const tem_learned *learned, uint32_t word, uint32_t y);

/* The word w with the largest prior(w) P^(y | w): the attacker's guess. TEM_NO_WORD for an id out
 * of range. Any thread. */
TEM_API uint32_t tem_learned_guess(const tem_learned *learned, uint32_t y);

/* The k that the attacker uses. */
TEM_API double tem_learned_smoothing(const tem_learned *learned);

/* How an attacker did on fresh pairs, and how near the outputs are to the words. */
typedef struct tem_learned_score {
    uint64_t pairs, right;
    double guess;         /* right / pairs */
    double low, high;     /* the Wilson interval of 95 % around it */
    double self;          /* share of pairs in which the word stayed itself */
    double distance_mean; /* of the model's distance between word and output */
    double cosine_mean;   /* of the model's vectors; NaN if the model has none */
    uint64_t reserved[4]; /* 0 */
} tem_learned_score;

/* Draws `pairs` pairs, at least 1, by the prior and the mechanism of the attacker, and counts its
 * right guesses. No random number of these pairs was used for learning, even with the same seed.
 * Fails as tem_learned_create does. */
TEM_API tem_status tem_learned_test(const tem_learned *learned, uint64_t pairs, uint64_t seed,
                                    const tem_run *run, tem_learned_score *score, tem_error *error);

/* Effects by the learned P^ instead of the law; the two guesses are NaN. These are estimates. For a
 * word that was seldom drawn they rest on the distance alone.
 * Fails with TEM_ERR_MEMORY or TEM_ERR_CANCELLED. */
TEM_API tem_status tem_learned_effects(const tem_learned *learned, const tem_run *run,
                                       tem_effects *effects, tem_error *error);

#ifdef __cplusplus
}
#endif
#endif
