/* learner_deconvolved.c - naive Bayes on the shares of words in each class, estimated from the
 * counts of released words (tem_channel_deconvolve).
 *
 * The score of a class is the mean of ln(share of the word in the class) over the words of a text,
 * less the mean over all classes. Like the features of the other learners, the scores of all texts
 * that are asked about are standardized together: sharper shares in one class would otherwise move
 * every text towards it or away from it. */
#include "failure.h"
#include "learner.h"
#include "tem_learn.h"
#include "text_means.h"
#include "validation.h"

#include <math.h>
#include <stdlib.h>

/* The held-out texts of validation.h decide when the deconvolution stops, after at most STEPS
 * steps; with too few texts for that it makes STEPS_BLIND. Shares below LEAST count as LEAST. */
enum { STEPS = 40, STEPS_BLIND = 8 };
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

/* Counts of the released words of each class, `classes` numbers per word: in all texts, in those to
 * learn from, and in those held out. */
typedef struct counted {
    double *all, *some, *held_out;
    bool is_whole;    /* each class has a word */
    bool is_held_out; /* each class has a word to learn from, and one that is held out */
} counted;

static void count_words(const corpus *c, uint32_t classes, const bool *held_out, counted *out) {
    for (uint32_t i = 0; i < c->count; i++) {
        const uint32_t label = c->labels[i];
        double *part = held_out[i] ? out->held_out : out->some;
        for (uint64_t at = c->starts[i]; at < c->starts[i + 1]; at++) {
            out->all[(size_t)c->words[at] * classes + label]++;
            part[(size_t)c->words[at] * classes + label]++;
        }
    }
}

static bool has_every_class(const double *counts, uint32_t words, uint32_t classes) {
    for (uint32_t k = 0; k < classes; k++) {
        uint32_t w = 0;
        while (w < words && counts[(size_t)w * classes + k] <= 0)
            w++;
        if (w == words)
            return false;
    }
    return true;
}

static void counted_free(counted *c) {
    free(c->all);
}

static tem_status counted_create(const lesson *l, uint32_t words, counted *out, tem_error *error) {
    const size_t size = (size_t)words * l->classes;
    bool *held_out = NULL;
    counted made = {.all = calloc(3 * size + 1, sizeof *made.all)};
    const tem_status status = made.all == NULL ? eval_out_of_memory(error)
                                               : validation_mark(l->text->labels, l->text->count,
                                                                 l->classes, &held_out, error);
    if (status == TEM_OK) {
        made.some = made.all + size;
        made.held_out = made.some + size;
        count_words(l->text, l->classes, held_out, &made);
        made.is_whole = has_every_class(made.all, words, l->classes);
        made.is_held_out = has_every_class(made.some, words, l->classes) &&
                           has_every_class(made.held_out, words, l->classes);
        *out = made;
    } else {
        counted_free(&made);
    }
    free(held_out);
    return status;
}

/* Finds the best number of steps on the held-out texts, and makes as many with all texts; one at
 * least, because without a step all classes have the expected shares. */
static tem_status deconvolve(const lesson *l, const tem_channel *channel, const counted *c,
                             double *shares, tem_error *error) {
    const tem_expectation expected = {.prior = l->known->prior, .unknown = 0};
    tem_deconvolution how = {.steps = STEPS};
    tem_status status = TEM_OK;
    if (!c->is_whole)
        return eval_fail(error, TEM_ERR_FORMAT,
                         "the texts of a label have no word that the model knows");
    if (c->is_held_out)
        status = tem_channel_deconvolve(channel, &expected, c->some, c->held_out, l->classes,
                                        l->run, &how, shares, error);
    if (status != TEM_OK)
        return status;
    const uint32_t steps = !c->is_held_out ? STEPS_BLIND : how.steps > 0 ? how.steps : 1;
    how = (tem_deconvolution){.steps = steps};
    return tem_channel_deconvolve(channel, &expected, c->all, NULL, l->classes, l->run, &how,
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
    counted counts = {0};
    double *shares = calloc(size + l->classes, sizeof *shares); /* one more row: unknown words */
    t->logs = calloc(size + 1, sizeof *t->logs);
    tem_status status = shares == NULL || t->logs == NULL
                            ? eval_out_of_memory(error)
                            : counted_create(l, words, &counts, error);
    if (status == TEM_OK)
        status = deconvolve(l, channel, &counts, shares, error);
    if (status == TEM_OK)
        take_logs(shares, words, t);
    counted_free(&counts);
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

/* The probabilities are those of standardized scores: good for comparing classes, and no more. */
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

const learner learner_deconvolved = {"deconvolved", true, false, train, answer, release, NULL};
