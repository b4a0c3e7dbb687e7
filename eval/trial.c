/* trial.c - one trial of an evaluation, and its rows. */
#include "trial.h"

#include "export.h"
#include "failure.h"
#include "private_text.h"

#include <math.h>
#include <stdlib.h>

enum { BATCH = 64 };

void task_free(task *t) {
    corpus_free(&t->train);
    corpus_free(&t->test);
    embedding_free(&t->start);
    core_team_free(t->team);
    t->team = NULL;
}

void trial_close(trial *t) {
    if (t->number == 0)
        return;
    corpus_free(&t->learn);
    corpus_free(&t->others);
    corpus_free(&t->judge);
    corpus_free(&t->shadowed);
    bags_free(&t->learn_bags);
    bags_free(&t->others_bags);
    bags_free(&t->judge_bags);
    attack_free(&t->attack);
    *t = (trial){0};
}

static tem_status split(const task *t, trial *out, tem_error *error) {
    corpus halves[2];
    const uint64_t seed = chance_seed(t->seed, out->number, CHANCE_SPLIT);
    tem_status status = corpus_halve(&t->train, t->classes, seed, halves, error);
    if (status != TEM_OK)
        return status;
    out->learn = halves[0];
    out->others = halves[1];
    status = corpus_halve(&t->test, t->classes, seed + 1, halves, error);
    if (status != TEM_OK)
        return status;
    out->judge = halves[0];
    out->shadowed = halves[1];
    return TEM_OK;
}

static tem_status take_all(const task *t, trial *out, tem_error *error) {
    const tem_status status = corpus_copy(&t->train, &out->learn, error);
    return status == TEM_OK ? corpus_copy(&t->test, &out->judge, error) : status;
}

static training training_for(const trial *t, chance_purpose purpose) {
    return (training){.epochs = t->task->epochs,
                      .batch = BATCH,
                      .seed = chance_seed(t->task->seed, t->number, purpose)};
}

/* Chooses the initial vectors of a classifier; the caller frees *own. */
static tem_status begin_vectors(const trial *t, chance_purpose purpose, embedding *own,
                                const embedding **start, tem_error *error) {
    tem_model_info info;
    *start = t->task->random_init ? own : &t->task->start;
    if (!t->task->random_init)
        return TEM_OK;
    tem_model_get_info(t->task->model, &info);
    return embedding_random(info.words, info.dimension,
                            chance_seed(t->task->seed, t->number, purpose), own, error);
}

static tem_status train(const trial *t, const embedding *start, const bags *data,
                        const training *how, classifier *c, tem_error *error) {
    const task *k = t->task;
    return classifier_train(start, data, k->classes, how, k->team, k->run, c, error);
}

/* Trains the attack model on a shadow model's answers about its training text and other text. */
static tem_status learn_attack(const task *t, trial *out, const bags *own, tem_error *error) {
    classifier shadow = {0};
    float *in = NULL, *others = NULL;
    const training how = training_for(out, CHANCE_SHADOW);
    embedding vectors = {0};
    const embedding *start = NULL;
    tem_status status = begin_vectors(out, CHANCE_SHADOW_VECTORS, &vectors, &start, error);
    if (status == TEM_OK)
        status = train(out, start, own, &how, &shadow, error);
    embedding_free(&vectors);
    if (status == TEM_OK)
        status = classifier_predict(&shadow, own, t->team, &in, error);
    if (status == TEM_OK)
        status = classifier_predict(&shadow, &out->judge_bags, t->team, &others, error);
    if (status == TEM_OK)
        status =
            attack_train(in, own->count, others, out->judge_bags.count, t->classes,
                         chance_seed(t->seed, out->number, CHANCE_ATTACK), &out->attack, error);
    free(in);
    free(others);
    classifier_free(&shadow);
    return status;
}

/* Refuses empty data: numbers computed from nothing would look like results. */
static tem_status refuse_empty(const trial *t, tem_error *error) {
    const corpus *parts[] = {&t->learn, &t->judge, &t->others, &t->shadowed};
    for (int i = 0; i < (t->task->membership ? 4 : 2); i++)
        if (corpus_words(parts[i]) == 0)
            return eval_fail(error, TEM_ERR_FORMAT,
                             "a part of the texts is empty, or has no word that the model knows: "
                             "use more texts or another model");
    return TEM_OK;
}

tem_status trial_open(const task *t, uint32_t number, trial *out, tem_error *error) {
    trial made = {.task = t, .number = number};
    bags shadowed = {0};
    tem_status status = t->membership ? split(t, &made, error) : take_all(t, &made, error);
    if (status == TEM_OK)
        status = refuse_empty(&made, error);
    if (status == TEM_OK)
        status = bags_create(&made.learn, &made.learn_bags, error);
    if (status == TEM_OK)
        status = bags_create(&made.judge, &made.judge_bags, error);
    if (status == TEM_OK && t->membership)
        status = bags_create(&made.others, &made.others_bags, error);
    if (status == TEM_OK && t->membership)
        status = bags_create(&made.shadowed, &shadowed, error);
    if (status == TEM_OK && t->membership)
        status = learn_attack(t, &made, &shadowed, error);
    bags_free(&shadowed);
    if (status == TEM_OK)
        *out = made;
    else
        trial_close(&made);
    return status;
}

/* Runs the attack on the target's answers about its training text and about other text. */
static tem_status attack_target(const trial *t, const classifier *target, const bags *own,
                                const bags *others, double *auc, tem_error *error) {
    float *in = NULL, *out = NULL;
    tem_status status = classifier_predict(target, own, t->task->team, &in, error);
    if (status == TEM_OK)
        status = classifier_predict(target, others, t->task->team, &out, error);
    if (status == TEM_OK)
        status = attack_auc(&t->attack, in, own->count, out, others->count, auc, error);
    free(in);
    free(out);
    return status;
}

/* The text that a row's target learns from, and similar text that it does not see. */
typedef struct texts {
    corpus learn, others;
    bags learn_bags, others_bags;
} texts;

static void texts_free(texts *x) {
    corpus_free(&x->learn);
    corpus_free(&x->others);
    bags_free(&x->learn_bags);
    bags_free(&x->others_bags);
}

static tem_status draw_texts(const trial *t, const tem_mechanism *mechanism, texts *x,
                             tem_error *error) {
    const task *k = t->task;
    const uint64_t seed = chance_seed(k->seed, t->number, CHANCE_DRAW);
    tem_status status =
        private_text_draw(mechanism, &t->learn, seed, 0, k->team, k->run, &x->learn, error);
    if (status == TEM_OK)
        status = bags_create(&x->learn, &x->learn_bags, error);
    if (status == TEM_OK && k->membership)
        status = private_text_draw(mechanism, &t->others, seed, t->learn.count, k->team, k->run,
                                   &x->others, error);
    if (status == TEM_OK && k->membership)
        status = bags_create(&x->others, &x->others_bags, error);
    return status;
}

static tem_status test_target(const trial *t, const classifier *target, const texts *x,
                              eval_row *row, tem_error *error) {
    float *answers = NULL;
    tem_status status = classifier_predict(target, &t->judge_bags, t->task->team, &answers, error);
    if (status != TEM_OK)
        return status;
    row->accuracy = classifier_accuracy(answers, &t->judge_bags, t->task->classes);
    free(answers);
    if (!t->task->membership)
        return TEM_OK;
    status = attack_target(t, target, &t->learn_bags, &t->others_bags, &row->mia_auc, error);
    row->mia_auc_private = row->mia_auc;
    if (status == TEM_OK && x != NULL)
        status =
            attack_target(t, target, &x->learn_bags, &x->others_bags, &row->mia_auc_private, error);
    return status;
}

/* Counts unchanged words and the attacker's correct guesses. */
static tem_status count_draws(const trial *t, const texts *x, eval_row *row, tem_error *error) {
    tem_model_info info;
    row->self_drawn = private_text_kept(&t->learn, &x->learn);
    if (!t->task->membership)
        return TEM_OK;
    tem_model_get_info(t->task->model, &info);
    return private_text_guessed(&t->others, &x->others, &t->learn, &x->learn, info.words,
                                &row->bayes_drawn, error);
}

/* Trains the classifier under test; exports texts and result if requested. */
static tem_status train_target(const trial *t, const texts *x, const eval_row *row,
                               classifier *target, tem_error *error) {
    const task *k = t->task;
    const training how = training_for(t, CHANCE_TARGET);
    embedding vectors = {0};
    const embedding *start = NULL;
    tem_status status = begin_vectors(t, CHANCE_TARGET_VECTORS, &vectors, &start, error);
    if (status == TEM_OK && k->export_to != NULL && k->random_init)
        status = export_vectors(k->export_to, t->number, k->model, start, error);
    if (status == TEM_OK && k->export_to != NULL)
        status = export_texts(k->export_to, row, k->model, x != NULL ? &x->learn : &t->learn,
                              &t->judge, error);
    if (status == TEM_OK)
        status = train(t, start, x != NULL ? &x->learn_bags : &t->learn_bags, &how, target, error);
    embedding_free(&vectors);
    if (status == TEM_OK && k->export_to != NULL)
        status = export_classifier(k->export_to, row, k->model, target, &how, error);
    return status;
}

tem_status trial_row(const trial *t, const tem_mechanism *mechanism, eval_row *row,
                     tem_error *error) {
    texts x = {0};
    const texts *drawn = mechanism == NULL ? NULL : &x;
    classifier target = {0};
    eval_row made = *row;
    tem_status status = TEM_OK;
    made.accuracy = made.mia_auc = made.mia_auc_private = NAN;
    made.self_drawn = made.bayes_drawn = mechanism == NULL ? 1 : NAN;
    if (mechanism != NULL)
        status = draw_texts(t, mechanism, &x, error);
    if (status == TEM_OK && mechanism != NULL)
        status = count_draws(t, &x, &made, error);
    if (status == TEM_OK)
        status = train_target(t, drawn, &made, &target, error);
    if (status == TEM_OK)
        status = test_target(t, &target, drawn, &made, error);
    if (status == TEM_OK)
        *row = made;
    classifier_free(&target);
    texts_free(&x);
    return status;
}
