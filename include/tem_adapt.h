/* tem_adapt.h - a metric that keeps what an analysis needs: the fourth public header of libtem.
 *
 * A mechanism protects distances. So a space that is stretched along a direction keeps more of
 * that direction at the same success of an attacker, and less of everything else. This header
 * learns such directions from PUBLIC signals, such as a lexicon of valence or public texts with
 * labels, and makes an ordinary model from them: index, sampler, certificates and proofs are the
 * same as for any other model. docs/ADAPT.md says what this protects, what it gives away, and when
 * not to use it.
 *
 * Never learn a metric from the text that you want to protect: the model is public. The rules at
 * the top of tem.h hold here, too. */
#ifndef TEM_ADAPT_H
#define TEM_ADAPT_H

#include "tem_learn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------- signals -- */

/* Where a signal comes from. */
typedef enum tem_signal_kind {
    TEM_SIGNAL_LEXICON = 1, /* numbers for words */
    TEM_SIGNAL_RATING = 2,  /* numbers for texts */
    TEM_SIGNAL_CLASS = 3    /* whether a text belongs to a class */
} tem_signal_kind;

/* "lexicon", "rating" or "class"; "unknown" for other numbers. Static string. And the kind with a
 * name: TEM_ERR_ARGUMENT for other names. Any thread. */
TEM_API const char *tem_signal_kind_name(tem_signal_kind kind);
TEM_API tem_status tem_signal_kind_parse(const char *name, tem_signal_kind *kind, tem_error *error);

#define TEM_SIGNALS_MAX 64u
#define TEM_SIGNAL_NAME_MAX 63u

/* A signal: one number for each word of a model, learned from a public source. */
typedef struct tem_signal {
    char name[TEM_SIGNAL_NAME_MAX + 1]; /* that of the source; of a class: "source: class" */
    tem_signal_kind kind;
    uint64_t used;        /* words or texts that it was learned from */
    uint64_t left_out;    /* words that the model does not have; texts without a word that it has */
    double correlation;   /* of the source with its prediction from the vectors, for words or texts
                           * that the prediction was not learned from (ten parts, each held out) */
    double low, high;     /* its 95 % interval, by Fisher's z: an approximation, since the penalty
                           * was chosen by the same words or texts. If low is 0 or less, the
                           * vectors do not know the signal, and the model keeps next to nothing of
                           * what the source says */
    double penalty;       /* the ridge penalty that predicts best, in parts of the mean variance of
                           * a column */
    char source[65];      /* BLAKE2b-256 of the source file, in hex */
    uint64_t reserved[4]; /* 0 */
} tem_signal;

/* Signals over the words of one model, and the models that keep them. */
typedef struct tem_adaptation tem_adaptation;

/* Begins an adaptation of a model, which must live as long as the adaptation. The model must be
 * trusted, have vectors and the euclidean metric, and not be adapted itself. Fails with
 * TEM_ERR_UNTRUSTED, TEM_ERR_ARGUMENT, TEM_ERR_MEMORY. */
TEM_API tem_status tem_adaptation_create(const tem_model *model, tem_adaptation **adaptation,
                                         tem_error *error);
TEM_API void tem_adaptation_free(tem_adaptation *adaptation);

/* A PUBLIC source of signals. */
typedef struct tem_signal_source {
    const char *path;     /* the file, plain or gzip */
    const char *name;     /* for the signal, 1 to TEM_SIGNAL_NAME_MAX bytes; NULL: the name of the
                           * file without its directory and its ending */
    tem_format format;    /* of labeled texts: TSV, CSV or JSONL; 0: a lexicon */
    const char *text;     /* labeled texts: the field with the text */
    const char *label;    /* labeled texts: the field with the label */
    int is_rating;        /* 1: labels are numbers; 0: each different label is a class */
    uint64_t reserved[4]; /* must be 0 */
} tem_signal_source;

/* Learns the signals of one source and adds them.
 *  - A lexicon has a word, a tab and a number per line; tem ignores further columns, lines that are
 *    empty and lines that begin with #. It finds words as tem_privatize_text would, and leaves out
 *    entries that are not one word. If a word has several entries, such as "ok" and "OK", their
 *    mean counts.
 *  - The vector of a text is the mean of the vectors of its known words. Texts without one are left
 *    out.
 *  - Ridge regression on the vectors of the model predicts the numbers. The penalty is that of 13
 *    between 1e-6 and 1e6 which predicts best what was held out. The prediction for a word, less
 *    the mean over the vocabulary and divided by the deviation, is the signal. It is a linear
 *    function of the vector, so words at the same point have the same signal.
 *  - Two classes give one signal, for the class that comes last in the order of bytes; more classes
 *    give one for each, which tells it from all others.
 * The result does not depend on the number of threads. OpenBLAS may give other last bits on other
 * machines: who ships certificates ships their model.
 * Fails with TEM_ERR_ARGUMENT; TEM_ERR_FILE; TEM_ERR_FORMAT with the line, for a line that is not
 * as above, a number that is not finite or beyond 1e100, a label that is empty, longer than
 * TEM_SIGNAL_NAME_MAX bytes or has control characters; TEM_ERR_RANGE: fewer than 20 words or texts
 * are left, all numbers are the same, one class only, more than TEM_SIGNALS_MAX signals, a class
 * with fewer than 10 texts, or the prediction is the same for all words; TEM_ERR_UNSUPPORTED (no
 * OpenBLAS), TEM_ERR_MEMORY, TEM_ERR_CANCELLED. After a failure the adaptation is as before. */
TEM_API tem_status tem_adaptation_add(tem_adaptation *adaptation, const tem_signal_source *source,
                                      const tem_run *run, tem_error *error);

/* The number of signals; and what is known of signal i, from 0. The second fails with
 * TEM_ERR_ARGUMENT. */
TEM_API uint32_t tem_adaptation_count(const tem_adaptation *adaptation);
TEM_API tem_status tem_adaptation_signal(const tem_adaptation *adaptation, uint32_t i,
                                         tem_signal *signal, tem_error *error);

/* The values of signal i: one number per word of the model, with mean 0 and deviation 1. They live
 * until the next tem_adaptation_add. NULL for a wrong i. */
TEM_API const double *tem_adaptation_values(const tem_adaptation *adaptation, uint32_t i);

/* The correlation of signals i and j over the vocabulary; NaN for a wrong i or j. Near 1 or -1 the
 * two are one signal, and the model keeps it twice as strongly. */
TEM_API double tem_adaptation_correlation(const tem_adaptation *adaptation, uint32_t i, uint32_t j);

/* How to make an adapted model. */
typedef struct tem_adapt_options {
    double stretch;       /* 0 or more. The root mean square distance of two words along all signals
                           * together is this many times that in the model. 0: the plain model */
    double squash;        /* at least 0.1: a signal p becomes squash * tanh(p / squash), so that
                           * words at its ends do not stand alone; 0: p stays as it is. Afterwards
                           * the signal has mean 0 and deviation 1 again */
    uint32_t neighbours;  /* as in tem_build_options; 0: as in the model */
    uint32_t zero;        /* must be 0 */
    uint64_t reserved[4]; /* must be 0 */
} tem_adapt_options;

/* Builds a model with one more column per signal. The words, the recipe and the excluded words are
 * those of the model; words at distance 0 stay at distance 0. The new model does not need the
 * adaptation.
 * Fails with TEM_ERR_ARGUMENT (also: no signal), TEM_ERR_RANGE (a stretch so small that a signal is
 * the same for all words on the grid; more than TEM_DIMENSION_MAX
 * columns), or as tem_model_build does. */
TEM_API tem_status tem_adaptation_build(const tem_adaptation *adaptation,
                                        const tem_adapt_options *options, const tem_run *run,
                                        tem_model **model, tem_error *error);

/* -------------------------------------------------------- adapted models -- */

/* What a model says about its adaptation. No guarantee depends on it: the grid has the distances.
 * For a model from a file it is what the file says. */
typedef struct tem_adapted {
    uint32_t signals; /* the last columns of the model; 0: the model is not adapted */
    uint32_t columns; /* the columns before them */
    double stretch;
    double squash;        /* 0: none */
    char base[65];        /* hash of the space of the model that was adapted, in hex */
    uint64_t reserved[4]; /* 0 */
} tem_adapted;

/* Fills *adapted. Any thread. */
TEM_API void tem_model_get_adapted(const tem_model *model, tem_adapted *adapted);

/* What is known of signal i of an adapted model, from 0; and its values: one number per word, after
 * squashing, from the columns of the model. Fail with TEM_ERR_ARGUMENT. Any thread. */
TEM_API tem_status tem_model_signal(const tem_model *model, uint32_t i, tem_signal *signal,
                                    tem_error *error);
TEM_API tem_status tem_model_signal_values(const tem_model *model, uint32_t i, double *values,
                                           tem_error *error);

/* ----------------------------------------------------- what is given away -- */

/* How well the best attacker tells a number of a word from the output, who knows the law and the
 * prior. Computed from the law, for words that the model has. */
typedef struct tem_told {
    double side;          /* how often they tell rightly on which side of its mean the number is */
    double side_blind;    /* the same without the output */
    double variance;      /* the share of the variance that the best estimate explains, 0 to 1 */
    uint64_t reserved[4]; /* 0 */
} tem_told;

/* Computes it for several numbers of each word at once, such as the signals of an adapted model.
 * The mean and the variance are those under the prior.
 *   numbers   a row of `columns` finite numbers per word of the model
 *   told      receives `columns` results. If a number is the same for all words that the prior
 *             expects, its results are 1, 1 and 0
 * Fails with TEM_ERR_ARGUMENT, TEM_ERR_MEMORY, TEM_ERR_CANCELLED. Cost: one product with 2 *
 * columns + 1 columns. */
TEM_API tem_status tem_channel_told(const tem_channel *channel, const tem_expectation *expected,
                                    const double *numbers, uint32_t columns, const tem_run *run,
                                    tem_told *told, tem_error *error);

/* The loss of a mechanism on an adapted model, per unit of distance before it was adapted. */
typedef struct tem_unadapted {
    double loss; /* proved: no pair of words loses more. INFINITY: the grid of the adapted model
                       * is so coarse that words which differ in a signal have no distance in the
                       * columns before */
    uint32_t worst_a; /* that pair; TEM_NO_WORD if all words are at one point */
    uint32_t worst_b;
    double distance; /* of the pair, before and after */
    double distance_adapted;
    uint64_t reserved[4]; /* 0 */
} tem_unadapted;

/* Looks at all pairs of words. The distance before is that of the columns before the signals, on
 * the grid of the adapted model, cut at gamma as the adapted one is.
 * Fails with TEM_ERR_ARGUMENT (also: the model is not adapted), or as tem_accountant_audit does.
 * Cost: n^2 distances. */
TEM_API tem_status tem_accountant_unadapted(const tem_accountant *accountant,
                                            const tem_mechanism *mechanism, const tem_run *run,
                                            tem_unadapted *unadapted, tem_error *error);

#ifdef __cplusplus
}
#endif
#endif
