/* attack.c - membership inference. */
#include "attack.h"

#include "failure.h"

#include <stdlib.h>
#include <string.h>

enum { HIDDEN = 64, SIDES = 2, EPOCHS = 20, BATCH = 64, SCORE_AT_ONCE = 4096 };

void attack_free(attack *a) {
    for (int i = 0; i < 3; i++)
        dense_free(&a->layers[i]);
}

tem_status attack_create(uint32_t classes, chance *numbers, attack *a, tem_error *error) {
    const uint32_t sizes[4] = {classes, HIDDEN, HIDDEN, SIDES};
    tem_status status = TEM_OK;
    *a = (attack){0};
    for (int i = 0; i < 3 && status == TEM_OK; i++)
        status = dense_create(sizes[i], sizes[i + 1], numbers, &a->layers[i], error);
    if (status != TEM_OK)
        attack_free(a);
    return status;
}

/* Outputs of the layers for a batch of rows: the two hidden layers and the probabilities. */
typedef struct answers {
    float *hidden[2], *gradient, *sides;
} answers;

static void answers_free(answers *s) {
    free(s->hidden[0]);
    free(s->hidden[1]);
    free(s->gradient);
    free(s->sides);
}

static tem_status answers_create(uint32_t rows, answers *s, tem_error *error) {
    const uint64_t size = (uint64_t)rows * HIDDEN;
    *s = (answers){{adam_floats(size), adam_floats(size)},
                   adam_floats(size),
                   adam_floats((uint64_t)rows * SIDES)};
    if (s->hidden[0] != NULL && s->hidden[1] != NULL && s->gradient != NULL && s->sides != NULL)
        return TEM_OK;
    answers_free(s);
    return eval_out_of_memory(error);
}

static void forward(const attack *a, const float *rows, uint32_t count, answers *s) {
    dense_forward(&a->layers[0], rows, a->layers[0].in, count, s->hidden[0]);
    relu_forward(s->hidden[0], count * HIDDEN);
    dense_forward(&a->layers[1], s->hidden[0], HIDDEN, count, s->hidden[1]);
    relu_forward(s->hidden[1], count * HIDDEN);
    dense_forward(&a->layers[2], s->hidden[1], HIDDEN, count, s->sides);
    softmax(s->sides, count, SIDES);
}

static double learn(attack *a, const float *rows, const uint32_t *labels, uint32_t count,
                    answers *s) {
    forward(a, rows, count, s);
    const double loss = cross_entropy(s->sides, labels, count, SIDES);
    dense_backward(&a->layers[2], s->hidden[1], HIDDEN, s->sides, count, s->gradient);
    relu_backward(s->hidden[1], s->gradient, count * HIDDEN);
    /* hidden[1] is no longer needed: reuse it for the gradient of hidden[0] */
    dense_backward(&a->layers[1], s->hidden[0], HIDDEN, s->gradient, count, s->hidden[1]);
    relu_backward(s->hidden[0], s->hidden[1], count * HIDDEN);
    dense_backward(&a->layers[0], rows, a->layers[0].in, s->hidden[1], count, NULL);
    return loss;
}

tem_status attack_loss(attack *a, const float *rows, const uint32_t *labels, uint32_t count,
                       double *loss, tem_error *error) {
    answers s;
    const tem_status status = answers_create(count, &s, error);
    if (status != TEM_OK)
        return status;
    *loss = learn(a, rows, labels, count, &s);
    answers_free(&s);
    return TEM_OK;
}

/* The examples: row i belongs to a member if i < in_count. */
typedef struct examples {
    const float *in, *out;
    uint32_t in_count, count, classes;
} examples;

static void gather(const examples *e, const uint32_t *chosen, uint32_t count, float *rows,
                   uint32_t *labels) {
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = chosen[i];
        const bool member = at < e->in_count;
        const float *row = member ? e->in + (size_t)at * e->classes
                                  : e->out + (size_t)(at - e->in_count) * e->classes;
        memcpy(rows + (size_t)i * e->classes, row, e->classes * sizeof *rows);
        labels[i] = member;
    }
}

static void train_epochs(attack *a, const examples *e, const adam_schedule *schedule,
                         chance *numbers, uint32_t *order, float *rows, answers *s) {
    uint32_t labels[BATCH], t = 0;
    for (uint32_t i = 0; i < e->count; i++)
        order[i] = i;
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        chance_shuffle(numbers, order, e->count);
        for (uint32_t at = 0; at < e->count; at += BATCH) {
            const uint32_t count = e->count - at < BATCH ? e->count - at : BATCH;
            gather(e, order + at, count, rows, labels);
            learn(a, rows, labels, count, s);
            t++;
            for (int i = 0; i < 3; i++)
                dense_step(&a->layers[i], schedule, t);
        }
    }
}

tem_status attack_train(const float *in, uint32_t in_count, const float *out, uint32_t out_count,
                        uint32_t classes, uint64_t seed, attack *a, tem_error *error) {
    const examples e = {in, out, in_count, in_count + out_count, classes};
    chance numbers = {seed};
    adam_schedule schedule = {0};
    answers s = {0};
    attack made = {0};
    uint32_t *order = malloc((e.count + (size_t)1) * sizeof *order);
    float *rows = adam_floats((uint64_t)BATCH * classes);
    tem_status status = order == NULL || rows == NULL ? eval_out_of_memory(error) : TEM_OK;
    if (status == TEM_OK)
        status = adam_schedule_create((e.count + BATCH - 1) / BATCH * EPOCHS, &schedule, error);
    if (status == TEM_OK)
        status = attack_create(classes, &numbers, &made, error);
    if (status == TEM_OK)
        status = answers_create(BATCH, &s, error);
    if (status == TEM_OK) {
        train_epochs(&made, &e, &schedule, &numbers, order, rows, &s);
        *a = made;
    } else {
        attack_free(&made);
    }
    answers_free(&s);
    adam_schedule_free(&schedule);
    free(rows);
    free(order);
    return status;
}

/* The probability of "member" for each row. */
static void score(const attack *a, const float *rows, uint32_t count, answers *s, float *scores) {
    const uint32_t classes = a->layers[0].in;
    for (uint32_t at = 0; at < count; at += SCORE_AT_ONCE) {
        const uint32_t part = count - at < SCORE_AT_ONCE ? count - at : SCORE_AT_ONCE;
        forward(a, rows + (size_t)at * classes, part, s);
        for (uint32_t i = 0; i < part; i++)
            scores[at + i] = s->sides[i * SIDES + 1];
    }
}

tem_status attack_auc(const attack *a, const float *in, uint32_t in_count, const float *out,
                      uint32_t out_count, double *auc, tem_error *error) {
    answers s;
    tem_status status = answers_create(SCORE_AT_ONCE, &s, error);
    if (status != TEM_OK)
        return status;
    float *scores = adam_floats((uint64_t)in_count + out_count);
    if (scores == NULL) {
        status = eval_out_of_memory(error);
    } else {
        score(a, in, in_count, &s, scores);
        score(a, out, out_count, &s, scores + in_count);
        status = auc_of_scores(scores, in_count, scores + in_count, out_count, auc, error);
    }
    free(scores);
    answers_free(&s);
    return status;
}

typedef struct scored {
    float score;
    bool member;
} scored;

static int compare_scored(const void *a, const void *b) {
    const float x = ((const scored *)a)->score, y = ((const scored *)b)->score;
    return x < y ? -1 : x > y;
}

tem_status auc_of_scores(const float *in, uint32_t in_count, const float *out, uint32_t out_count,
                         double *auc, tem_error *error) {
    const uint64_t count = (uint64_t)in_count + out_count;
    scored *all = malloc((count + 1) * sizeof *all);
    if (all == NULL)
        return eval_out_of_memory(error);
    for (uint64_t i = 0; i < count; i++)
        all[i] = i < in_count ? (scored){in[i], true} : (scored){out[i - in_count], false};
    qsort(all, count, sizeof *all, compare_scored);
    double wins = 0, below = 0; /* pairs won so far; non-members with a lower score */
    for (uint64_t i = 0, next; i < count; i = next) {
        uint64_t members = 0;
        for (next = i; next < count && !(all[next].score > all[i].score); next++)
            members += all[next].member;
        const double others = (double)(next - i - members);
        wins += (double)members * (below + others / 2);
        below += others;
    }
    free(all);
    *auc = in_count > 0 && out_count > 0 ? wins / ((double)in_count * out_count) : 0.5;
    return TEM_OK;
}
