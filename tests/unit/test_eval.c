/* test_eval.c - the evaluation as a whole, on small made-up reviews. The evaluation finds a planted
 * signal and finds none in random labels; an over-fitted classifier gives its members away; a run
 * continues an interrupted one; bad data is refused, with file and line. */
#include "blas.h"
#include "chance.h"
#include "eval.h"
#include "gnuplot.h"
#include "knowledge.h"
#include "labelled.h"
#include "plan.h"
#include "private_text.h"
#include "results.h"
#include "tem_adapt.h"
#include "trial.h"
#include "validation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 400, DIMENSION = 24, PATH = 512 };

static tem_model *model;
static char folder[PATH];

static const char *in_folder(const char *format, ...) {
    static char paths[4][PATH];
    static unsigned next;
    char *path = paths[next++ % 4];
    va_list arguments;
    const int length = snprintf(path, PATH, "%s/", folder);
    va_start(arguments, format);
    vsnprintf(path + length, PATH - (size_t)length, format, arguments);
    va_end(arguments);
    return path;
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void read_text(const char *path, char *text, size_t bytes) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, bytes - 1, file)] = '\0';
    fclose(file);
}

/* A text of random words. With probability `signal` a word shows the label: words of class 1 are in
 * the upper half of the vocabulary. */
static void make_text(char *text, size_t bytes, int label, int words, double signal, chance *c) {
    size_t length = 0;
    for (int i = 0; i < words; i++) {
        uint32_t word = (uint32_t)(chance_unit(c) * WORDS);
        if (chance_unit(c) < signal)
            word = word / 2 + (label == 1 ? WORDS / 2 : 0);
        length += (size_t)snprintf(text + length, bytes - length, i % 9 == 4 ? "W%u<br />" : "w%u ",
                                   word);
    }
}

/* Reviews in the layout of aclImdb, `count` per class and part. */
static const char *make_reviews(const char *name, int count, int words, double signal) {
    static const char *const parts[] = {"train", "test"}, *const classes[] = {"neg", "pos"};
    chance c = {77};
    char text[4096];
    mkdir(in_folder("%s", name), 0777);
    for (int part = 0; part < 2; part++) {
        mkdir(in_folder("%s/%s", name, parts[part]), 0777);
        for (int label = 0; label < 2; label++) {
            mkdir(in_folder("%s/%s/%s", name, parts[part], classes[label]), 0777);
            for (int i = 0; i < count; i++) {
                make_text(text, sizeof text, label, words, signal, &c);
                write_file(in_folder("%s/%s/%s/%d_1.txt", name, parts[part], classes[label], i),
                           text);
            }
        }
    }
    return in_folder("%s", name);
}

static int remove_entry(const char *path, const struct stat *s, int kind, struct FTW *f) {
    (void)s;
    (void)kind;
    (void)f;
    return remove(path);
}

static int set_up(void **state) {
    (void)state;
    chance c = {5};
    static float values[WORDS * DIMENSION];
    static char names[WORDS][8];
    const char *words[WORDS];
    tem_vectors *vectors = NULL;
    for (int i = 0; i < WORDS * DIMENSION; i++)
        values[i] = (float)chance_normal(&c);
    for (int i = 0; i < WORDS; i++) {
        snprintf(names[i], sizeof names[i], "w%d", i);
        words[i] = names[i];
    }
    snprintf(folder, sizeof folder, "/tmp/tem-eval-XXXXXX");
    return mkdtemp(folder) == NULL ||
           tem_vectors_create(words, values, WORDS, DIMENSION, &vectors, NULL) != TEM_OK ||
           tem_model_build(vectors, NULL, NULL, &model, NULL) != TEM_OK ||
           (tem_vectors_free(vectors), 0);
}

static int tear_down(void **state) {
    (void)state;
    tem_model_free(model);
    return nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* The reports of an evaluation. */
typedef struct told {
    uint32_t rows, notes;
    eval_row last;
    char note[256];
    uint32_t kill_after; /* rows; 0: never */
} told;

static void tell(void *context, const eval_row *row, uint32_t done, uint32_t total, double left) {
    told *t = context;
    assert_true(done <= total && left >= 0);
    t->rows++;
    t->last = *row;
    if (t->rows == t->kill_after)
        raise(SIGKILL);
}

static void take_note(void *context, const char *sentence) {
    told *t = context;
    t->notes++;
    snprintf(t->note, sizeof t->note, "%s", sentence);
}

static eval_options options_for(const char *name, told *t) {
    static const tem_run run = {.threads = 2};
    return (eval_options){.model_path = "small.tem",
                          .folder = in_folder("%s", name),
                          .trials = 1,
                          .seed = 1,
                          .epochs = 20,
                          .run = &run,
                          .told = tell,
                          .note = take_note,
                          .context = t};
}

/* Computes the one requested row. */
static eval_row only(const char *data, const char *name, const char *row, uint32_t epochs) {
    told t = {0};
    tem_error error;
    eval_options options = options_for(name, &t);
    options.only = row;
    options.epochs = epochs;
    if (eval_imdb(model, data, &options, &error) != TEM_OK)
        fail_msg("%s", error.message);
    assert_int_equal(t.rows, 1);
    return t.last;
}

static void a_signal_is_found(void **state) {
    (void)state;
    char data[PATH];
    snprintf(data, sizeof data, "%s", make_reviews("clear", 100, 30, 0.5));
    eval_row row = only(data, "clear-out", "original::1", 300);
    assert_true(row.accuracy > 0.95);
    assert_true(row.self_drawn == 1 && row.bayes == 1);
    assert_true(row.mia_auc == row.mia_auc_private);
    row = only(data, "clear-out", "tem:8:1", 300); /* almost no noise on this vocabulary */
    assert_true(row.accuracy > 0.9 && row.self_drawn > 0.9);
    assert_true(row.self > 0.9 && row.bayes > 0.9);
    row = only(data, "clear-out", "tem:0.01:1", 300); /* only noise; 100 reviews */
    assert_true(fabs(row.accuracy - 0.5) < 0.2 && row.self_drawn < 0.02);
    assert_true(row.bayes < 0.2 && row.bayes_drawn < 0.02);
    row = only(data, "clear-out", "madlib:3000:1", 300);
    assert_true(row.accuracy > 0.9 && isnan(row.self) && isnan(row.bayes));
    assert_true(row.self_drawn > 0.9 && row.bayes_drawn > 0.9);
}

/* 400 test reviews: the standard deviation is 0.025, so 0.1 is four of them. */
static void no_signal_is_not_found(void **state) {
    (void)state;
    char data[PATH];
    snprintf(data, sizeof data, "%s", make_reviews("noise", 400, 12, 0));
    const eval_row row = only(data, "noise-out", "original::1", 10);
    assert_true(fabs(row.accuracy - 0.5) < 0.1);
}

/* Random labels, which a classifier can only memorize: it learns each review by heart. */
static void an_over_fitted_classifier_gives_its_members_away(void **state) {
    (void)state;
    char data[PATH];
    snprintf(data, sizeof data, "%s", make_reviews("heart", 60, 40, 0));
    const eval_row learned = only(data, "heart-out", "original::1", 400);
    assert_true(learned.mia_auc > 0.8);
}

/* ---------------------------------------------------------- the protocol -- */

/* Reviews in memory, as a task has them. `permuted`: the labels are shuffled, so that the text
 * still has two kinds, but the labels do not match them. */
static void make_corpus(corpus *c, uint32_t count, int words, double signal, bool permuted,
                        uint64_t seed) {
    chance numbers = {seed};
    char text[4096];
    for (uint32_t i = 0; i < count; i++) {
        make_text(text, sizeof text, (int)(i & 1), words, signal, &numbers);
        assert_int_equal(corpus_add(c, model, text, strlen(text), i & 1, NULL), TEM_OK);
    }
    if (permuted)
        chance_shuffle(&numbers, c->labels, count);
}

static void make_task(task *t, uint32_t count, int words, double signal, bool permuted) {
    *t = (task){.model = model, .classes = 2, .membership = true, .seed = 3};
    make_corpus(&t->train, count, words, signal, permuted, 101);
    make_corpus(&t->test, count, words, signal, permuted, 102);
    assert_int_equal(embedding_of_model(model, &t->start, NULL), TEM_OK);
    assert_int_equal(core_team_create(&(tem_run){.threads = 2}, &t->team, NULL), TEM_OK);
    assert_int_equal(blas_open(NULL), TEM_OK);
}

static tem_mechanism *make_mechanism(double epsilon) {
    tem_mechanism *mechanism = NULL;
    const tem_mechanism_options options = {.mechanism = "tem", .epsilon = epsilon};
    assert_int_equal(tem_mechanism_create(model, &options, &mechanism, NULL), TEM_OK);
    return mechanism;
}

/* The number of times that document i of `part` occurs in `whole`. */
static uint32_t occurrences(const corpus *part, uint32_t i, const corpus *whole) {
    uint32_t found = 0;
    const uint64_t length = part->starts[i + 1] - part->starts[i];
    for (uint32_t k = 0; k < whole->count; k++)
        found += whole->starts[k + 1] - whole->starts[k] == length &&
                 whole->labels[k] == part->labels[i] &&
                 memcmp(whole->words + whole->starts[k], part->words + part->starts[i],
                        length * sizeof *part->words) == 0;
    return found;
}

/* `half` has half of the documents of `whole`, and none of `other`. */
static void assert_half(const corpus *half, const corpus *whole, const corpus *other) {
    assert_int_equal(half->count, whole->count / 2);
    for (uint32_t i = 0; i < half->count; i++) {
        assert_int_equal(occurrences(half, i, whole), 1);
        assert_int_equal(occurrences(half, i, half), 1);
        assert_int_equal(occurrences(half, i, other), 0);
    }
}

/* The protocol of docs/EVALUATION.md again, in the order of that page, from the halves of a
 * trial. */
typedef struct reference {
    const trial *halves;
    corpus learn, others, redrawn;
    classifier target, shadow;
    attack attack;
} reference;

static classifier train_reference(const trial *t, const corpus *c, chance_purpose purpose,
                                  chance_purpose vectors) {
    const task *of = t->task;
    bags b;
    classifier k;
    embedding start;
    const training how = {
        .epochs = of->epochs, .batch = 64, .seed = chance_seed(of->seed, t->number, purpose)};
    if (of->random_init)
        assert_int_equal(embedding_random(WORDS, DIMENSION,
                                          chance_seed(of->seed, t->number, vectors), &start, NULL),
                         TEM_OK);
    else
        assert_int_equal(embedding_of_model(model, &start, NULL), TEM_OK);
    assert_int_equal(bags_create(c, &b, NULL), TEM_OK);
    assert_int_equal(classifier_train(&start, &b, 2, &how, NULL, NULL, &k, NULL), TEM_OK);
    embedding_free(&start);
    bags_free(&b);
    return k;
}

static float *answers_of(const classifier *k, const corpus *c, double *accuracy) {
    bags b;
    float *answers = NULL;
    assert_int_equal(bags_create(c, &b, NULL), TEM_OK);
    assert_int_equal(classifier_predict(k, &b, NULL, &answers, NULL), TEM_OK);
    if (accuracy != NULL)
        *accuracy = classifier_accuracy(answers, &b, 2);
    bags_free(&b);
    return answers;
}

static double auc_between(const reference *r, const corpus *members, const corpus *others) {
    double auc = 0;
    float *in = answers_of(&r->target, members, NULL), *out = answers_of(&r->target, others, NULL);
    assert_int_equal(attack_auc(&r->attack, in, members->count, out, others->count, &auc, NULL),
                     TEM_OK);
    free(in);
    free(out);
    return auc;
}

static void draw_reference(const tem_mechanism *m, const corpus *c, uint64_t seed,
                           uint64_t first_stream, corpus *out) {
    assert_int_equal(private_text_draw(m, c, seed, first_stream, NULL, NULL, out, NULL), TEM_OK);
}

static void reference_create(const trial *t, const tem_mechanism *mechanism, reference *r) {
    const task *k = t->task;
    const uint64_t draws = chance_seed(k->seed, t->number, CHANCE_DRAW);
    *r = (reference){.halves = t};
    draw_reference(mechanism, &t->learn, draws, 0, &r->learn);
    draw_reference(mechanism, &t->others, draws, t->learn.count, &r->others);
    draw_reference(mechanism, &t->learn, draws, 10 * (uint64_t)t->learn.count, &r->redrawn);
    r->target = train_reference(t, &r->learn, CHANCE_TARGET, CHANCE_TARGET_VECTORS);
    r->shadow = train_reference(t, &t->shadowed, CHANCE_SHADOW, CHANCE_SHADOW_VECTORS);
    float *in = answers_of(&r->shadow, &t->shadowed, NULL);
    float *out = answers_of(&r->shadow, &t->judge, NULL);
    assert_int_equal(attack_train(in, t->shadowed.count, out, t->judge.count, 2,
                                  chance_seed(k->seed, t->number, CHANCE_ATTACK), &r->attack, NULL),
                     TEM_OK);
    free(in);
    free(out);
}

static void reference_free(reference *r) {
    corpus_free(&r->learn);
    corpus_free(&r->others);
    corpus_free(&r->redrawn);
    classifier_free(&r->target);
    classifier_free(&r->shadow);
    attack_free(&r->attack);
}

/* TR1, TR2, TE1, TE2 have their roles, and a noisy row equals the one computed by hand to the last
 * bit. */
static void assert_protocol(bool random_init) {
    task k;
    trial t;
    reference r;
    eval_row row = {.mechanism = "tem", .epsilon = 2, .trial = 2};
    double accuracy = 0;
    tem_mechanism *mechanism = make_mechanism(2);
    make_task(&k, 200, 20, 0.3, false);
    k.epochs = 60;
    k.random_init = random_init;
    assert_int_equal(trial_open(&k, 2, &t, NULL), TEM_OK);
    assert_half(&t.learn, &k.train, &t.others);
    assert_half(&t.others, &k.train, &t.learn);
    assert_half(&t.judge, &k.test, &t.shadowed);
    assert_half(&t.shadowed, &k.test, &t.judge);
    const uint64_t judge = corpus_digest(&t.judge);
    reference_create(&t, mechanism, &r);
    assert_int_equal(trial_row(&t, &learner_paper, mechanism, &row, NULL), TEM_OK);
    assert_true(corpus_digest(&t.judge) == judge); /* the test text is unchanged */
    free(answers_of(&r.target, &t.judge, &accuracy));
    assert_true(row.accuracy == accuracy);
    assert_true(row.mia_auc == auc_between(&r, &t.learn, &t.others));
    assert_true(row.mia_auc_private == auc_between(&r, &r.learn, &r.others));
    assert_true(row.mia_auc != row.mia_auc_private);
    reference_free(&r);
    trial_close(&t);
    task_free(&k);
    tem_mechanism_free(mechanism);
}

static void the_protocol_is_the_documented_one(void **state) {
    (void)state;
    assert_protocol(false);
    assert_protocol(true);
}

/* Only noise, learned by heart. The model has never seen the original reviews, 150 on each side (an
 * AUC of 0.5, standard deviation 0.41/sqrt(150) = 0.033). It knows the drawn text. It does not know
 * a second draw of the same reviews. */
static void membership_is_of_the_text_that_was_seen(void **state) {
    (void)state;
    task k;
    trial t;
    reference r;
    eval_row row = {.mechanism = "tem", .epsilon = 0.01, .trial = 1};
    tem_mechanism *mechanism = make_mechanism(0.01);
    make_task(&k, 300, 20, 0, false);
    k.epochs = 1500;
    assert_int_equal(trial_open(&k, 1, &t, NULL), TEM_OK);
    assert_int_equal(trial_row(&t, &learner_paper, mechanism, &row, NULL), TEM_OK);
    reference_create(&t, mechanism, &r);
    assert_true(fabs(row.mia_auc - 0.5) < 0.1);
    assert_true(row.mia_auc_private > 0.67);
    assert_true(fabs(auc_between(&r, &r.redrawn, &r.others) - 0.5) < 0.1);
    reference_free(&r);
    trial_close(&t);
    task_free(&k);
    tem_mechanism_free(mechanism);
}

/* Models that have learned nothing. 2000 reviews on each side: the standard deviation of the AUC is
 * 0.41/sqrt(2000) = 0.009, so 0.03 is three of them. */
static void an_untrained_model_gives_nothing_away(void **state) {
    (void)state;
    task k;
    trial t;
    eval_row row = {.mechanism = "original", .trial = 1};
    make_task(&k, 4000, 12, 0.5, false);
    assert_int_equal(k.epochs, 0);
    assert_int_equal(trial_open(&k, 1, &t, NULL), TEM_OK);
    assert_int_equal(t.learn.count, 2000);
    assert_int_equal(trial_row(&t, &learner_paper, NULL, &row, NULL), TEM_OK);
    assert_true(fabs(row.mia_auc - 0.5) < 0.03);
    trial_close(&t);
    task_free(&k);
}

/* The text has two kinds, but the labels are random: 1000 test reviews, the standard deviation is
 * 0.016, so 0.05 is three of them. With the true labels the classifier learns the same text. */
static void permuted_labels_are_not_found(void **state) {
    (void)state;
    for (int permuted = 0; permuted < 2; permuted++) {
        task k;
        trial t;
        eval_row row = {.mechanism = "original", .trial = 1};
        make_task(&k, 2000, 12, 0.8, permuted != 0);
        k.epochs = 10;
        assert_int_equal(trial_open(&k, 1, &t, NULL), TEM_OK);
        assert_int_equal(trial_row(&t, &learner_paper, NULL, &row, NULL), TEM_OK);
        if (permuted) /* nor, so early, by heart: 1000 on each side, standard deviation 0.013 */
            assert_true(fabs(row.accuracy - 0.5) < 0.05 && fabs(row.mia_auc - 0.5) < 0.03);
        else
            assert_true(row.accuracy > 0.9);
        trial_close(&t);
        task_free(&k);
    }
}

static int compare_rows(const void *a, const void *b) {
    const eval_row *x = a, *y = b;
    const int names = strcmp(x->mechanism, y->mechanism);
    return names != 0 ? names : x->epsilon < y->epsilon ? -1 : x->epsilon > y->epsilon;
}

static void open_results(const char *name, const eval_row *like, results *r) {
    assert_int_equal(results_open(in_folder("%s", name), like, r, NULL), TEM_OK);
    if (r->count > 0)
        qsort(r->rows, r->count, sizeof *r->rows, compare_rows);
}

static tem_status run_plan(const char *data, const char *name, told *t, tem_error *error) {
    eval_options options = options_for(name, t);
    options.epochs = 3;
    options.epsilons = "2,1";
    options.mechanisms = "tem,original,madlib";
    return eval_imdb(model, data, &options, error);
}

static void append_torn_line(const char *path) {
    FILE *file = fopen(path, "ab");
    assert_non_null(file);
    fputs("{\"mechanism\": \"tem\", \"epsi", file);
    assert_int_equal(fclose(file), 0);
}

static void a_killed_run_goes_on(void **state) {
    (void)state;
    char data[PATH];
    told whole = {0}, rest = {0}, again = {0};
    results a, b;
    snprintf(data, sizeof data, "%s", make_reviews("plan", 20, 20, 0.4));
    assert_int_equal(run_plan(data, "whole", &whole, NULL), TEM_OK);
    assert_int_equal(whole.rows, 5);
    const pid_t child = fork();
    if (child == 0) {
        told killed = {.kill_after = 2};
        run_plan(data, "torn", &killed, NULL);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    append_torn_line(in_folder("torn/results.jsonl"));
    assert_int_equal(run_plan(data, "torn", &rest, NULL), TEM_OK);
    assert_int_equal(rest.rows, 3); /* two were finished */
    assert_int_equal(run_plan(data, "torn", &again, NULL), TEM_OK);
    assert_int_equal(again.rows, 0);
    open_results("whole", &whole.last, &a);
    open_results("torn", &whole.last, &b);
    assert_int_equal(a.count, 5);
    assert_int_equal(b.count, 5);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(compare_rows(&a.rows[i], &b.rows[i]), 0);
        assert_true(a.rows[i].accuracy == b.rows[i].accuracy);
        assert_true(a.rows[i].mia_auc == b.rows[i].mia_auc);
    }
    results_free(&a);
    results_free(&b);
    assert_int_equal(access(in_folder("torn/results.csv"), R_OK), 0);
    assert_int_equal(access(in_folder("torn/results.md"), R_OK), 0);
}

/* Stops at the n-th progress report. */
static int stop_after(void *context, const char *stage, uint64_t done, uint64_t total) {
    int *left = context;
    assert_true(stage != NULL && (total == 0 || done <= total));
    return --*left == 0;
}

static void a_cancelled_run_keeps_what_is_done(void **state) {
    (void)state;
    char data[PATH];
    snprintf(data, sizeof data, "%s", make_reviews("stopped", 6, 10, 0.4));
    uint32_t rows = 0;
    for (int n = 1; n < 1000000; n = n * 3 / 2 + 3) {
        told t = {0};
        tem_error error;
        int left = n;
        const tem_run run = {.threads = 1, .progress = stop_after, .progress_context = &left};
        eval_options options = options_for("stopped-out", &t);
        options.epochs = 3;
        options.mechanisms = "original,tem";
        options.epsilons = "1,2,3";
        options.run = &run;
        const tem_status status = eval_imdb(model, data, &options, &error);
        assert_true(status == (left <= 0 ? TEM_ERR_CANCELLED : TEM_OK));
        rows += t.rows;
    }
    assert_int_equal(rows, 4); /* each row finished once, over all these runs */
}

static void threads_change_no_result(void **state) {
    (void)state;
    char data[PATH];
    eval_row rows[2];
    snprintf(data, sizeof data, "%s", make_reviews("threads", 30, 10, 0.4));
    for (unsigned i = 0; i < 2; i++) {
        told t = {0};
        const tem_run run = {.threads = 1 + 2 * i};
        eval_options options = options_for(i == 0 ? "threads-1" : "threads-3", &t);
        options.only = "tem:1:1";
        options.run = &run;
        assert_int_equal(eval_imdb(model, data, &options, NULL), TEM_OK);
        rows[i] = t.last;
    }
    assert_true(rows[0].accuracy == rows[1].accuracy && rows[0].mia_auc == rows[1].mia_auc &&
                rows[0].mia_auc_private == rows[1].mia_auc_private &&
                rows[0].bayes_drawn == rows[1].bayes_drawn);
}

static void results_of_another_kind_are_refused(void **state) {
    (void)state;
    static const char *const lines[] = {
        "no JSON\n",
        "{}\n",
        "[]\n",
        "{\"mechanism\": \"tem\", \"epsilon\": 2, \"trial\": 1, \"accuracy\": 0.5, \"mia_auc\": "
        "null, "
        "\"mia_auc_private\": null, \"self\": null, \"bayes\": null, \"self_drawn\": null, "
        "\"bayes_drawn\": null, \"seconds\": 1, \"seed\": \"2\", \"commit\": \"0\", \"model\": "
        "\"\", \"data\": \"\", \"certificate\": \"\", "
        "\"setting\": \"imdb, 3 epochs, model vectors\"}\n",
    };
    mkdir(in_folder("bad"), 0777);
    const eval_row like = {.seed = 1, .setting = "imdb, 3 epochs, model vectors"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        results r;
        tem_error error;
        write_file(in_folder("bad/results.jsonl"), lines[i]);
        assert_int_equal(results_open(in_folder("bad"), &like, &r, &error), TEM_ERR_FORMAT);
        assert_int_equal(error.line, 1);
    }
}

/* Writes one row of the plan of `name` with results_append, changes one field, and opens the
 * file. */
static tem_status reopen(const char *name, const eval_row *row, const char *field,
                         const char *replacement, tem_error *error) {
    results r;
    char line[2048];
    open_results(name, row, &r);
    assert_int_equal(results_append(&r, row, NULL), TEM_OK);
    results_free(&r);
    FILE *file = fopen(in_folder("%s/results.jsonl", name), "r+b");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    char *at = strstr(line, field);
    assert_non_null(at);
    char *end = at + strcspn(at, ",}");
    rewind(file);
    assert_int_equal(ftruncate(fileno(file), 0), 0);
    fprintf(file, "%.*s%s%s", (int)(at - line), line, replacement, end);
    assert_int_equal(fclose(file), 0);
    const tem_status status = results_open(in_folder("%s", name), row, &r, error);
    if (status == TEM_OK)
        results_free(&r);
    remove(in_folder("%s/results.jsonl", name));
    return status;
}

static void a_row_is_of_its_data(void **state) {
    (void)state;
    tem_error error;
    const eval_row row = {
        .mechanism = "tem", .epsilon = 2, .trial = 1, .seed = 1, .data = "0123", .setting = "s"};
    assert_int_equal(reopen("own", &row, "\"data\"", "\"data\": \"0123\"", NULL), TEM_OK);
    assert_int_equal(reopen("own", &row, "\"data\"", "\"data\": \"0124\"", &error), TEM_ERR_FORMAT);
    assert_string_equal(error.message, "a result from other data; use another directory");
    /* as earlier versions wrote it */
    assert_int_equal(reopen("own", &row, "\"data\"", "\"date\": \"0123\"", &error), TEM_ERR_FORMAT);
    assert_string_equal(error.message, "a result from other data; use another directory");
    static const char *const trials[] = {"0", "-1", "1.5", "4294967297", "1001", "\"1\"", "null"};
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        char field[64];
        snprintf(field, sizeof field, "\"trial\": %s", trials[i]);
        assert_int_equal(reopen("own", &row, "\"trial\"", field, &error), TEM_ERR_FORMAT);
    }
}

static void other_data_needs_another_folder(void **state) {
    (void)state;
    char data[PATH];
    told t = {0};
    tem_error error;
    snprintf(data, sizeof data, "%s", make_reviews("ours", 5, 10, 0.4));
    eval_options options = options_for("ours-out", &t);
    options.epochs = 1;
    options.only = "original";
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_OK);
    const char *review = in_folder("ours/test/pos/3_1.txt");
    write_file(review, "w1 w2 w3"); /* one review of the test half */
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_ERR_FORMAT);
    assert_non_null(strstr(error.message, "other data; use another directory"));
    assert_int_equal(t.rows, 1);
}

/* Any difference: a label, a word, the end of a review. */
static void digests_tell_data_apart(void **state) {
    (void)state;
    uint64_t starts[] = {0, 2, 4}, moved[] = {0, 3, 4};
    uint32_t labels[] = {0, 1}, swapped[] = {1, 0}, words[] = {7, 8, 9, 10},
             turned[] = {8, 7, 9, 10};
    const corpus all[] = {
        {.count = 2, .starts = starts, .labels = labels, .words = words},
        {.count = 2, .starts = starts, .labels = swapped, .words = words},
        {.count = 2, .starts = starts, .labels = labels, .words = turned},
        {.count = 2, .starts = moved, .labels = labels, .words = words},
        {.count = 1, .starts = starts, .labels = labels, .words = words},
        {0},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t k = 0; k <= i; k++)
            assert_int_equal(corpus_digest(&all[i]) == corpus_digest(&all[k]), i == k);
}

static void a_long_epsilon_is_taken_up(void **state) {
    (void)state;
    char data[PATH], csv[4096] = "";
    told t = {0};
    tem_error error;
    snprintf(data, sizeof data, "%s", make_reviews("long", 5, 10, 0.4));
    eval_options options = options_for("long-out", &t);
    options.epochs = 1;
    options.mechanisms = "tem";
    options.epsilons = "1.2345678901234567";
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_OK);
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_OK);
    assert_int_equal(t.rows, 1);
    read_text(in_folder("long-out/results.csv"), csv, sizeof csv);
    assert_non_null(strstr(csv, "\ntem,1.2345678901234567,1,"));
}

/* One trial has no intervals, two have; x extends to the epsilons; a quote in the name of the
 * directory does no harm. */
static void figures_show_what_there_is(void **state) {
    (void)state;
    char data[PATH], script[8192];
    told t = {0};
    tem_error error;
    snprintf(data, sizeof data, "%s", make_reviews("drawn", 5, 10, 0.4));
    eval_options options = options_for("it's drawn", &t);
    options.epochs = 1;
    options.mechanisms = "tem,original";
    options.epsilons = "0.06,0.1";
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_OK);
    read_text(in_folder("it's drawn/membership.gp"), script, sizeof script);
    assert_non_null(strstr(script, "set xrange [0.05:0.12]"));
    assert_non_null(strstr(script, "set title 'Membership attacks: of the original text (solid)"));
    assert_non_null(strstr(script, "dt 2 notitle")); /* one entry of the legend per mechanism */
    assert_non_null(strstr(script, "title 'TEM (paper)'"));
    assert_null(strstr(script, "errorbars"));
    if (system("gnuplot --version > /dev/null 2>&1") == 0) {
        assert_int_equal(access(in_folder("it's drawn/membership.svg"), R_OK), 0);
        assert_int_equal(access(in_folder("it's drawn/utility-bayes.png"), R_OK), 0);
    }
    assert_int_not_equal(access(in_folder("it's drawn/figures.part"), F_OK), 0);
    options.folder = in_folder("it's drawn");
    options.trials = 2;
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_OK);
    read_text(in_folder("it's drawn/membership.gp"), script, sizeof script);
    assert_non_null(strstr(script, "errorbars"));
}

/* On a full disk gnuplot silently leaves part of a picture, or nothing. */
static void pictures_are_whole(void **state) {
    (void)state;
    static const char svg[] = "<?xml version=\"1.0\"?>\n<svg></svg>\n\n";
    static const char png[] = "\x89PNG\r\n\x1a\n....\0\0\0\0IEND\xae\x42\x60\x82";
    const struct {
        const char *bytes, *name;
        size_t whole, count; /* the final line ends of an SVG may be missing */
    } pictures[] = {{svg, "p.svg", sizeof svg - 3, sizeof svg - 1},
                    {png, "p.png", sizeof png - 1, sizeof png - 1}};
    for (int k = 0; k < 2; k++)
        for (size_t count = 0; count <= pictures[k].count; count++) {
            const bool whole = count >= pictures[k].whole;
            const int drawn = memfd_create("drawn", MFD_CLOEXEC);
            const char *path = in_folder(pictures[k].name);
            struct stat info;
            assert_true(drawn >= 0 && write(drawn, pictures[k].bytes, count) == (ssize_t)count);
            write_file(path, "the old one");
            assert_int_equal(gnuplot_keep(drawn, path, NULL), whole ? TEM_OK : TEM_ERR_FORMAT);
            close(drawn);
            assert_int_equal(stat(path, &info), 0);
            assert_int_equal(info.st_size, whole ? count : strlen("the old one"));
        }
}

/* An evaluation keeps its existing pictures. */
static void bad_pictures_are_not_kept(void **state) {
    (void)state;
    char data[PATH], path[4096], kept[64];
    told t = {0};
    tem_error error;
    snprintf(data, sizeof data, "%s", make_reviews("kept", 5, 10, 0.4));
    eval_options options = options_for("kept-out", &t);
    options.epochs = 1;
    options.mechanisms = "tem";
    options.epsilons = "0.06";
    mkdir(in_folder("bin"), 0700);
    write_file(in_folder("bin/gnuplot"),
               "#!/bin/sh\nname=$(basename \"$2\" .gp); : > $name.svg; : > $name.png\n");
    assert_int_equal(chmod(in_folder("bin/gnuplot"), 0700), 0);
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_OK);
    write_file(in_folder("kept-out/membership.svg"), "the old one");
    char *before = strdup(getenv("PATH"));
    snprintf(path, sizeof path, "%s:%s", in_folder("bin"), before);
    setenv("PATH", path, 1);
    options.folder = in_folder("kept-out");
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_OK);
    setenv("PATH", before, 1);
    free(before);
    assert_non_null(strstr(t.note, "no figures"));
    read_text(in_folder("kept-out/membership.svg"), kept, sizeof kept);
    assert_string_equal(kept, "the old one");
    assert_int_not_equal(access(in_folder("kept-out/figures.part"), F_OK), 0);
}

/* The directory has 64 epsilons: the tables have no room for another. */
static void too_many_epsilons_are_refused(void **state) {
    (void)state;
    char data[PATH];
    told t = {0};
    tem_error error;
    results r;
    snprintf(data, sizeof data, "%s", make_reviews("many", 5, 10, 0.4));
    eval_options options = options_for("many-out", &t);
    options.epochs = 1;
    options.mechanisms = "tem";
    options.epsilons = "1";
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_OK);
    eval_row row = t.last;
    open_results("many-out", &row, &r);
    for (int i = 2; i <= EVAL_EPSILONS_MAX; i++) {
        row.epsilon = i;
        assert_int_equal(results_append(&r, &row, NULL), TEM_OK);
    }
    results_free(&r);
    options.only = "tem:2";
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_OK);
    options.only = "tem:0.5";
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_ERR_RANGE);
    assert_int_equal(t.rows, 2);
}

static void one_evaluation_a_folder(void **state) {
    (void)state;
    char data[PATH];
    told t = {0};
    tem_error error;
    results r;
    const eval_row like = {.seed = 1};
    snprintf(data, sizeof data, "%s", make_reviews("shared", 5, 10, 0.4));
    open_results("shared-out", &like, &r);
    eval_options options = options_for("shared-out", &t);
    options.epochs = 1;
    options.mechanisms = "original";
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_ERR_EXISTS);
    assert_int_equal(t.rows, 0);
    results_free(&r);
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_OK);
}

/* The callback sees no row that is not on disk, and an unwritable place is detected before the
 * first row. */
static void results_that_cannot_be_written(void **state) {
    (void)state;
    char data[PATH];
    told t = {0};
    tem_error error;
    snprintf(data, sizeof data, "%s", make_reviews("full", 5, 10, 0.4));
    write_file(in_folder("a-file"), "");
    eval_options options = options_for("a-file/out", &t);
    options.mechanisms = "original";
    options.epochs = 1;
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_ERR_FILE);
    const pid_t child = fork();
    if (child == 0) { /* the file can be opened, but not written */
        const struct rlimit none = {0, 0};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &none);
        options.folder = in_folder("full-out");
        const tem_status status = eval_imdb(model, data, &options, &error);
        _exit(status == TEM_ERR_FILE && t.rows == 0 ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(t.rows, 0);
}

/* With `only`, a row is computed again, completely. */
static void done_again_means_anew(void **state) {
    (void)state;
    char data[PATH];
    told t = {0};
    tem_error error;
    results r;
    snprintf(data, sizeof data, "%s", make_reviews("anew", 5, 10, 0.4));
    eval_options options = options_for("anew-out", &t);
    options.epochs = 1;
    options.mechanisms = "tem";
    options.epsilons = "1";
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_OK);
    const eval_row first = t.last;
    eval_row wrong = first;
    wrong.self = wrong.bayes = 0.999;
    open_results("anew-out", &first, &r);
    assert_int_equal(results_append(&r, &wrong, NULL), TEM_OK);
    results_free(&r);
    options.trials = 2; /* trial 2 may take them from trial 1 */
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_OK);
    assert_true(t.last.trial == 2 && t.last.self == 0.999 && t.last.bayes == 0.999);
    options.only = "tem:1";
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_OK);
    assert_true(t.last.trial == 2 && t.last.self == first.self && t.last.bayes == first.bayes);
    /* a row of another program version is not reused either */
    snprintf(wrong.commit, sizeof wrong.commit, "another");
    remove(in_folder("anew-out/results.jsonl"));
    open_results("anew-out", &first, &r);
    assert_int_equal(results_append(&r, &wrong, NULL), TEM_OK);
    results_free(&r);
    options.only = NULL;
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_OK);
    assert_true(t.last.trial == 2 && t.last.self == first.self);
    char table[4096];
    read_text(in_folder("anew-out/results.md"), table, sizeof table);
    assert_non_null(strstr(table, "different commits"));
}

static void a_missing_certificate_is_named(void **state) {
    (void)state;
    char data[PATH];
    told t = {0};
    tem_error error;
    snprintf(data, sizeof data, "%s", make_reviews("uncertain", 4, 5, 0));
    eval_options options = options_for("uncertain-out", &t);
    options.epochs = 1;
    options.mechanisms = "equal";
    options.epsilons = "2";
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_ERR_CERTIFICATE);
    assert_int_equal(t.notes, 3); /* the size of the data; that it is not IMDB; this one: */
    assert_non_null(strstr(t.note, "tem calibrate --epsilon 2 --weights equal -m small.tem"));
    options.only = "equal:2";
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_ERR_CERTIFICATE);
    /* an unreadable file is not a missing file */
    mkdir(in_folder("folder.cert"), 0777);
    options.only = NULL;
    options.model_path = in_folder("folder");
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_ERR_FILE);
}

static void plans(void **state) {
    (void)state;
    static const struct {
        const char *mechanisms, *epsilons, *only;
        uint32_t trials, rows; /* rows 0: refused */
        const char *learners;
    } cases[] = {
        {NULL, NULL, NULL, 1, 1 + 11 + 9 * 4, NULL},
        {NULL, NULL, NULL, 5, 5 * (1 + 11 + 9 * 4), NULL},
        {"tem,original", "1,2", NULL, 2, 6, NULL},
        {NULL, NULL, "tem", 2, 18, NULL},
        {NULL, NULL, "tem:2", 3, 3, NULL},
        {NULL, NULL, "tem:7:4", 2, 1, NULL},
        {NULL, NULL, "original", 2, 2, NULL},
        {NULL, NULL, "original::2", 2, 1, NULL},
        {"tem", NULL, "madlib:16:1", 1, 1, NULL},
        {"tems", NULL, NULL, 1, 0, NULL},
        {"", NULL, NULL, 1, 0, NULL},
        {NULL, "1,,2", NULL, 1, 0, NULL},
        {NULL, "0", NULL, 1, 0, NULL},
        {NULL, "1,2,1.0", NULL, 1, 0, NULL},
        {NULL, "-1", NULL, 1, 0, NULL},
        {NULL, "1x", NULL, 1, 0, NULL},
        {NULL, "inf", NULL, 1, 0, NULL},
        {NULL, NULL, "original:1", 1, 0, NULL},
        {NULL, NULL, "tem:", 1, 0, NULL},
        {NULL, NULL, "tem:2:", 1, 0, NULL},
        {NULL, NULL, "tem:2:0", 1, 0, NULL},
        {NULL, NULL, "tem:2:1:1", 1, 0, NULL},
        {NULL, NULL, "tem:2:1.5", 1, 0, NULL},
        {NULL, NULL, "nothing:2", 1, 0, NULL},
        {"tem", "1,2", NULL, 3, 6, "posterior"},
        {"tem", "1,2", NULL, 3, 12, "linear,paper"},
        {"tem", "1", NULL, 1, 4, "paper,linear,posterior,deconvolved"},
        {"original", NULL, NULL, 1, 2, "paper,linear,posterior,deconvolved"}, /* it has no law */
        {"original", NULL, NULL, 1, 0, "posterior"},
        {NULL, NULL, "tem:2:1", 1, 2, "linear,posterior"},
        {NULL, NULL, NULL, 1, 0, "linears"},
        {NULL, NULL, NULL, 1, 0, ""},
        {NULL, NULL, NULL, 1, 0, "linear,"},
        {"madlib:a=1", "1", NULL, 1, 1, NULL}, /* numbers of its own, and both are mechanisms */
        {"madlib:a=1,madlib:a=2:b=-0.5,madlib", "1", NULL, 1, 3, NULL},
        {"madlib:a=1,madlib:a=1", "1", NULL, 1, 1, NULL},
        {"madlib", "1", "madlib:a=1:2:1", 1, 1, NULL},
        {"madlib:a", "1", NULL, 1, 0, NULL},
        {"madlib:=1", "1", NULL, 1, 0, NULL},
        {"madlib:a=", "1", NULL, 1, 0, NULL},
        {"madlib:a=x", "1", NULL, 1, 0, NULL},
        {"nothing:a=1", "1", NULL, 1, 0, NULL},
        {"equal:a=1", "1", NULL, 1, 0, NULL}, /* a certificate takes none */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const eval_options options = {.mechanisms = cases[i].mechanisms,
                                      .epsilons = cases[i].epsilons,
                                      .only = cases[i].only,
                                      .learners = cases[i].learners,
                                      .trials = cases[i].trials};
        plan p = {0};
        const tem_status status = plan_create(&options, &p, NULL);
        assert_int_equal(status, cases[i].rows > 0 ? TEM_OK : TEM_ERR_ARGUMENT);
        assert_int_equal(p.count, cases[i].rows);
        plan_free(&p);
    }
}

static void students_distribution(void **state) {
    (void)state;
    assert_true(fabs(student_quantile(4) - 2.776) < 1e-3);
    assert_true(fabs(student_quantile(21) - 2.0796) < 1e-3);
    assert_true(fabs(student_quantile(100) - 1.9840) < 1e-4);
    const results_kind kind = {"tem", "linear", 2};
    eval_row rows[4] = {
        {.mechanism = "tem", .learner = "linear", .epsilon = 2, .trial = 1, .accuracy = 1},
        {.mechanism = "tem", .learner = "linear", .epsilon = 2, .trial = 2, .accuracy = 2},
        {.mechanism = "tem", .learner = "linear", .epsilon = 2, .trial = 3, .accuracy = 6},
        {.mechanism = "tem", .learner = "paper", .epsilon = 2, .trial = 4, .accuracy = 9}};
    results r = {.rows = rows, .count = 4};
    const results_mean m = results_over_trials(&r, kind, RESULTS_ACCURACY);
    assert_true(m.trials == 3 && m.mean == 3);
    assert_true(fabs(m.half - 4.303 * sqrt(7.0 / 3)) < 1e-9);
    r.count = 1;
    assert_true(isnan(results_over_trials(&r, kind, RESULTS_ACCURACY).half));
}

/* Three classes: the accuracy of the only row of `mechanism`. */
static double classify(tem_format format, const char *extension, double signal) {
    chance c = {31};
    char text[4096];
    told t = {0};
    tem_error error;
    const char *names[2] = {"train", "test"};
    char paths[2][PATH];
    for (int part = 0; part < 2; part++) {
        snprintf(paths[part], PATH, "%s", in_folder("%s.%s", names[part], extension));
        FILE *file = fopen(paths[part], "wb");
        assert_non_null(file);
        if (format == TEM_FORMAT_TSV)
            fputs("id\ttext\tkind\n", file);
        for (int i = 0; i < 300; i++) {
            const int kind = i % 3;
            make_text(text, sizeof text, kind == 2, 20, signal, &c);
            if (format == TEM_FORMAT_TSV)
                fprintf(file, "%d\t%s\tkind %d\r\n", i, text, kind == 2);
            else
                fprintf(file, "{\"kind\": %d, \"text\": \"%s\"}\n\n", kind == 2, text);
        }
        fclose(file);
    }
    const eval_files files = {
        .train = paths[0], .test = paths[1], .format = format, .text = "text", .label = "kind"};
    eval_options options = options_for(extension, &t);
    options.only = "original";
    options.epochs = 100;
    if (eval_classify(model, &files, &options, &error) != TEM_OK)
        fail_msg("%s", error.message);
    assert_true(t.rows == 1 && isnan(t.last.mia_auc));
    return t.last.accuracy;
}

static void own_texts_are_classified(void **state) {
    (void)state;
    assert_true(classify(TEM_FORMAT_TSV, "tsv", 0.6) > 0.95);
    assert_true(classify(TEM_FORMAT_JSONL, "jsonl", 0.6) > 0.95);
}

static void bad_texts_are_refused_by_line(void **state) {
    (void)state;
    static const struct {
        tem_format format;
        const char *text;
        uint64_t line;
    } cases[] = {
        {TEM_FORMAT_TSV, "", 1},
        {TEM_FORMAT_TSV, "text\tkind\n", 0},
        {TEM_FORMAT_TSV, "text\tlabel\nw1\ta\n", 1},
        {TEM_FORMAT_TSV, "text\tkind\ttext\nw1\ta\tw1\n", 1},
        {TEM_FORMAT_TSV, "text\tkind\nw1\ta\nw2\n", 3},
        {TEM_FORMAT_TSV, "text\tkind\nw1\ta\nw2\ta\tb\n", 3},
        {TEM_FORMAT_TSV, "text\tkind\tmore\nw1\ta\n", 2},
        {TEM_FORMAT_TSV, "\nw1\tlabel\nw1\ta\n", 2},
        {TEM_FORMAT_TSV, "text\tkind\nw1\t\n", 2},
        {TEM_FORMAT_TSV, "text\tkind\nw1\ta\n\xff\ta\n", 3},
        {TEM_FORMAT_JSONL, "{\"text\": \"w1\", \"kind\": \"a\"}\n{\"text\": \"w1\"}\n", 2},
        {TEM_FORMAT_JSONL, "{\"text\": 1, \"kind\": \"a\"}\n", 1},
        {TEM_FORMAT_JSONL, "{\"text\": \"w1\", \"kind\": 1.5}\n", 1},
        {TEM_FORMAT_JSONL, "{\"text\": \"w1\", \"kind\": 1\n", 1},
        {TEM_FORMAT_JSONL, "{\"text\": \"w1\", \"text\": \"w2\", \"kind\": 1}\n", 1},
        {TEM_FORMAT_JSONL, "\n[1]\n", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const eval_files files = {.format = cases[i].format, .text = "text", .label = "kind"};
        label_names labels = {0};
        corpus c = {0};
        tem_error error;
        const char *path = in_folder("refused");
        write_file(path, cases[i].text);
        assert_int_equal(labelled_read(path, &files, model, true, &labels, &c, &error),
                         TEM_ERR_FORMAT);
        assert_int_equal(error.line, cases[i].line);
        assert_string_equal(error.file, path);
        label_names_free(&labels);
    }
}

static void a_label_of_the_test_alone_is_refused(void **state) {
    (void)state;
    told t = {0};
    tem_error error;
    char train[PATH], test[PATH];
    snprintf(train, sizeof train, "%s", in_folder("one.tsv"));
    snprintf(test, sizeof test, "%s", in_folder("two.tsv"));
    write_file(train, "text\tkind\nw1\ta\nw2\tb\n");
    write_file(test, "text\tkind\nw1\ta\nw2\tc\n");
    const eval_files files = {
        .train = train, .test = test, .format = TEM_FORMAT_TSV, .text = "text", .label = "kind"};
    const eval_options options = options_for("labels-out", &t);
    assert_int_equal(eval_classify(model, &files, &options, &error), TEM_ERR_FORMAT);
    assert_int_equal(error.line, 3);
    write_file(train, "text\tkind\nw1\ta\nw2\ta\n");
    assert_int_equal(eval_classify(model, &files, &options, &error), TEM_ERR_FORMAT);
}

static void a_folder_that_is_not_aclimdb_is_refused(void **state) {
    (void)state;
    char data[PATH];
    told t = {0};
    tem_error error;
    const eval_options options = options_for("folder-out", &t);
    assert_int_equal(eval_imdb(model, in_folder("nowhere"), &options, &error), TEM_ERR_FORMAT);
    assert_int_equal(symlink("circle", in_folder("circle")), 0); /* a link that leads to itself */
    assert_int_equal(eval_imdb(model, in_folder("circle"), &options, &error), TEM_ERR_FILE);
    snprintf(data, sizeof data, "%s", make_reviews("lopsided", 3, 5, 0));
    assert_int_equal(remove(in_folder("lopsided/test/pos/1_1.txt")), 0);
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_ERR_FORMAT);
    write_file(in_folder("lopsided/test/pos/1_1.txt"), "w1 \xff");
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_ERR_FORMAT);
    assert_non_null(strstr(error.file, "1_1.txt"));
}

static tem_status run_quickly(const char *data, const char *name, tem_error *error) {
    told t = {0};
    eval_options options = options_for(name, &t);
    options.mechanisms = "original";
    options.epochs = 1;
    return eval_imdb(model, data, &options, error);
}

/* One review per class leaves a half empty; reviews without a known word train nothing. */
static void texts_without_content_are_refused(void **state) {
    (void)state;
    char data[PATH];
    tem_error error;
    snprintf(data, sizeof data, "%s", make_reviews("single", 1, 5, 0));
    assert_int_equal(run_quickly(data, "single-out", &error), TEM_ERR_FORMAT);
    assert_non_null(strstr(error.message, "no word that the model knows"));
    snprintf(data, sizeof data, "%s", make_reviews("foreign", 2, 5, 0));
    for (int i = 0; i < 4; i++)
        write_file(in_folder("foreign/test/%s/%d_1.txt", i & 1 ? "pos" : "neg", i / 2),
                   "nothing known");
    assert_int_equal(run_quickly(data, "foreign-out", &error), TEM_ERR_FORMAT);
    assert_non_null(strstr(error.message, "no word that the model knows"));
}

/* The number of lines of a file that begin with `start`. */
static uint32_t lines_with(const char *name, const char *start) {
    char line[4096];
    uint32_t count = 0;
    FILE *file = fopen(in_folder("%s", name), "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        count += strncmp(line, start, strlen(start)) == 0;
    fclose(file);
    return count;
}

/* Of 40 reviews per class 10 remain, and half of these are used for training. */
static void a_quarter_has_a_quarter_of_each_class(void **state) {
    (void)state;
    char data[PATH], texts[PATH];
    told t = {0};
    tem_error error;
    snprintf(data, sizeof data, "%s", make_reviews("forty", 40, 12, 0));
    snprintf(texts, sizeof texts, "%s", in_folder("quarter-texts"));
    eval_options options = options_for("quarter-out", &t);
    options.mechanisms = "original";
    options.epochs = 1;
    options.quarter = true;
    options.export_to = texts;
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_OK);
    assert_int_equal(lines_with("quarter-texts/original-0-1.train", "__label__"), 10);
    assert_int_equal(lines_with("quarter-texts/original-0-1.train", "__label__1"), 5);
    assert_int_equal(lines_with("quarter-texts/original-0-1.test", "__label__1"), 5);
    options.quarter = false; /* rows of all reviews must not be mixed with it */
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_ERR_FORMAT);
}

/* Every use and every trial has its own random numbers, the same in every run. */
static void trials_differ(void **state) {
    (void)state;
    uint64_t seeds[2 * 3 * CHANCE_SHADOW_VECTORS];
    int count = 0;
    for (uint64_t seed = 1; seed <= 2; seed++)
        for (uint64_t number = 1; number <= 3; number++)
            for (int purpose = CHANCE_SPLIT; purpose <= CHANCE_SHADOW_VECTORS; purpose++) {
                seeds[count] = chance_seed(seed, number, (chance_purpose)purpose);
                for (int i = 0; i < count; i++)
                    assert_true(seeds[i] != seeds[count]);
                count++;
            }
    assert_int_equal(count, 42);
    assert_true(chance_seed(1, 1, CHANCE_SPLIT) == seeds[0]);
}

/* The halves share no review, and each has half of every class. */
static void halves(void **state) {
    (void)state;
    corpus c = {0}, parts[2];
    char text[16];
    int seen[50] = {0};
    for (uint32_t i = 0; i < 50; i++) {
        snprintf(text, sizeof text, "w%u", i);
        assert_int_equal(corpus_add(&c, model, text, strlen(text), i % 5 == 0, NULL), TEM_OK);
    }
    assert_int_equal(corpus_halve(&c, 2, 9, parts, NULL), TEM_OK);
    for (int half = 0; half < 2; half++) {
        uint32_t ones = 0;
        assert_int_equal(parts[half].count, 25);
        for (uint32_t i = 0; i < 25; i++) {
            const uint32_t word = parts[half].words[i];
            ones += parts[half].labels[i];
            assert_int_equal(parts[half].labels[i], word % 5 == 0);
            seen[word]++;
        }
        assert_int_equal(ones, 5);
        corpus_free(&parts[half]);
    }
    for (int i = 0; i < 50; i++)
        assert_int_equal(seen[i], 1);
    corpus_free(&c);
}

static void guesses(void **state) {
    (void)state;
    uint64_t starts[2] = {0, 6};
    uint32_t known[] = {1, 1, 2, 3, 3, 3}, out[] = {5, 5, 5, 5, 6, 6};
    uint32_t asked[] = {1, 2, 3, 7, 8, 1}, given[] = {5, 5, 6, 7, 9, 6};
    const corpus a = {.count = 1, .starts = starts, .words = known};
    const corpus b = {.count = 1, .starts = starts, .words = out};
    const corpus c = {.count = 1, .starts = starts, .words = asked};
    const corpus d = {.count = 1, .starts = starts, .words = given};
    double share = 0;
    assert_int_equal(private_text_guessed(&a, &b, &c, &d, 10, &share, NULL), TEM_OK);
    assert_true(fabs(share - 3.0 / 6) < 1e-12); /* guesses: 1 for 5, 3 for 6, 7 for 7 (unseen) */
    assert_true(fabs(private_text_kept(&c, &d) - 1.0 / 6) < 1e-12);
}

/* -------------------------------------------------------------- learners -- */

/* Rows of one text stand together, so that they share its draws. */
static void plans_keep_texts_together(void **state) {
    (void)state;
    const eval_options options = {
        .mechanisms = "tem", .epsilons = "1,2", .learners = "posterior,paper", .trials = 2};
    plan p = {0};
    assert_int_equal(plan_create(&options, &p, NULL), TEM_OK);
    assert_int_equal(p.count, 8);
    for (uint32_t i = 0; i < p.count; i += 2) {
        assert_true(p.items[i].epsilon == p.items[i + 1].epsilon);
        assert_int_equal(p.items[i].trial, p.items[i + 1].trial);
        assert_string_equal(p.items[i].learner->name, "paper");
        assert_string_equal(p.items[i + 1].learner->name, "posterior");
    }
    plan_free(&p);
}

/* Removes every `part` from the file. */
static void remove_from_file(const char *path, const char *part) {
    static char text[1 << 16];
    read_text(path, text, sizeof text);
    assert_non_null(strstr(text, part));
    for (char *at; (at = strstr(text, part)) != NULL;)
        memmove(at, at + strlen(part), strlen(at + strlen(part)) + 1);
    write_file(path, text);
}

/* Rows of earlier versions name neither learner, prior nor penalty: they are of the one learner and
 * the one prior that there was, and are not computed again. */
static void rows_of_earlier_versions_are_kept(void **state) {
    (void)state;
    char data[PATH], path[PATH];
    told t = {0};
    results r;
    snprintf(data, sizeof data, "%s", make_reviews("earlier", 5, 10, 0.4));
    eval_options options = options_for("earlier-out", &t);
    options.epochs = 1;
    options.mechanisms = "tem,original";
    options.epsilons = "1";
    assert_int_equal(eval_imdb(model, data, &options, NULL), TEM_OK);
    snprintf(path, sizeof path, "%s", in_folder("earlier-out/results.jsonl"));
    remove_from_file(path, "\"learner\": \"paper\", ");
    remove_from_file(path, "\"prior\": \"zipf\", ");
    remove_from_file(path, "\"penalty\": null, ");
    options.folder = in_folder("earlier-out");
    assert_int_equal(eval_imdb(model, data, &options, NULL), TEM_OK);
    assert_int_equal(t.rows, 2);
    open_results("earlier-out", &t.last, &r);
    assert_int_equal(r.count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_string_equal(r.rows[i].learner, "paper");
        assert_string_equal(r.rows[i].prior, "zipf");
        assert_true(isnan(r.rows[i].penalty));
    }
    results_free(&r);
}

/* A vocabulary of a crowd of words that the mechanism confuses with each other, and of loners that
 * stay themselves. The learners' vectors have nothing to do with the place of a word in the model.
 * `tilt` says how much a label prefers words by the first number of their vector. */
enum { CROWD = 350, PLANTED_COLUMNS = 16 };

static tem_model *make_planted_model(void) {
    chance c = {9};
    static float values[WORDS * DIMENSION];
    static char names[WORDS][8];
    const char *words[WORDS];
    tem_vectors *vectors = NULL;
    tem_model *made = NULL;
    for (int i = 0; i < WORDS * DIMENSION; i++)
        values[i] = (float)chance_normal(&c) * (i / DIMENSION < CROWD ? 0.5f : 6.0f);
    for (int i = 0; i < WORDS; i++) {
        snprintf(names[i], sizeof names[i], "w%d", i);
        words[i] = names[i];
    }
    assert_int_equal(tem_vectors_create(words, values, WORDS, DIMENSION, &vectors, NULL), TEM_OK);
    assert_int_equal(tem_model_build(vectors, NULL, NULL, &made, NULL), TEM_OK);
    tem_vectors_free(vectors);
    return made;
}

static void make_planted_corpus(const tem_model *m, corpus *c, uint32_t count, double tilt,
                                const double *vectors, uint64_t seed) {
    enum { LENGTH = 40 };
    chance numbers = {seed};
    char text[LENGTH * 8];
    for (uint32_t i = 0; i < count; i++) {
        size_t length = 0;
        for (int k = 0; k < LENGTH;) {
            const uint32_t word = (uint32_t)(chance_unit(&numbers) * WORDS);
            const double x = vectors[word * PLANTED_COLUMNS] * (i & 1 ? 1 : -1);
            if (chance_unit(&numbers) > 1 / (1 + exp(-tilt * x)))
                continue;
            length += (size_t)snprintf(text + length, sizeof text - length, "w%u ", word);
            k++;
        }
        assert_int_equal(corpus_add(c, m, text, length, i & 1, NULL), TEM_OK);
    }
}

static void make_planted_task(const tem_model *m, uint32_t count, double tilt, task *t) {
    chance c = {10};
    *t = (task){.model = m, .classes = 2, .seed = 3};
    t->known = (knowledge){.columns = PLANTED_COLUMNS, .penalty = 0.01, .prior_name = "zipf"};
    t->known.vectors = malloc(WORDS * PLANTED_COLUMNS * sizeof *t->known.vectors);
    assert_non_null(t->known.vectors);
    for (int i = 0; i < WORDS * PLANTED_COLUMNS; i++)
        t->known.vectors[i] = chance_normal(&c);
    assert_int_equal(tem_prior_create_zipf(m, 0, &t->known.prior, NULL), TEM_OK);
    make_planted_corpus(m, &t->train, count, tilt, t->known.vectors, 101);
    make_planted_corpus(m, &t->test, 2000, tilt, t->known.vectors, 102);
    assert_int_equal(core_team_create(&(tem_run){.threads = 2}, &t->team, NULL), TEM_OK);
}

/* Seven eighths of the released words say nothing, and only the law knows which. Over 2000 test
 * texts the standard deviation of an accuracy is 0.011 at most. The law wins by 0.05, and
 * with nearly no noise by nothing. */
static void the_law_helps_where_it_should(void **state) {
    (void)state;
    static const double epsilons[] = {0.6, 100};
    tem_model *planted = make_planted_model();
    for (int i = 0; i < 2; i++) {
        task k;
        trial t;
        double accuracies[LEARNERS_MAX] = {0};
        tem_mechanism *mechanism = NULL;
        const tem_mechanism_options options = {.mechanism = "tem", .epsilon = epsilons[i]};
        assert_int_equal(tem_mechanism_create(planted, &options, &mechanism, NULL), TEM_OK);
        make_planted_task(planted, 200, 0.8, &k);
        assert_int_equal(trial_open(&k, 1, &t, NULL), TEM_OK);
        for (size_t l = 1; l < LEARNERS_MAX; l++) {
            eval_row row = {.mechanism = "tem", .epsilon = epsilons[i], .trial = 1};
            assert_int_equal(trial_row(&t, learner_at(l), mechanism, &row, NULL), TEM_OK);
            assert_true(isnan(row.mia_auc));
            accuracies[l] = row.accuracy;
        }
        const double gain = accuracies[2] - accuracies[1];
        assert_true(i == 0 ? gain > 0.05 : fabs(gain) < 1e-3);
        assert_true(accuracies[3] > 0.6);
        trial_close(&t);
        task_free(&k);
        tem_mechanism_free(mechanism);
    }
    tem_model_free(planted);
}

/* A learner that looks into its lesson, and learns as "linear" does. */
static tem_status look_and_learn(const learner *self, const lesson *l, void **out,
                                 tem_error *error) {
    assert_null(l->others.labels);
    assert_true(l->others.count > 0 && l->text_bags->labels != NULL);
    return learner_linear.train(self, l, out, error);
}

/* Shuffled labels of the test texts, and other test texts, change accuracies but no penalty. */
static void the_test_texts_choose_no_penalty(void **state) {
    (void)state;
    tem_model *planted = make_planted_model();
    tem_mechanism *mechanism = NULL;
    const tem_mechanism_options options = {.mechanism = "tem", .epsilon = 3};
    learner looking = learner_linear;
    looking.train = look_and_learn;
    const learner *const learners[] = {&looking, &learner_posterior};
    double penalties[3][2], accuracies[3][2];
    assert_int_equal(tem_mechanism_create(planted, &options, &mechanism, NULL), TEM_OK);
    for (int change = 0; change < 3; change++) {
        task k;
        trial t;
        chance c = {77};
        make_planted_task(planted, 200, 0.2, &k);
        k.known.penalty = 0;
        for (uint32_t i = 0; i < k.test.count && change == 1; i++)
            k.test.labels[i] = (uint32_t)(chance_next(&c) & 1);
        if (change == 2) {
            corpus_free(&k.test);
            k.test = (corpus){0};
            make_planted_corpus(planted, &k.test, 500, -3, k.known.vectors, 103);
        }
        assert_int_equal(trial_open(&k, 1, &t, NULL), TEM_OK);
        for (int l = 0; l < 2; l++) {
            eval_row row = {.mechanism = "tem", .epsilon = 3, .trial = 1};
            assert_int_equal(trial_row(&t, learners[l], mechanism, &row, NULL), TEM_OK);
            penalties[change][l] = row.penalty;
            accuracies[change][l] = row.accuracy;
        }
        trial_close(&t);
        task_free(&k);
    }
    for (int l = 0; l < 2; l++) {
        for (int change = 1; change < 3; change++) {
            assert_true(penalties[change][l] == penalties[0][l]);
            assert_true(fabs(accuracies[change][l] - accuracies[0][l]) > 0.05);
        }
        /* not at an end of the list, where every choice by noise could be */
        assert_true(penalties[0][l] > validation_penalty_at(VALIDATION_PENALTIES - 1));
        assert_true(penalties[0][l] < validation_penalty_at(0));
    }
    tem_mechanism_free(mechanism);
    tem_model_free(planted);
}

/* Random labels, a column per word, fewer texts than words, and nearly no penalty: the weights
 * learn the texts by heart, and the attack finds them. Two columns are too few for that. 300 texts
 * on each side: the standard deviation of the AUC is 0.41/sqrt(300) = 0.024, so 0.1 is four of
 * them. */
static void a_linear_learner_can_give_its_members_away(void **state) {
    (void)state;
    static const struct {
        uint32_t columns;
        double penalty, least, most;
    } cases[] = {{WORDS, 1e-6, 0.6, 1}, {2, 0.1, 0.4, 0.6}};
    for (int i = 0; i < 2; i++) {
        task k;
        trial t;
        eval_row row = {.mechanism = "original", .trial = 1};
        make_task(&k, 600, 20, 0, false);
        const uint32_t columns = cases[i].columns;
        k.known = (knowledge){.columns = columns, .penalty = cases[i].penalty};
        k.known.vectors = calloc((size_t)WORDS * columns, sizeof *k.known.vectors);
        assert_non_null(k.known.vectors);
        for (uint32_t w = 0; w < WORDS; w++)
            k.known.vectors[w * columns + w % columns] = 1;
        assert_int_equal(trial_open(&k, 1, &t, NULL), TEM_OK);
        assert_int_equal(trial_row(&t, &learner_linear, NULL, &row, NULL), TEM_OK);
        assert_true(row.mia_auc >= cases[i].least && row.mia_auc <= cases[i].most);
        trial_close(&t);
        task_free(&k);
    }
}

static void write_vectors(const char *path) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (int i = 0; i < WORDS; i++)
        fprintf(file, "w%d %d %d %d\n", i, i < WORDS / 2 ? -1 : 1, i % 3, i % 5);
    assert_int_equal(fclose(file), 0);
}

/* All learners over the same plan, with public text and a file of vectors. */
static void learners_have_rows(void **state) {
    (void)state;
    char data[PATH], public_text[PATH], vectors[PATH], text[1 << 14];
    told t = {0};
    tem_error error;
    snprintf(data, sizeof data, "%s", make_reviews("taught", 40, 20, 0.5));
    snprintf(public_text, sizeof public_text, "%s", in_folder("public"));
    snprintf(vectors, sizeof vectors, "%s", in_folder("taught.vec"));
    mkdir(public_text, 0777);
    write_file(in_folder("public/a.txt"), "w1 w2<br />w3\nw4\tw5");
    write_file(in_folder("public/b.txt"), "w399 w200");
    write_vectors(vectors);
    eval_options options = options_for("taught-out", &t);
    options.epochs = 2;
    options.mechanisms = "original,tem,madlib";
    options.epsilons = "20";
    options.learners = "paper,linear,posterior,deconvolved";
    options.public_text = public_text;
    options.vectors = vectors;
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_OK);
    assert_int_equal(t.rows, 2 + 4 + 2);
    assert_int_equal(t.notes, 4); /* two about the data, two learners without a law */
    assert_non_null(strstr(t.note, "madlib at epsilon 20 is left out: the learner deconvolved"));
    assert_string_equal(t.last.prior, "public");
    assert_int_equal(lines_with("taught-out/results.md", "| tem | 20 | linear | 1 |"), 1);
    assert_int_equal(lines_with("taught-out/results.md", "| tem | 20 | deconvolved | 1 |"), 1);
    assert_int_equal(lines_with("taught-out/results.md", "self and Bayes: the prior is"), 1);
    read_text(in_folder("taught-out/learners.gp"), text, sizeof text);
    assert_non_null(strstr(text, "title 'TEM (paper), learner posterior'"));
    assert_non_null(strstr(text, "title 'original text, learner linear'"));
    assert_non_null(strstr(text, "best guess at a word, prior: public text'"));
    /* other public text, vectors or penalty, or none: other results */
    options.folder = in_folder("taught-out");
    options.penalty = 0.5;
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_ERR_FORMAT);
    options.penalty = 0;
    write_file(in_folder("public/b.txt"), "w399 w201");
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_ERR_FORMAT);
    write_file(in_folder("public/b.txt"), "w399 w200");
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_OK);
    write_file(vectors, "w1 1 2 3\nw2 2 3 4\n");
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_ERR_FORMAT);
    assert_int_equal(t.rows, 8);
}

/* The vectors are the signals of an adapted model; another model has none. */
static void signals_are_vectors(void **state) {
    (void)state;
    told t = {0};
    eval_options options = options_for("signals-out", &t);
    tem_model_info info;
    tem_adaptation *adaptation = NULL;
    tem_model *adapted = NULL;
    knowledge k = {0};
    char lexicon[PATH], text[4096] = "";
    tem_model_get_info(model, &info);
    for (uint32_t id = 0; id < info.words && id < 100; id++) {
        size_t length = 0;
        const char *word = tem_model_word(model, id, &length);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%.*s\t%u\n", (int)length, word,
                 id * 7 % 13);
    }
    snprintf(lexicon, sizeof lexicon, "%s", in_folder("lexicon.tsv"));
    write_file(lexicon, text);
    const tem_signal_source source = {.path = lexicon};
    const tem_adapt_options how = {.stretch = 0.5};
    assert_int_equal(tem_adaptation_create(model, &adaptation, NULL), TEM_OK);
    assert_int_equal(tem_adaptation_add(adaptation, &source, NULL, NULL), TEM_OK);
    assert_int_equal(tem_adaptation_add(adaptation, &source, NULL, NULL), TEM_OK);
    assert_int_equal(tem_adaptation_build(adaptation, &how, NULL, &adapted, NULL), TEM_OK);
    options.vectors = "signals";
    assert_int_equal(knowledge_create(model, &options, true, &k, NULL), TEM_ERR_ARGUMENT);
    assert_int_equal(knowledge_create(adapted, &options, true, &k, NULL), TEM_OK);
    assert_int_equal(k.columns, 2);
    assert_non_null(strstr(k.about, "learners' vectors signals, penalty by validation"));
    double *values = calloc(info.words, sizeof *values);
    assert_non_null(values);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(tem_model_signal_values(adapted, i, values, NULL), TEM_OK);
        for (uint32_t id = 0; id < info.words; id++)
            assert_true(fabs(k.vectors[2 * id + i] - values[id]) < 1e-15);
    }
    free(values);
    knowledge_free(&k);
    tem_model_free(adapted);
    tem_adaptation_free(adaptation);
}

/* The vectors come from the public text: a directory named train/unsup, or a file. */
static void public_text_is_found(void **state) {
    (void)state;
    static const char *const documents[] = {"w1 w2 w9", "w3 w4 w5", "w1 w3", "w7 w8", "w5 w6"};
    char data[PATH], lines[PATH];
    told t = {0};
    tem_error error;
    snprintf(data, sizeof data, "%s", make_reviews("unsup", 10, 20, 0.5));
    eval_options options = options_for("unsup-out", &t);
    options.mechanisms = "tem";
    options.epsilons = "20";
    options.learners = "linear";
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_ERR_FILE); /* small.temv */
    options.vectors = "text:3";
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_ERR_ARGUMENT);
    mkdir(in_folder("unsup/train/unsup"), 0777);
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_ERR_FORMAT);
    for (int i = 0; i < 5; i++)
        write_file(in_folder("unsup/train/unsup/%d_0.txt", i), documents[i]);
    options.folder = in_folder("unsup-out");
    options.vectors = "text:4";
    if (eval_imdb(model, data, &options, &error) != TEM_OK)
        fail_msg("%s", error.message);
    assert_string_equal(t.last.prior, "public");
    assert_non_null(strstr(t.last.setting, "learners' vectors text:4, penalty by validation"));
    static const char *const bad[] = {"text:", "text:0", "text:1025", "text:4x", "text:-1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        options.vectors = bad[i];
        assert_int_equal(eval_imdb(model, data, &options, &error), TEM_ERR_ARGUMENT);
    }
    options.vectors = "text:4";
    snprintf(lines, sizeof lines, "%s", in_folder("lines.txt"));
    options.public_text = lines;
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_ERR_FILE);
    write_file(lines, "w1 w2 w9\nw3 w4 w5\nw1 w3\nw7 w8\nw5 w6\n\xff\n");
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_ERR_FORMAT);
    assert_string_equal(error.file, lines);
    write_file(lines, "w1 w2 w9\nw3 w4 w5\nw1 w3\nw7 w8\nw5 w6\n");
    options.folder = in_folder("lines-out");
    assert_int_equal(eval_imdb(model, data, &options, &error), TEM_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trials_differ),
        cmocka_unit_test(halves),
        cmocka_unit_test(guesses),
        cmocka_unit_test(plans),
        cmocka_unit_test(students_distribution),
        cmocka_unit_test(a_signal_is_found),
        cmocka_unit_test(no_signal_is_not_found),
        cmocka_unit_test(an_over_fitted_classifier_gives_its_members_away),
        cmocka_unit_test(the_protocol_is_the_documented_one),
        cmocka_unit_test(membership_is_of_the_text_that_was_seen),
        cmocka_unit_test(an_untrained_model_gives_nothing_away),
        cmocka_unit_test(permuted_labels_are_not_found),
        cmocka_unit_test(a_killed_run_goes_on),
        cmocka_unit_test(a_cancelled_run_keeps_what_is_done),
        cmocka_unit_test(threads_change_no_result),
        cmocka_unit_test(results_of_another_kind_are_refused),
        cmocka_unit_test(a_row_is_of_its_data),
        cmocka_unit_test(other_data_needs_another_folder),
        cmocka_unit_test(digests_tell_data_apart),
        cmocka_unit_test(a_long_epsilon_is_taken_up),
        cmocka_unit_test(figures_show_what_there_is),
        cmocka_unit_test(pictures_are_whole),
        cmocka_unit_test(bad_pictures_are_not_kept),
        cmocka_unit_test(too_many_epsilons_are_refused),
        cmocka_unit_test(one_evaluation_a_folder),
        cmocka_unit_test(results_that_cannot_be_written),
        cmocka_unit_test(done_again_means_anew),
        cmocka_unit_test(a_missing_certificate_is_named),
        cmocka_unit_test(own_texts_are_classified),
        cmocka_unit_test(bad_texts_are_refused_by_line),
        cmocka_unit_test(a_label_of_the_test_alone_is_refused),
        cmocka_unit_test(a_folder_that_is_not_aclimdb_is_refused),
        cmocka_unit_test(texts_without_content_are_refused),
        cmocka_unit_test(a_quarter_has_a_quarter_of_each_class),
        cmocka_unit_test(plans_keep_texts_together),
        cmocka_unit_test(rows_of_earlier_versions_are_kept),
        cmocka_unit_test(the_law_helps_where_it_should),
        cmocka_unit_test(the_test_texts_choose_no_penalty),
        cmocka_unit_test(a_linear_learner_can_give_its_members_away),
        cmocka_unit_test(learners_have_rows),
        cmocka_unit_test(signals_are_vectors),
        cmocka_unit_test(public_text_is_found),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
