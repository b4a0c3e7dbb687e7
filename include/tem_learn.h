/* tem_learn.h - learning from released text: the third public header of libtem.
 *
 * The law of a mechanism is public. So whoever reads released text can ask which words were
 * probably behind it. That is post-processing: it spends no privacy and changes no released byte.
 * An attacker can do the same. The rules at the top of tem.h hold here, too; docs/LEARNING.md has
 * the formulas and what they are good for.
 *
 * These functions compute in double precision. The draw never uses their results. */
#ifndef TEM_LEARN_H
#define TEM_LEARN_H

#include "tem_account.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------- the channel -- */

/* The laws of all words at once: the matrix P with P[w][y] = P(y | w). It has a row per input: the
 * words of the model in their order and, as the last row, all unknown words, which share one law.
 * It has a column per word of the model; the column of an excluded word is 0. tem does not store
 * the matrix: each product computes it anew from the distances. */
typedef struct tem_channel tem_channel;

/* Makes the channel of a mechanism, TEM or EM. The mechanism must live as long as the channel.
 * Fails with TEM_ERR_UNSUPPORTED (a mechanism without a law that can be computed, such as Madlib;
 * or no OpenBLAS), TEM_ERR_MEMORY, TEM_ERR_CANCELLED. Cost: one product with one column. */
TEM_API tem_status tem_channel_create(const tem_mechanism *mechanism, const tem_run *run,
                                      tem_channel **channel, tem_error *error);
TEM_API void tem_channel_free(tem_channel *channel);

/* The number of rows and of columns of P: words + 1, and words. 0 for NULL. */
TEM_API uint32_t tem_channel_inputs(const tem_channel *channel);
TEM_API uint32_t tem_channel_outputs(const tem_channel *channel);

/* Products with P. All matrices are stored row by row, `columns` numbers to a row, columns >= 1;
 * `out` must not overlap `in`.
 * tem_channel_forward: out = transpose(P) in, from a row per input to a row per output. If a column
 * of `in` has the shares of the input words of a text, the same column of `out` has the expected
 * shares of its released words.
 * tem_channel_backward: out = P in, from a row per output to a row per input: the mean of a
 * function of the released word, for each input word.
 * Each number of P is within a relative 10^-13 of the law; the sums are those of OpenBLAS, the same
 * for every number of threads on one machine.
 * Fail with TEM_ERR_ARGUMENT, TEM_ERR_MEMORY, TEM_ERR_CANCELLED. Cost: words^2 * (columns + some
 * ten) operations; memory: two more matrices of this size and some megabytes per thread. One
 * product runs at a time in a process; others wait. A progress callback of a product must not call
 * a function that makes another: that call fails with TEM_ERR_ARGUMENT. */
TEM_API tem_status tem_channel_forward(const tem_channel *channel, const double *in,
                                       uint32_t columns, const tem_run *run, double *out,
                                       tem_error *error);
TEM_API tem_status tem_channel_backward(const tem_channel *channel, const double *in,
                                        uint32_t columns, const tem_run *run, double *out,
                                        tem_error *error);

/* What is publicly known about the inputs before any released text is read. */
typedef struct tem_expectation {
    const tem_prior *prior; /* of the model of the channel. If it was counted in a file, each word
                             * counts half an occurrence more, so that no word is impossible */
    double unknown;         /* the share of unknown words among the inputs that were drawn for: 0 to
                             * below 1. Below 0: the share in the file of the prior; 0 if there is
                             * no file. It is 0 for text that was released with unknown words
                             * dropped or masked */
    uint64_t reserved[4];   /* must be 0 */
} tem_expectation;

/* Writes the shares of all inputs, which add up to 1, to `shares` (tem_channel_inputs numbers).
 * Fails with TEM_ERR_ARGUMENT (a prior of another model, a share out of range). */
TEM_API tem_status tem_channel_expect(const tem_channel *channel, const tem_expectation *expected,
                                      double *shares, tem_error *error);

/* ----------------------------------------------------- posterior vectors -- */

/* Computes, for each output word y, the mean of the vectors of the words that may be behind it:
 *     m(y) = sum over inputs w of P(w | y) x_w,   P(w | y) in proportion to share(w) P(y | w).
 *   vectors   x_w: a row of `columns` numbers per word of the model, columns >= 1, all finite. For
 *             an unknown word tem takes the mean of all x_w under the prior
 *   out       receives m(y): as many numbers. For an excluded word, which is no output, it is what
 *             m would be if the word had a weight and all other numbers stayed as they are
 * So each row of `out` is a mean of rows of `vectors` with weights that add up to 1.
 * Fails with TEM_ERR_ARGUMENT, TEM_ERR_MEMORY, TEM_ERR_CANCELLED. Cost: one product. */
TEM_API tem_status tem_channel_posterior(const tem_channel *channel,
                                         const tem_expectation *expected, const double *vectors,
                                         uint32_t columns, const tem_run *run, double *out,
                                         tem_error *error);

/* Makes a public map from output words to better ones: to the word that is nearest to the mean of
 * the vectors of the words that may be behind an output. Of all words it has the least mean square
 * of the distance from the original word, under the prior. tem_mechanism_options.remap takes the
 * map. No bound of the mechanism changes, because nothing but the output decides (post-processing).
 *   mechanism  of a euclidean model, without a map. If its law has no form (has_form), the call
 *              learns the means from 64 draws per word, with a fixed seed: the map is the same each
 *              time
 *   map        receives an output word for each word of the model. An output that the draws never
 *              gave is mapped to the nearest output, mostly itself
 * Fails with TEM_ERR_ARGUMENT, TEM_ERR_UNSUPPORTED (another metric; no OpenBLAS), TEM_ERR_MEMORY,
 * TEM_ERR_CANCELLED. Cost: one product, or 64 draws per word; and a search for each word. */
TEM_API tem_status tem_remap_make(const tem_mechanism *mechanism, const tem_expectation *expected,
                                  const tem_run *run, uint32_t *map, tem_error *error);

/* Finds the vectors of the words of a model in a file of vectors.
 *   out       receives a row of tem_vectors_dimension numbers per word of the model. A word that
 *             the file does not have gets the mean of the others
 *   missing   receives the number of these words
 * Fails with TEM_ERR_ARGUMENT; with TEM_ERR_FORMAT if the file has none of the words. */
TEM_API tem_status tem_model_align_vectors(const tem_model *model, const tem_vectors *vectors,
                                           double *out, uint32_t *missing, tem_error *error);

/* Makes word vectors from a PUBLIC text by latent semantic analysis: words that occur in the same
 * documents get similar vectors. Such vectors know the subject of the text, which vectors made from
 * the whole web do not (docs/LEARNING.md).
 *   path      a text, one document per line; "-" is standard input. tem cuts it into words as
 *             tem_privatize_text does, and leaves out words that the model does not have. A line
 *             without a word of the model is no document
 *   columns   1 to 1024, and at most the number of documents and of words
 *   out       receives `columns` numbers per word of the model; 0 for a word that does not occur
 * The score of a word in a document is sqrt(its share of the document) * ln(documents / (documents
 * with the word + 1)), at least 0.1; the vector of a word is that logarithm times its row in the
 * first `columns` right singular vectors of the matrix of all scores, found by an iteration that
 * stops within a relative 10^-4. A vector whose singular value is below 10^-6 of the largest one is
 * 0. The signs of the columns are fixed: the entry of largest size is positive. The result is the
 * same for every number of threads.
 * Fails with TEM_ERR_ARGUMENT, TEM_ERR_FILE, TEM_ERR_FORMAT (no known word; fewer documents than
 * columns), TEM_ERR_RANGE (more than 2^30 pairs of a document and a word in it),
 * TEM_ERR_UNSUPPORTED (no OpenBLAS), TEM_ERR_MEMORY, TEM_ERR_CANCELLED. Cost, for 50,000 reviews of
 * 230 words and 50 columns: about 20 s of CPU time, 200 MB. */
TEM_API tem_status tem_text_vectors(const tem_model *model, const char *path, uint32_t columns,
                                    const tem_run *run, double *out, tem_error *error);

/* --------------------------------------------------------- deconvolution -- */

/* How a deconvolution ends. */
typedef struct tem_deconvolution {
    uint32_t steps;       /* in: at most this many; 0: 100. Out: the steps behind the shares, which
                           * may be 0 with `held_out` */
    double likelihood;    /* out: mean ln(probability) of a released word of `counts`; with
                           * `held_out`, of a word of these */
    uint64_t reserved[4]; /* must be 0 */
} tem_deconvolution;

/* Estimates the shares of the input words of groups of texts from the counts of their released
 * words: expectation maximization from the expected shares, q <- q * P (c / (transpose(P) q)). Each
 * step raises the likelihood of the counts. Many steps fit the noise, so stop early.
 *   groups     the number of groups, at least 1
 *   counts     a row per output, `groups` numbers to a row: how often the word was released in the
 *              group; finite, 0 or more, at least one above 0 in each group
 *   held_out   NULL: make exactly `steps` steps. Otherwise counts of other texts of the same
 *              groups: tem takes the step after which the likelihood of all of them is largest, and
 *              stops when it has fallen three times in a row
 *   shares     receives a row per input, `groups` numbers to a row; each column adds up to 1
 * Fails with TEM_ERR_FORMAT if a released word is one that the mechanism never outputs (another
 * model or other options), TEM_ERR_ARGUMENT, TEM_ERR_MEMORY, TEM_ERR_CANCELLED. Cost: two products
 * per step. */
TEM_API tem_status tem_channel_deconvolve(const tem_channel *channel,
                                          const tem_expectation *expected, const double *counts,
                                          const double *held_out, uint32_t groups,
                                          const tem_run *run, tem_deconvolution *how,
                                          double *shares, tem_error *error);

/* ------------------------------------------------------------- estimates -- */

/* What tem_channel_estimate assumes. */
typedef struct tem_estimate_options {
    tem_expectation expected;
    double ratio;         /* the words of a group come from shares that are at most this many times
                           * the expected ones, for every input word; above 1; 0: 4 */
    uint32_t steps;       /* at most this many; 0: 30 */
    uint64_t reserved[4]; /* must be 0 */
} tem_estimate_options;

/* The estimate of one share in one group. [low, high] holds the true share of the original texts
 * with a probability of about 95 % or more, if `ratio` is right and the words of a group are
 * independent of each other. The probability is that of one interval: of 20 intervals one may be
 * wrong. */
typedef struct tem_estimate {
    double share;         /* the estimate */
    double low, high;     /* share -+ (bias + 1.96 deviation + one word: the range of the members
                           * divided by the number of words); all three are cut to the range of the
                           * members, 0 and 1 for a set */
    double bias;          /* estimate less truth is at most this on average */
    double deviation;     /* standard deviation of estimate less truth, at most */
    double expected;      /* the share that the prior expects */
    int tells;            /* 0: the interval is hardly narrower than without any released text */
    uint64_t reserved[4]; /* 0 */
} tem_estimate;

/* Estimates, for each group of texts, the share of each of several sets of words among the input
 * words of the original texts.
 *   counts     as in tem_channel_deconvolve, but whole numbers: their sum is the number of draws
 *   sets       the number of sets, at least 1
 *   members    a row per input, `sets` numbers to a row: 1 if the word belongs to the set, else 0;
 *              other finite numbers are allowed, and then the estimate is their mean
 *   out        receives groups * sets estimates, group by group
 * The estimate is linear in the released shares c: sum of h(y) c(y), with P h near the members. tem
 * makes h by conjugate gradients, and takes for each group and set the step at which the interval
 * is expected to be narrowest. That choice depends on the prior and on the number of released words
 * alone, so it does not spoil the interval (docs/LEARNING.md).
 * Fails as tem_channel_deconvolve does. Cost: two products per step, with a column per set. */
TEM_API tem_status tem_channel_estimate(const tem_channel *channel,
                                        const tem_estimate_options *options, const double *counts,
                                        uint32_t groups, const double *members, uint32_t sets,
                                        const tem_run *run, tem_estimate *out, tem_error *error);

#ifdef __cplusplus
}
#endif
#endif
