/* learner_linear.c - logistic regression on the mean vectors of texts.
 *
 * Both learners apply the weights to the mean of the vectors x_w of an original text. They differ
 * in the vectors of released words: "linear" takes x_y, the vector of the released word;
 * "posterior" takes m(y), the mean of the vectors of the words that may be behind it
 * (tem_channel_posterior).
 *
 * Released and original texts are each standardized by their own mean and deviation, which needs no
 * label. Means of released text lie nearer to the mean of all; with one scaling for both kinds, the
 * original texts would lie outside of the range that was learned. */
#include "failure.h"
#include "learner.h"
#include "tem_learn.h"
#include "text_means.h"
#include "validation.h"

#include <stdlib.h>

typedef struct trained {
    linear weights;
    uint32_t columns;
    const double *original_vectors; /* x_w, of the knowledge */
    double *posterior;              /* m(y); NULL: x_y */
    scaling released, original;
    double penalty;
} trained;

static void release(void *context) {
    trained *t = context;
    if (t == NULL)
        return;
    linear_free(&t->weights);
    free(t->posterior);
    scaling_free(&t->released);
    scaling_free(&t->original);
    free(t);
}

static const double *released_vectors(const trained *t) {
    return t->posterior != NULL ? t->posterior : t->original_vectors;
}

static tem_status make_posterior(const lesson *l, trained *t, tem_error *error) {
    /* the evaluation leaves unknown words out */
    const tem_expectation expected = {.prior = l->known->prior, .unknown = 0};
    tem_channel *channel = NULL;
    tem_status status = tem_channel_create(l->mechanism, l->run, &channel, error);
    if (status != TEM_OK)
        return status;
    t->posterior =
        calloc((size_t)tem_channel_outputs(channel) * t->columns + 1, sizeof *t->posterior);
    status = t->posterior == NULL ? eval_out_of_memory(error)
                                  : tem_channel_posterior(channel, &expected, t->original_vectors,
                                                          t->columns, l->run, t->posterior, error);
    tem_channel_free(channel);
    return status;
}

/* The scaling of original texts, from texts without their labels. */
static tem_status scale_originals(const lesson *l, trained *t, tem_error *error) {
    float *rows = NULL;
    tem_status status =
        text_means_create(t->original_vectors, t->columns, &l->others, l->team, &rows, error);
    if (status == TEM_OK)
        status = scaling_create(rows, l->others.count, t->columns, &t->original, error);
    free(rows);
    return status;
}

/* The penalty that the user named, or else the one that the released training texts choose. */
static tem_status find_penalty(const lesson *l, const examples *e, double *penalty,
                               tem_error *error) {
    *penalty = l->known->penalty;
    if (*penalty > 0)
        return TEM_OK;
    return validation_penalty(e, l->text_bags->labels, l->classes, l->team, l->run, penalty, error);
}

static tem_status fit(const lesson *l, trained *t, tem_error *error) {
    float *rows = NULL;
    tem_status status =
        text_means_create(released_vectors(t), t->columns, l->text_bags, l->team, &rows, error);
    if (status == TEM_OK)
        status = scaling_create(rows, l->text_bags->count, t->columns, &t->released, error);
    if (status == TEM_OK) {
        scaling_apply(&t->released, rows, l->text_bags->count);
        const examples e = {l->text_bags->count, t->columns + 1, rows};
        status = find_penalty(l, &e, &t->penalty, error);
        if (status == TEM_OK)
            status = linear_train(&e, l->text_bags->labels, l->classes, t->penalty, l->team, l->run,
                                  &t->weights, error);
    }
    free(rows);
    return status;
}

static tem_status train(const learner *self, const lesson *l, void **out, tem_error *error) {
    trained *t = calloc(1, sizeof *t);
    if (t == NULL)
        return eval_out_of_memory(error);
    t->columns = l->known->columns;
    t->original_vectors = l->known->vectors;
    tem_status status = TEM_OK;
    if (self->needs_law && l->mechanism != NULL)
        status = make_posterior(l, t, error);
    if (status == TEM_OK)
        status = scale_originals(l, t, error);
    if (status == TEM_OK)
        status = fit(l, t, error);
    if (status == TEM_OK)
        *out = t;
    else
        release(t);
    return status;
}

static tem_status answer(const void *context, const bags *texts, bool released, core_team *team,
                         float **out, tem_error *error) {
    const trained *t = context;
    float *rows = NULL;
    tem_status status = text_means_create(released ? released_vectors(t) : t->original_vectors,
                                          t->columns, texts, team, &rows, error);
    if (status != TEM_OK)
        return status;
    scaling_apply(released ? &t->released : &t->original, rows, texts->count);
    const examples e = {texts->count, t->columns + 1, rows};
    status = linear_predict(&t->weights, &e, out, error);
    free(rows);
    return status;
}

static double penalty_of(const void *context) {
    return ((const trained *)context)->penalty;
}

const learner learner_linear = {"linear", false, true, train, answer, release, penalty_of};
const learner learner_posterior = {"posterior", true, true, train, answer, release, penalty_of};
