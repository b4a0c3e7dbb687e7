/* learner_deconvolved.c - naive Bayes on the shares of words in each class, estimated from the counts
 * of released words (tem_channel_deconvolve).
 *
 * The score of a class is the mean of ln(share of the word in the class) over the words of a text,
 * less the mean over all classes. Like the features of the other learners, the scores of all texts
 * that are asked about are standardised together: sharper shares in one class would otherwise move
 * every text towards it or away from it. */
#include "failure.h"
#include "learner.h"
#include "tem_learn.h"
#include "text_means.h"

#include <math.h>
#include <stdlib.h>

/* Every HELD_OUT-th text decides when the deconvolution stops, after at most STEPS steps. Shares
 * below LEAST count as LEAST. */
enum { HELD_OUT = 5, STEPS = 40 };
static const double LEAST = 1e-12;

typedef struct trained {
    uint32_t classes;
    double *logs; /* ln(share), less the mean over the classes: `classes` numbers per word */
} trained;

static void release(void *context) {
    trained *t = context;
    if (t != NULL)
        free(t->logs);
    free(t);
}

/* Counts the words of each class: in all texts, in those to learn from, and in those held out. */
static void count_words(const corpus *c, uint32_t classes, double *all, double *some,
                        double *held_out) {
    for (uint32_t i = 0; i < c->count; i++)
        for (uint64_t at = c->starts[i]; at < c->starts[i + 1]; at++) {
            const size_t place = (size_t)c->words[at] * classes + c->labels[i];
            all[place]++;
            (i % HELD_OUT == HELD_OUT - 1 ? held_out : some)[place]++;
        }
}

/* Finds the best number of steps on the held-out texts, and makes as many with all texts. */
static tem_status deconvolve(const lesson *l, const tem_channel *channel, const double *counts,
                             double *shares, tem_error *error) {
    const size_t size = (size_t)tem_channel_outputs(channel) * l->classes;
    const tem_expectation expected = {.prior = l->known->prior, .unknown = 0};
    tem_deconvolution how = {.steps = STEPS};
    tem_status status = tem_channel_deconvolve(channel, &expected, counts + size, counts + 2 * size,
                                               l->classes, l->run, &how, shares, error);
    if (status != TEM_OK || how.steps == 0)
        return status;
    const uint32_t steps = how.steps;
    how = (tem_deconvolution){.steps = steps};
    return tem_channel_deconvolve(channel, &expected, counts, NULL, l->classes, l->run, &how,
                                  shares, error);
}

static void take_logs(const double *shares, uint32_t words, trained *t) {
    for (uint32_t w = 0; w < words; w++) {
        double *row = t->logs + (size_t)w * t->classes, mean = 0;
        for (uint32_t k = 0; k < t->classes; k++) {
            row[k] = log(fmax(shares[(size_t)w * t->classes + k], LEAST));
            mean += row[k] / t->classes;
        }
        for (uint32_t k = 0; k < t->classes; k++)
            row[k] -= mean;
    }
}

static tem_status learn(const lesson *l, const tem_channel *channel, trained *t, tem_error *error) {
    const uint32_t words = tem_channel_outputs(channel);
    const size_t size = (size_t)words * l->classes;
    double *counts = calloc(3 * size + 1, sizeof *counts);
    double *shares = calloc(size + l->classes, sizeof *shares); /* one more row: unknown words */
    t->logs = calloc(size + 1, sizeof *t->logs);
    tem_status status = TEM_OK;
    if (counts == NULL || shares == NULL || t->logs == NULL)
        status = eval_out_of_memory(error);
    if (status == TEM_OK) {
        count_words(l->text, l->classes, counts, counts + size, counts + 2 * size);
        status = deconvolve(l, channel, counts, shares, error);
    }
    if (status == TEM_OK)
        take_logs(shares, words, t);
    free(counts);
    free(shares);
    return status;
}

static tem_status train(const learner *self, const lesson *l, void **out, tem_error *error) {
    (void)self;
    tem_channel *channel = NULL;
    trained *t = calloc(1, sizeof *t);
    tem_status status = t == NULL ? eval_out_of_memory(error)
                                  : tem_channel_create(l->mechanism, l->run, &channel, error);
    if (status == TEM_OK) {
        t->classes = l->classes;
        status = learn(l, channel, t, error);
    }
    tem_channel_free(channel);
    if (status == TEM_OK)
        *out = t;
    else
        release(t);
    return status;
}

/* The probabilities are those of standardised scores: good for comparing classes, and no more. */
static tem_status answer(const void *context, const bags *texts, bool released, core_team *team,
                         float **out, tem_error *error) {
    const trained *t = context;
    float *rows = NULL, *answers = adam_floats((uint64_t)texts->count * t->classes);
    scaling s = {0};
    (void)released;
    tem_status status = answers == NULL
                            ? eval_out_of_memory(error)
                            : text_means_create(t->logs, t->classes, texts, team, &rows, error);
    if (status == TEM_OK)
        status = scaling_create(rows, texts->count, t->classes, &s, error);
    if (status == TEM_OK) {
        scaling_apply(&s, rows, texts->count);
        for (uint32_t i = 0; i < texts->count; i++)
            for (uint32_t k = 0; k < t->classes; k++)
                answers[(size_t)i * t->classes + k] = rows[(size_t)i * (t->classes + 1) + k];
        softmax(answers, texts->count, t->classes);
        *out = answers;
    } else {
        free(answers);
    }
    scaling_free(&s);
    free(rows);
    return status;
}

const learner learner_deconvolved = {"deconvolved", true, false, train, answer, release};
