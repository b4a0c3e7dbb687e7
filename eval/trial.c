/* trial.c - one trial of an evaluation, and its rows. */
#include "trial.h"

#include "export.h"
#include "failure.h"
#include "private_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 64 };

void task_free(task *t) {
    corpus_free(&t->train);
    corpus_free(&t->test);
    embedding_free(&t->start);
    knowledge_free(&t->known);
    core_team_free(t->team);
    t->team = NULL;
}

static void drawn_texts_free(drawn_texts *x) {
    corpus_free(&x->learn);
    corpus_free(&x->others);
    bags_free(&x->learn_bags);
    bags_free(&x->others_bags);
    *x = (drawn_texts){0};
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
    bags_free(&t->shadowed_bags);
    for (size_t i = 0; i < LEARNERS_MAX; i++)
        if (t->is_attacked[i])
            attack_free(&t->attacks[i]);
    drawn_texts_free(&t->drawn);
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

/* What a learner learns from the text. */
static lesson lesson_of(const trial *t, const tem_mechanism *mechanism, const corpus *text,
                        const bags *text_bags, chance_purpose purpose, const embedding *start) {
    const task *k = t->task;
    bags others = t->judge_bags;
    others.labels = NULL;
    return (lesson){.mechanism = mechanism,
                    .text = text,
                    .text_bags = text_bags,
                    .others = others,
                    .classes = k->classes,
                    .known = &k->known,
                    .start = start,
                    .how = training_for(t, purpose),
                    .team = k->team,
                    .run = k->run};
}

/* Trains the attack model on a shadow model's answers about its training text and other text. Both
 * are original, so the shadow model answers about both in the same way. */
static tem_status learn_attack(trial *t, const learner *by, attack *a, tem_error *error) {
    const task *k = t->task;
    void *shadow = NULL;
    float *in = NULL, *others = NULL;
    embedding vectors = {0};
    const embedding *start = NULL;
    tem_status status = begin_vectors(t, CHANCE_SHADOW_VECTORS, &vectors, &start, error);
    if (status == TEM_OK) {
        const lesson l = lesson_of(t, NULL, &t->shadowed, &t->shadowed_bags, CHANCE_SHADOW, start);
        status = by->train(by, &l, &shadow, error);
    }
    embedding_free(&vectors);
    if (status == TEM_OK)
        status = by->answer(shadow, &t->shadowed_bags, true, k->team, &in, error);
    if (status == TEM_OK)
        status = by->answer(shadow, &t->judge_bags, true, k->team, &others, error);
    if (status == TEM_OK)
        status = attack_train(in, t->shadowed.count, others, t->judge.count, k->classes,
                              chance_seed(k->seed, t->number, CHANCE_ATTACK), a, error);
    free(in);
    free(others);
    by->free(shadow);
    return status;
}

/* The attack on a learner; made on first use. */
static tem_status find_attack(trial *t, const learner *by, const attack **a, tem_error *error) {
    const size_t place = learner_place(by->name);
    tem_status status = TEM_OK;
    if (!t->is_attacked[place])
        status = learn_attack(t, by, &t->attacks[place], error);
    if (status != TEM_OK)
        return status;
    t->is_attacked[place] = true;
    *a = &t->attacks[place];
    return TEM_OK;
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
        status = bags_create(&made.shadowed, &made.shadowed_bags, error);
    if (status == TEM_OK)
        *out = made;
    else
        trial_close(&made);
    return status;
}

/* Counts unchanged words and the attacker's correct guesses. */
static tem_status count_draws(const trial *t, drawn_texts *x, tem_error *error) {
    tem_model_info info;
    x->self_drawn = private_text_kept(&t->learn, &x->learn);
    x->bayes_drawn = NAN;
    if (!t->task->membership)
        return TEM_OK;
    tem_model_get_info(t->task->model, &info);
    return private_text_guessed(&t->others, &x->others, &t->learn, &x->learn, info.words,
                                &x->bayes_drawn, error);
}

static tem_status draw_texts(const trial *t, const tem_mechanism *mechanism, drawn_texts *x,
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
    return status == TEM_OK ? count_draws(t, x, error) : status;
}

/* Draws the texts of a row, unless those of the last row are the same: the same mechanism, and so
 * the same random numbers. */
static tem_status find_texts(trial *t, const tem_mechanism *mechanism, const eval_row *row,
                             tem_error *error) {
    if (t->drawn.epsilon == row->epsilon && strcmp(t->drawn.mechanism, row->mechanism) == 0)
        return TEM_OK;
    drawn_texts_free(&t->drawn);
    const tem_status status = draw_texts(t, mechanism, &t->drawn, error);
    if (status != TEM_OK) {
        drawn_texts_free(&t->drawn);
        return status;
    }
    snprintf(t->drawn.mechanism, sizeof t->drawn.mechanism, "%s", row->mechanism);
    t->drawn.epsilon = row->epsilon;
    return TEM_OK;
}

/* The classifier under test. */
typedef struct target {
    const learner *learner;
    void *trained;
} target;

/* Runs the attack on the target's answers about its training text and about other text. */
static tem_status attack_target(const trial *t, const target *x, const attack *a, const bags *own,
                                const bags *others, bool released, double *auc, tem_error *error) {
    core_team *team = t->task->team;
    float *in = NULL, *out = NULL;
    tem_status status = x->learner->answer(x->trained, own, released, team, &in, error);
    if (status == TEM_OK)
        status = x->learner->answer(x->trained, others, released, team, &out, error);
    if (status == TEM_OK)
        status = attack_auc(a, in, own->count, out, others->count, auc, error);
    free(in);
    free(out);
    return status;
}

static tem_status attack_both(trial *t, const target *x, const drawn_texts *drawn, eval_row *row,
                              tem_error *error) {
    const attack *a = NULL;
    tem_status status = find_attack(t, x->learner, &a, error);
    if (status == TEM_OK)
        status =
            attack_target(t, x, a, &t->learn_bags, &t->others_bags, false, &row->mia_auc, error);
    row->mia_auc_private = row->mia_auc;
    if (status == TEM_OK && drawn != NULL)
        status = attack_target(t, x, a, &drawn->learn_bags, &drawn->others_bags, true,
                               &row->mia_auc_private, error);
    return status;
}

static tem_status test_target(trial *t, const target *x, const drawn_texts *drawn, eval_row *row,
                              tem_error *error) {
    float *answers = NULL;
    tem_status status =
        x->learner->answer(x->trained, &t->judge_bags, false, t->task->team, &answers, error);
    if (status != TEM_OK)
        return status;
    row->accuracy = classifier_accuracy(answers, &t->judge_bags, t->task->classes);
    free(answers);
    if (!t->task->membership || !x->learner->is_attacked)
        return TEM_OK;
    return attack_both(t, x, drawn, row, error);
}

/* Writes the texts of a row, if requested, and its first vectors. */
static tem_status export_before(const trial *t, const drawn_texts *drawn, const eval_row *row,
                                const embedding *start, tem_error *error) {
    const task *k = t->task;
    tem_status status = TEM_OK;
    if (k->export_to != NULL && k->random_init)
        status = export_vectors(k->export_to, t->number, k->model, start, error);
    if (status == TEM_OK && k->export_to != NULL)
        status = export_texts(k->export_to, row, k->model,
                              drawn != NULL ? &drawn->learn : &t->learn, &t->judge, error);
    return status;
}

/* Trains the classifier under test; exports texts and result if requested. */
static tem_status train_target(const trial *t, const tem_mechanism *mechanism,
                               const drawn_texts *drawn, const eval_row *row, target *x,
                               tem_error *error) {
    const task *k = t->task;
    embedding vectors = {0};
    const embedding *start = NULL;
    tem_status status = begin_vectors(t, CHANCE_TARGET_VECTORS, &vectors, &start, error);
    const lesson l =
        lesson_of(t, mechanism, drawn != NULL ? &drawn->learn : &t->learn,
                  drawn != NULL ? &drawn->learn_bags : &t->learn_bags, CHANCE_TARGET, start);
    if (status == TEM_OK)
        status = export_before(t, drawn, row, start, error);
    if (status == TEM_OK)
        status = x->learner->train(x->learner, &l, &x->trained, error);
    embedding_free(&vectors);
    if (status == TEM_OK && k->export_to != NULL && x->learner == &learner_paper)
        status = export_classifier(k->export_to, row, k->model,
                                   learner_paper_classifier(x->trained), &l.how, error);
    return status;
}

tem_status trial_row(trial *t, const learner *by, const tem_mechanism *mechanism, eval_row *row,
                     tem_error *error) {
    target tested = {.learner = by};
    eval_row made = *row;
    const drawn_texts *drawn = mechanism == NULL ? NULL : &t->drawn;
    tem_status status = mechanism == NULL ? TEM_OK : find_texts(t, mechanism, row, error);
    if (status != TEM_OK)
        return status;
    made.accuracy = made.mia_auc = made.mia_auc_private = made.penalty = NAN;
    made.self_drawn = drawn == NULL ? 1 : drawn->self_drawn;
    made.bayes_drawn = drawn == NULL ? 1 : drawn->bayes_drawn;
    status = train_target(t, mechanism, drawn, &made, &tested, error);
    if (status == TEM_OK && by->penalty != NULL)
        made.penalty = by->penalty(tested.trained);
    if (status == TEM_OK)
        status = test_target(t, &tested, drawn, &made, error);
    if (status == TEM_OK)
        *row = made;
    by->free(tested.trained);
    return status;
}
