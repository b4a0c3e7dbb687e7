/* classifier.c - the text classifier.
 *
 * In a batch, dL/d(vector of word w) = sum over documents and classes of
 *     share of w in the document * dL/d(score of the class) * weights of the class,
 * so a word needs one number per class, and its gradient is a sum of rows of the layer. */
#include "classifier.h"

#include "failure.h"

#include <stdlib.h>
#include <string.h>

enum { PREDICT_AT_ONCE = 1024 };

static tem_status embedding_create(uint32_t words, uint32_t dimension, embedding *e,
                                   tem_error *error) {
    const uint32_t stride = adam_padded(dimension);
    float *rows = adam_floats((uint64_t)words * stride);
    if (rows == NULL)
        return eval_out_of_memory(error);
    *e = (embedding){words, dimension, stride, rows};
    return TEM_OK;
}

static float *row_of(const embedding *e, uint32_t word) {
    return e->rows + (size_t)word * e->stride;
}

tem_status embedding_of_model(const tem_model *model, embedding *e, tem_error *error) {
    tem_model_info info;
    embedding made;
    tem_model_get_info(model, &info);
    tem_status status = embedding_create(info.words, info.dimension, &made, error);
    if (status != TEM_OK)
        return status;
    for (uint32_t word = 0; word < info.words && status == TEM_OK; word++)
        status = tem_model_vector(model, word, row_of(&made, word), error);
    if (status == TEM_OK)
        *e = made;
    else
        embedding_free(&made);
    return status;
}

tem_status embedding_random(uint32_t words, uint32_t dimension, uint64_t seed, embedding *e,
                            tem_error *error) {
    chance numbers = {seed};
    const tem_status status = embedding_create(words, dimension, e, error);
    for (uint32_t word = 0; word < words && status == TEM_OK; word++)
        for (uint32_t i = 0; i < dimension; i++)
            row_of(e, word)[i] = (float)chance_normal(&numbers);
    return status;
}

void embedding_free(embedding *e) {
    free(e->rows);
    *e = (embedding){0};
}

void classifier_free(classifier *c) {
    embedding_free(&c->vectors);
    dense_free(&c->layer);
    *c = (classifier){0};
}

/* The state of one training. A slot is a word of the current batch. */
typedef struct trainer {
    classifier *c;
    const bags *data;
    const training *how;
    adam_schedule schedule;
    uint32_t t; /* the current step, from 1 */

    float *mean, *square; /* Adam's moments of the vectors */
    uint32_t *last;       /* [word]: last step applied to its row; 0: the word has not occurred */

    const uint32_t *documents; /* of the batch */
    uint32_t batch;
    uint32_t *slot_of; /* [word]: its slot + 1 in this batch, or 0 */
    uint32_t *words;   /* [slot] */
    uint32_t slots;
    float *shares;   /* [slot * classes + k]: see the top of this file */
    float *averages; /* of the documents, `stride` apart */
    float *scores;
} trainer;

static void average_into(const embedding *e, const bags *data, uint32_t document, float *out) {
    memset(out, 0, e->stride * sizeof *out);
    for (uint64_t i = data->starts[document]; i < data->starts[document + 1]; i++)
        adam_add(out, row_of(e, data->words[i]), data->shares[i], e->stride);
}

static void find_slots(trainer *t) {
    for (uint32_t i = 0; i < t->slots; i++)
        t->slot_of[t->words[i]] = 0;
    t->slots = 0;
    for (uint32_t d = 0; d < t->batch; d++)
        for (uint64_t i = t->data->starts[t->documents[d]];
             i < t->data->starts[t->documents[d] + 1]; i++) {
            const uint32_t word = t->data->words[i];
            if (t->slot_of[word] == 0) {
                t->words[t->slots] = word;
                t->slot_of[word] = ++t->slots;
            }
        }
    memset(t->shares, 0, (size_t)t->slots * t->c->classes * sizeof *t->shares);
}

static void catch_up_word(trainer *t, uint32_t word, uint32_t until) {
    const embedding *e = &t->c->vectors;
    const size_t at = (size_t)word * e->stride;
    if (t->last[word] == 0 || t->last[word] >= until)
        return;
    adam_idle(&t->schedule, t->last[word] + 1, until, e->rows + at, t->mean + at, t->square + at,
              e->stride);
    t->last[word] = until;
}

static void catch_up_slots(void *context, uint64_t first, uint64_t last) {
    trainer *t = context;
    for (uint64_t i = first; i < last; i++)
        catch_up_word(t, t->words[i], t->t - 1);
}

static void catch_up_words(void *context, uint64_t first, uint64_t last) {
    trainer *t = context;
    for (uint64_t word = first; word < last; word++)
        catch_up_word(t, (uint32_t)word, t->t);
}

static void average_documents(void *context, uint64_t first, uint64_t last) {
    trainer *t = context;
    const embedding *e = &t->c->vectors;
    for (uint64_t d = first; d < last; d++)
        average_into(e, t->data, t->documents[d], t->averages + d * e->stride);
}

/* Computes scores, loss, the layer's gradients and the slots' shares. */
static double learn_layer(trainer *t) {
    uint32_t labels[t->batch];
    dense *layer = &t->c->layer;
    const uint32_t classes = t->c->classes, stride = t->c->vectors.stride;
    for (uint32_t d = 0; d < t->batch; d++)
        labels[d] = t->data->labels[t->documents[d]];
    dense_forward(layer, t->averages, stride, t->batch, t->scores);
    softmax(t->scores, t->batch, classes);
    const double loss = cross_entropy(t->scores, labels, t->batch, classes);
    dense_backward(layer, t->averages, stride, t->scores, t->batch, NULL);
    for (uint32_t d = 0; d < t->batch; d++)
        for (uint64_t i = t->data->starts[t->documents[d]];
             i < t->data->starts[t->documents[d] + 1]; i++)
            for (uint32_t k = 0; k < classes; k++)
                t->shares[(size_t)(t->slot_of[t->data->words[i]] - 1) * classes + k] +=
                    t->data->shares[i] * t->scores[d * classes + k];
    return loss;
}

/* gradient: `stride` floats. The layer's rows are not padded, so Adam's loops do not fit here. */
static void slot_gradient(const trainer *t, uint64_t slot, float *gradient) {
    const uint32_t dimension = t->c->vectors.dimension;
    memset(gradient, 0, t->c->vectors.stride * sizeof *gradient);
    for (uint32_t k = 0; k < t->c->classes; k++) {
        const float *weights = t->c->layer.weights + (size_t)k * dimension;
        const float share = t->shares[slot * t->c->classes + k];
        for (uint32_t i = 0; i < dimension; i++)
            gradient[i] += share * weights[i];
    }
}

static void step_slots(void *context, uint64_t first, uint64_t last) {
    trainer *t = context;
    const embedding *e = &t->c->vectors;
    float gradient[TEM_DIMENSION_MAX + ADAM_LANES] __attribute__((aligned(64)));
    for (uint64_t slot = first; slot < last; slot++) {
        const size_t at = (size_t)t->words[slot] * e->stride;
        slot_gradient(t, slot, gradient);
        adam_step(&t->schedule, t->t, e->rows + at, t->mean + at, t->square + at, gradient,
                  e->stride);
        t->last[t->words[slot]] = t->t;
    }
}

/* Takes the step of the words that are not in the batch now, instead of later. */
static void step_others(trainer *t) {
    const embedding *e = &t->c->vectors;
    static const float zero[TEM_DIMENSION_MAX + ADAM_LANES] __attribute__((aligned(64)));
    for (uint32_t word = 0; word < e->words; word++) {
        const size_t at = (size_t)word * e->stride;
        if (t->slot_of[word] == 0)
            adam_step(&t->schedule, t->t, e->rows + at, t->mean + at, t->square + at, zero,
                      e->stride);
        t->last[word] = t->t;
    }
}

static tem_status train_batch(trainer *t, const workers *w, tem_error *error) {
    t->t++;
    find_slots(t);
    tem_status status = ranges_run(w, t->slots, catch_up_slots, t, error);
    if (status == TEM_OK)
        status = ranges_run(w, t->batch, average_documents, t, error);
    if (status != TEM_OK)
        return status;
    learn_layer(t);
    /* before the layer's step: it needs the old weights */
    status = ranges_run(w, t->slots, step_slots, t, error);
    if (status != TEM_OK)
        return status;
    dense_step(&t->c->layer, &t->schedule, t->t);
    if (t->how->dense)
        step_others(t);
    return TEM_OK;
}

static tem_status train_epochs(trainer *t, uint32_t *order, chance *numbers, core_team *team,
                               const tem_run *run, tem_error *error) {
    workers w = {team, run, "training", 0, t->schedule.steps};
    tem_status status = TEM_OK;
    for (uint32_t i = 0; i < t->data->count; i++)
        order[i] = i;
    for (uint32_t epoch = 0; epoch < t->how->epochs; epoch++) {
        chance_shuffle(numbers, order, t->data->count);
        for (uint32_t at = 0; at < t->data->count && status == TEM_OK; at += t->batch) {
            const uint32_t left = t->data->count - at;
            t->documents = order + at;
            t->batch = left < t->how->batch ? left : t->how->batch;
            w.done = t->t;
            status = train_batch(t, &w, error);
            if (status == TEM_OK)
                status = eval_progress(run, w.stage, t->t, w.total, error);
        }
    }
    if (status == TEM_OK)
        status = ranges_run(&w, t->c->vectors.words, catch_up_words, t, error);
    return status;
}

static void trainer_free(trainer *t) {
    adam_schedule_free(&t->schedule);
    free(t->mean);
    free(t->square);
    free(t->last);
    free(t->slot_of);
    free(t->words);
    free(t->shares);
    free(t->averages);
    free(t->scores);
}

/* Allocates the state of a training of c, whose vectors and layer exist already. */
static tem_status trainer_create(trainer *t, tem_error *error) {
    const embedding *e = &t->c->vectors;
    const uint64_t per_epoch = (t->data->count + (uint64_t)t->how->batch - 1) / t->how->batch;
    if (per_epoch * t->how->epochs > INT32_MAX)
        return eval_fail(error, TEM_ERR_RANGE,
                         "too many steps: use fewer epochs or larger batches");
    tem_status status =
        adam_schedule_create((uint32_t)(per_epoch * t->how->epochs), &t->schedule, error);
    if (status != TEM_OK)
        return status;
    t->mean = adam_floats((uint64_t)e->words * e->stride);
    t->square = adam_floats((uint64_t)e->words * e->stride);
    t->last = calloc(e->words, sizeof *t->last);
    t->slot_of = calloc(e->words, sizeof *t->slot_of);
    t->words = calloc(e->words, sizeof *t->words);
    t->shares = adam_floats((uint64_t)e->words * t->c->classes);
    t->averages = adam_floats((uint64_t)t->how->batch * e->stride);
    t->scores = adam_floats((uint64_t)t->how->batch * t->c->classes);
    if (t->mean == NULL || t->square == NULL || t->last == NULL || t->slot_of == NULL ||
        t->words == NULL || t->shares == NULL || t->averages == NULL || t->scores == NULL)
        return eval_out_of_memory(error);
    return TEM_OK;
}

static tem_status classifier_begin(const embedding *start, uint32_t classes, chance *numbers,
                                   classifier *c, tem_error *error) {
    *c = (classifier){.classes = classes};
    tem_status status = embedding_create(start->words, start->dimension, &c->vectors, error);
    if (status == TEM_OK)
        memcpy(c->vectors.rows, start->rows,
               (size_t)start->words * start->stride * sizeof *start->rows);
    if (status == TEM_OK)
        status = dense_create(start->dimension, classes, numbers, &c->layer, error);
    return status;
}

tem_status classifier_train(const embedding *start, const bags *data, uint32_t classes,
                            const training *how, core_team *team, const tem_run *run,
                            classifier *out, tem_error *error) {
    chance numbers = {how->seed};
    classifier c;
    tem_status status = classifier_begin(start, classes, &numbers, &c, error);
    trainer t = {.c = &c, .data = data, .how = how, .batch = how->batch};
    uint32_t *order = malloc((data->count + (size_t)1) * sizeof *order);
    if (status == TEM_OK)
        status = trainer_create(&t, error);
    if (status == TEM_OK && order == NULL)
        status = eval_out_of_memory(error);
    if (status == TEM_OK)
        status = train_epochs(&t, order, &numbers, team, run, error);
    free(order);
    trainer_free(&t);
    if (status == TEM_OK)
        *out = c;
    else
        classifier_free(&c);
    return status;
}

/* A prediction of many documents, in parallel. */
typedef struct prediction {
    const classifier *c;
    const bags *data;
    uint32_t first;
    float *averages;
} prediction;

static void average_for_prediction(void *context, uint64_t first, uint64_t last) {
    prediction *p = context;
    const embedding *e = &p->c->vectors;
    for (uint64_t i = first; i < last; i++)
        average_into(e, p->data, p->first + (uint32_t)i, p->averages + i * e->stride);
}

tem_status classifier_predict(const classifier *c, const bags *data, core_team *team, float **out,
                              tem_error *error) {
    prediction p = {c, data, 0, adam_floats((uint64_t)PREDICT_AT_ONCE * c->vectors.stride)};
    float *all = adam_floats((uint64_t)data->count * c->classes);
    const workers w = {.team = team, .stage = "predicting"};
    tem_status status = TEM_OK;
    if (p.averages == NULL || all == NULL) {
        free(p.averages);
        free(all);
        return eval_out_of_memory(error);
    }
    for (; p.first < data->count && status == TEM_OK; p.first += PREDICT_AT_ONCE) {
        const uint32_t left = data->count - p.first;
        const uint32_t count = left < PREDICT_AT_ONCE ? left : PREDICT_AT_ONCE;
        status = ranges_run(&w, count, average_for_prediction, &p, error);
        dense_forward(&c->layer, p.averages, c->vectors.stride, count,
                      all + (size_t)p.first * c->classes);
    }
    free(p.averages);
    if (status != TEM_OK) {
        free(all);
        return status;
    }
    softmax(all, data->count, c->classes);
    *out = all;
    return TEM_OK;
}

double classifier_accuracy(const float *probabilities, const bags *data, uint32_t classes) {
    uint32_t right = 0;
    for (uint32_t d = 0; d < data->count; d++) {
        const float *row = probabilities + (size_t)d * classes;
        uint32_t best = 0;
        for (uint32_t k = 1; k < classes; k++)
            best = row[k] > row[best] ? k : best;
        right += best == data->labels[d];
    }
    return data->count > 0 ? (double)right / data->count : 0;
}

tem_status classifier_loss(const classifier *c, const bags *data, uint32_t word, float *gradient,
                           double *loss, tem_error *error) {
    classifier copy = *c; /* because the layer's gradients are written */
    const training how = {.epochs = 1, .batch = data->count};
    uint32_t documents[data->count];
    trainer t = {
        .c = &copy, .data = data, .how = &how, .documents = documents, .batch = data->count};
    for (uint32_t d = 0; d < data->count; d++)
        documents[d] = d;
    const tem_status status = trainer_create(&t, error);
    if (status == TEM_OK) {
        find_slots(&t);
        average_documents(&t, 0, t.batch);
        *loss = learn_layer(&t);
        float row[TEM_DIMENSION_MAX + ADAM_LANES];
        if (gradient != NULL && t.slot_of[word] != 0)
            slot_gradient(&t, t.slot_of[word] - 1, row);
        else
            memset(row, 0, sizeof row);
        if (gradient != NULL)
            memcpy(gradient, row, c->vectors.dimension * sizeof *gradient);
    }
    trainer_free(&t);
    return status;
}
