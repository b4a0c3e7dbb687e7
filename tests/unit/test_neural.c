/* test_neural.c - the networks of the evaluation: gradients against finite differences, Adam
 * against its formula in double, delayed steps against immediate steps, the area under the curve
 * against its definition, and the same bits from every loop and any number of threads. */
#include "adam_loops.h"
#include "attack.h"
#include "classifier.h"
#include "linear.h"
#include "validation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float normal(chance *c) {
    return (float)chance_normal(c);
}

/* ----------------------------------------------------------- gradients -- */

/* Central differences in float: the error is the loss's rounding over 2h, plus h^2. */
static const float h = 1.0f / 1024;
static const double tolerance = 1e-3;

static void attack_gradients(void **state) {
    (void)state;
    enum { CLASSES = 3, ROWS = 6 };
    chance c = {5};
    attack a;
    float rows[ROWS * CLASSES];
    uint32_t labels[ROWS];
    double loss = 0, up = 0, down = 0, largest = 0;
    int kinks = 0, looks = 0; /* at a kink of ReLU the two slopes differ */
    for (int i = 0; i < ROWS * CLASSES; i++)
        rows[i] = normal(&c);
    for (int i = 0; i < ROWS; i++)
        labels[i] = chance_next(&c) & 1;
    assert_int_equal(attack_create(CLASSES, &c, &a, NULL), TEM_OK);
    for (int layer = 0; layer < 3; layer++) {
        dense *d = &a.layers[layer];
        for (uint32_t i = 0; i < (d->in + 1) * d->out; i += 1 + i % 7) {
            const float kept = d->weights[i];
            assert_int_equal(attack_loss(&a, rows, labels, ROWS, &loss, NULL), TEM_OK);
            const double gradient = d->gradients[i];
            d->weights[i] = kept + h;
            assert_int_equal(attack_loss(&a, rows, labels, ROWS, &up, NULL), TEM_OK);
            d->weights[i] = kept - h;
            assert_int_equal(attack_loss(&a, rows, labels, ROWS, &down, NULL), TEM_OK);
            d->weights[i] = kept;
            const double right = (up - loss) / (double)h, left = (loss - down) / (double)h;
            assert_true(gradient > fmin(left, right) - tolerance);
            assert_true(gradient < fmax(left, right) + tolerance);
            kinks += fabs(left - right) > tolerance;
            looks++;
            largest = fmax(largest, fabs(gradient));
        }
    }
    assert_true(kinks < looks / 10);
    assert_true(largest > 20 * tolerance); /* otherwise the comparison proves nothing */
    attack_free(&a);
}

enum { WORDS = 50, DIMENSION = 21 };

/* Documents of random words. With probability `signal` a word shows the label: below half of all
 * words for class 0, above for class 1. */
static void make_corpus(corpus *c, uint32_t documents, uint32_t length, double signal,
                        uint64_t seed) {
    chance numbers = {seed};
    *c = (corpus){.count = documents, .capacity = documents};
    c->starts = calloc(documents + 1, sizeof *c->starts);
    c->labels = calloc(documents, sizeof *c->labels);
    c->words = calloc((size_t)documents * length + 1, sizeof *c->words);
    assert_true(c->starts != NULL && c->labels != NULL && c->words != NULL);
    for (uint32_t i = 0; i < documents; i++) {
        c->labels[i] = i & 1;
        c->starts[i + 1] = c->starts[i] + length;
        for (uint32_t k = 0; k < length; k++) {
            const uint32_t word = (uint32_t)(chance_unit(&numbers) * WORDS);
            const int told = chance_unit(&numbers) < signal;
            c->words[i * length + k] = told ? word / 2 + (i & 1) * (WORDS / 2) : word;
        }
    }
}

static void make_bags(bags *b, corpus *c, uint32_t documents, uint32_t length, double signal,
                      uint64_t seed) {
    make_corpus(c, documents, length, signal, seed);
    assert_int_equal(bags_create(c, b, NULL), TEM_OK);
}

static void classifier_gradients(void **state) {
    (void)state;
    corpus c;
    bags b;
    chance numbers = {8};
    classifier k = {.classes = 2};
    double loss = 0, up = 0, down = 0, largest = 0;
    float gradient[DIMENSION], others[DIMENSION];
    make_bags(&b, &c, 12, 9, 0.5, 3);
    assert_int_equal(embedding_random(WORDS, DIMENSION, 4, &k.vectors, NULL), TEM_OK);
    assert_int_equal(dense_create(DIMENSION, 2, &numbers, &k.layer, NULL), TEM_OK);
    for (uint32_t word = 0; word < WORDS; word++) {
        assert_int_equal(classifier_loss(&k, &b, word, gradient, &loss, NULL), TEM_OK);
        for (uint32_t i = 0; i < DIMENSION; i++) {
            float *place = k.vectors.rows + word * k.vectors.stride + i;
            const float kept = *place;
            *place = kept + h;
            assert_int_equal(classifier_loss(&k, &b, word, others, &up, NULL), TEM_OK);
            *place = kept - h;
            assert_int_equal(classifier_loss(&k, &b, word, others, &down, NULL), TEM_OK);
            *place = kept;
            const double slope = (up - down) / (2 * (double)h);
            assert_true(fabs(slope - (double)gradient[i]) < tolerance / 5);
            largest = fmax(largest, fabs(slope));
        }
    }
    assert_true(largest > tolerance);
    classifier_free(&k);
    bags_free(&b);
    corpus_free(&c);
}

/* ---------------------------------------------------------------- Adam -- */

enum { COUNT = 3 * ADAM_LANES, STEPS = 3000 };

typedef struct parameters {
    float p[COUNT], m[COUNT], v[COUNT];
} __attribute__((aligned(64))) parameters;

static void adam_follows_its_formula(void **state) {
    (void)state;
    chance c = {1};
    parameters x = {0};
    float g[COUNT] __attribute__((aligned(64)));
    double p[COUNT], m[COUNT] = {0}, v[COUNT] = {0};
    adam_schedule s;
    assert_int_equal(adam_schedule_create(STEPS, &s, NULL), TEM_OK);
    for (int i = 0; i < COUNT; i++)
        p[i] = x.p[i] = normal(&c);
    for (uint32_t t = 1; t <= 300; t++) {
        for (int i = 0; i < COUNT; i++)
            g[i] = normal(&c) * (float)pow(10, -i % 9);
        adam_step(&s, t, x.p, x.m, x.v, g, COUNT);
        for (int i = 0; i < COUNT; i++) {
            m[i] = 0.9 * m[i] + 0.1 * (double)g[i];
            v[i] = 0.999 * v[i] + 0.001 * (double)g[i] * (double)g[i];
            p[i] -=
                0.001 / (1 - pow(0.9, t)) * m[i] / (sqrt(v[i]) / sqrt(1 - pow(0.999, t)) + 1e-8);
        }
    }
    for (int i = 0; i < COUNT; i++)
        assert_true(fabs((double)x.p[i] - p[i]) < 1e-5);
    adam_schedule_free(&s);
}

/* Delayed steps without a gradient, taken all at once, against single steps. */
static void late_steps_equal_steps_in_time(void **state) {
    (void)state;
    static const uint32_t starts[] = {1, 2, 10, 100, 900};
    static const uint32_t lengths[] = {1, 2, 9, 60, 250, 2000};
    chance c = {2};
    adam_schedule s;
    double largest = 0;
    static const float zero[COUNT] __attribute__((aligned(64)));
    assert_int_equal(adam_schedule_create(STEPS, &s, NULL), TEM_OK);
    for (size_t a = 0; a < sizeof starts / sizeof *starts; a++)
        for (size_t b = 0; b < sizeof lengths / sizeof *lengths; b++) {
            parameters x = {0};
            float g[COUNT] __attribute__((aligned(64)));
            for (int i = 0; i < COUNT; i++) {
                x.p[i] = normal(&c) / 3;
                g[i] = normal(&c) * (float)pow(10, -i % 10);
            }
            for (uint32_t t = 1; t <= starts[a]; t++)
                adam_step(&s, t, x.p, x.m, x.v, g, COUNT);
            parameters late = x;
            const uint32_t last = starts[a] + lengths[b];
            for (uint32_t t = starts[a] + 1; t <= last; t++)
                adam_step(&s, t, x.p, x.m, x.v, zero, COUNT);
            adam_idle(&s, starts[a] + 1, last, late.p, late.m, late.v, COUNT);
            for (int i = 0; i < COUNT; i++) {
                largest = fmax(largest, fabs((double)(x.p[i] - late.p[i])));
                assert_true(fabsf(x.m[i] - late.m[i]) <= 1e-4f * fabsf(x.m[i]) + 1e-37f);
                assert_true(fabsf(x.v[i] - late.v[i]) <= 1e-3f * fabsf(x.v[i]) + 1e-37f);
            }
        }
    assert_true(largest < 1e-6);
    adam_schedule_free(&s);
}

static void every_width_gives_the_same_bits(void **state) {
    (void)state;
    const adam_loops *all[3] = {&adam_loops_plain};
    int count = 1;
#ifdef ADAM_X86
    if (__builtin_cpu_supports("avx2"))
        all[count++] = &adam_loops_avx2;
    if (__builtin_cpu_supports("avx512f"))
        all[count++] = &adam_loops_avx512;
#endif
    parameters results[3];
    adam_schedule s;
    assert_int_equal(adam_schedule_create(STEPS, &s, NULL), TEM_OK);
    for (int k = 0; k < count; k++) {
        chance c = {7};
        parameters x = {0};
        float g[COUNT] __attribute__((aligned(64)));
        uint32_t t = 1;
        for (int i = 0; i < COUNT; i++)
            x.p[i] = normal(&c);
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < COUNT; i++)
                g[i] = normal(&c);
            all[k]->step(&s, t, x.p, x.m, x.v, g, COUNT);
            all[k]->idle(&s, t + 1, t + 1 + (uint32_t)round, x.p, x.m, x.v, COUNT);
            all[k]->add(x.p, g, 0.3f, COUNT);
            t += 2 + (uint32_t)round;
        }
        results[k] = x;
    }
    for (int k = 1; k < count; k++)
        assert_memory_equal(&results[k], &results[0], sizeof results[0]);
    adam_schedule_free(&s);
}

/* ------------------------------------------------------------ training -- */

static classifier train(const bags *b, training how, unsigned threads) {
    embedding start;
    core_team *p = NULL;
    classifier k;
    assert_int_equal(embedding_random(WORDS, DIMENSION, 4, &start, NULL), TEM_OK);
    assert_int_equal(core_team_create(&(tem_run){.threads = threads}, &p, NULL), TEM_OK);
    assert_int_equal(classifier_train(&start, b, 2, &how, p, NULL, &k, NULL), TEM_OK);
    core_team_free(p);
    embedding_free(&start);
    return k;
}

static size_t row_bytes(const classifier *k) {
    return (size_t)k->vectors.words * k->vectors.stride * sizeof(float);
}

/* A word occurs every fifth step on average, some only after a hundred. */
static void late_training_equals_dense_training(void **state) {
    (void)state;
    corpus c;
    bags b;
    make_bags(&b, &c, 300, 4, 0.3, 11);
    classifier late = train(&b, (training){.epochs = 4, .batch = 3, .seed = 9}, 1);
    classifier in_time =
        train(&b, (training){.epochs = 4, .batch = 3, .seed = 9, .dense = true}, 1);
    double largest = 0;
    for (size_t i = 0; i < row_bytes(&late) / sizeof(float); i++)
        largest = fmax(largest, fabs((double)(late.vectors.rows[i] - in_time.vectors.rows[i])));
    assert_true(largest < 1e-5); /* 400 steps, each within rounding */
    classifier_free(&late);
    classifier_free(&in_time);
    bags_free(&b);
    corpus_free(&c);
}

static void threads_change_no_bit(void **state) {
    (void)state;
    corpus c;
    bags b;
    make_bags(&b, &c, 200, 12, 0.3, 12);
    const training how = {.epochs = 3, .batch = 16, .seed = 9};
    classifier one = train(&b, how, 1);
    for (unsigned threads = 2; threads <= 5; threads += 3) {
        classifier more = train(&b, how, threads);
        assert_memory_equal(more.vectors.rows, one.vectors.rows, row_bytes(&one));
        assert_memory_equal(more.layer.weights, one.layer.weights, one.layer.count * sizeof(float));
        classifier_free(&more);
    }
    classifier other = train(&b, (training){.epochs = 3, .batch = 16, .seed = 10}, 1);
    assert_memory_not_equal(other.vectors.rows, one.vectors.rows, row_bytes(&one));
    classifier_free(&other);
    classifier_free(&one);
    bags_free(&b);
    corpus_free(&c);
}

static double accuracy_with_signal(double signal) {
    corpus c, d;
    bags b, test;
    float *answers = NULL;
    make_bags(&b, &c, 400, 10, signal, 21);
    make_bags(&test, &d, 2000, 10, signal, 22);
    classifier k = train(&b, (training){.epochs = 20, .batch = 16, .seed = 1}, 2);
    assert_int_equal(classifier_predict(&k, &test, NULL, &answers, NULL), TEM_OK);
    const double accuracy = classifier_accuracy(answers, &test, 2);
    free(answers);
    classifier_free(&k);
    bags_free(&test);
    bags_free(&b);
    corpus_free(&d);
    corpus_free(&c);
    return accuracy;
}

/* 2000 documents: without a signal the standard deviation is 0.011, so 0.05 is 4.5 of them. */
static void a_signal_is_found_and_none_is_not(void **state) {
    (void)state;
    assert_true(accuracy_with_signal(0.8) > 0.9);
    assert_true(fabs(accuracy_with_signal(0) - 0.5) < 0.05);
}

/* -------------------------------------------------------------- attack -- */

static void auc_is_its_definition(void **state) {
    (void)state;
    chance c = {3};
    for (uint32_t levels = 2; levels <= 1000; levels *= 5) {
        float in[60], out[45];
        double wins = 0, auc = 0;
        for (int i = 0; i < 60; i++)
            in[i] = floorf((float)chance_unit(&c) * (float)levels + 0.3f);
        for (int i = 0; i < 45; i++)
            out[i] = floorf((float)chance_unit(&c) * (float)levels);
        for (int i = 0; i < 60; i++)
            for (int k = 0; k < 45; k++)
                wins += in[i] > out[k] ? 1 : in[i] < out[k] ? 0 : 0.5;
        assert_int_equal(auc_of_scores(in, 60, out, 45, &auc, NULL), TEM_OK);
        assert_true(fabs(auc - wins / (60 * 45)) < 1e-12);
    }
}

enum { MEMBERS = 2000 };

/* Answers of a model that is surer, by `surer`, about documents it has seen. */
static void make_answers(float *rows, double surer, uint64_t seed) {
    chance c = {seed};
    for (int i = 0; i < MEMBERS; i++) {
        const double side = chance_next(&c) & 1 ? 1 : -1;
        const double score = side * (1 + surer) + chance_normal(&c);
        rows[2 * i] = (float)(1 / (1 + exp(-score)));
        rows[2 * i + 1] = 1 - rows[2 * i];
    }
}

/* Without a difference the standard deviation of the area is 0.41/sqrt(2000) = 0.009. */
static void the_attack_finds_what_is_there(void **state) {
    (void)state;
    static float in[2 * MEMBERS], out[2 * MEMBERS], target[2 * MEMBERS];
    double auc = 0;
    attack a;
    make_answers(in, 3, 1);
    make_answers(out, 0, 2);
    assert_int_equal(attack_train(in, MEMBERS, out, MEMBERS, 2, 5, &a, NULL), TEM_OK);
    make_answers(target, 3, 3);
    assert_int_equal(attack_auc(&a, target, MEMBERS, out, MEMBERS, &auc, NULL), TEM_OK);
    assert_true(auc > 0.9);
    make_answers(target, 0, 4);
    assert_int_equal(attack_auc(&a, target, MEMBERS, out, MEMBERS, &auc, NULL), TEM_OK);
    assert_true(fabs(auc - 0.5) < 0.03);
    attack_free(&a);
}

/* ----------------------------------------------------------- regression -- */

/* Examples with one number and the bias. With equal classes at -1 and 1, of which a share of 3/4
 * has the label of its side, the best weights are (-v, v) for the number and equal ones for the
 * bias, and v solves 1 / (1 + exp(-2 v)) - 3/4 + penalty * v = 0. */
static double known_weight(double penalty) {
    double low = 0, high = 1;
    for (int i = 0; i < 100; i++) {
        const double v = (low + high) / 2;
        *(1 / (1 + exp(-2 * v)) - 0.75 + penalty * v > 0 ? &high : &low) = v;
    }
    return low;
}

static void regression_finds_a_known_minimum(void **state) {
    (void)state;
    enum { EXAMPLES = 1000 };
    static float rows[EXAMPLES * 2];
    static uint32_t labels[EXAMPLES];
    for (uint32_t i = 0; i < EXAMPLES; i++) {
        rows[2 * i] = i & 1 ? 1 : -1;
        rows[2 * i + 1] = 1;
        labels[i] = i % 8 < 2 ? !(i & 1) : i & 1;
    }
    const examples e = {EXAMPLES, 2, rows};
    static const double penalties[] = {0.001, 0.1, 10};
    for (size_t k = 0; k < 3; k++) {
        linear l;
        const double v = known_weight(penalties[k]), p = 1 / (1 + exp(-2 * v));
        assert_int_equal(linear_train(&e, labels, 2, penalties[k], NULL, NULL, &l, NULL), TEM_OK);
        assert_true(fabs((double)l.weights[1] - v) < 1e-4);
        assert_true(fabs((double)l.weights[0] + v) < 1e-4);
        assert_true(fabs((double)(l.weights[2] - l.weights[3])) < 1e-4);
        assert_true(fabs(l.loss - (-0.75 * log(p) - 0.25 * log(1 - p) + penalties[k] * v * v)) <
                    1e-6);
        linear_free(&l);
    }
}

/* Loss in double, by its definition. */
static double loss_of(const examples *e, const uint32_t *labels, uint32_t classes, double penalty,
                      const double *weights) {
    double loss = 0;
    for (uint32_t i = 0; i < e->count; i++) {
        double sum = 0, own = 0;
        for (uint32_t k = 0; k < classes; k++) {
            double score = 0;
            for (uint32_t j = 0; j < e->columns; j++)
                score += (double)e->rows[(size_t)i * e->columns + j] * weights[j * classes + k];
            sum += exp(score);
            own = k == labels[i] ? score : own;
        }
        loss += (log(sum) - own) / e->count;
    }
    for (uint32_t j = 0; j < (e->columns - 1) * classes; j++)
        loss += penalty / 2 * weights[j] * weights[j];
    return loss;
}

/* Three classes, more examples than one chunk has: in double, no direction leads further down, and
 * any number of threads gives the same bits. */
static void regression_is_at_a_minimum(void **state) {
    (void)state;
    enum { EXAMPLES = 700, COLUMNS = 6, CLASSES = 3, SIZE = COLUMNS * CLASSES };
    static float rows[EXAMPLES * COLUMNS];
    static uint32_t labels[EXAMPLES];
    static const double penalty = 0.05, step = 1e-3;
    chance c = {8};
    for (uint32_t i = 0; i < EXAMPLES; i++) {
        for (uint32_t j = 0; j + 1 < COLUMNS; j++)
            rows[i * COLUMNS + j] = normal(&c);
        rows[i * COLUMNS + COLUMNS - 1] = 1;
        labels[i] = rows[i * COLUMNS] + normal(&c) > 0.5f ? 2 : rows[i * COLUMNS + 1] > 0;
    }
    const examples e = {EXAMPLES, COLUMNS, rows};
    linear found[2];
    for (unsigned k = 0; k < 2; k++) {
        core_team *team = NULL;
        assert_int_equal(core_team_create(&(tem_run){.threads = 1 + 2 * k}, &team, NULL), TEM_OK);
        assert_int_equal(linear_train(&e, labels, CLASSES, penalty, team, NULL, &found[k], NULL),
                         TEM_OK);
        core_team_free(team);
    }
    assert_memory_equal(found[0].weights, found[1].weights, SIZE * sizeof(float));
    double weights[SIZE];
    for (int i = 0; i < SIZE; i++)
        weights[i] = (double)found[0].weights[i];
    const double loss = loss_of(&e, labels, CLASSES, penalty, weights);
    assert_true(fabs(loss - found[0].loss) < 1e-6);
    for (int i = 0; i < SIZE; i++) {
        const double kept = weights[i];
        weights[i] = kept + step;
        const double up = loss_of(&e, labels, CLASSES, penalty, weights);
        weights[i] = kept - step;
        const double down = loss_of(&e, labels, CLASSES, penalty, weights);
        weights[i] = kept;
        assert_true(fabs(up - down) / (2 * step) < 3e-5); /* the solver stops at 1e-5 */
    }
    linear_free(&found[0]);
    linear_free(&found[1]);
}

/* ----------------------------------------------------------- validation -- */

/* The mean cross entropy on the held-out examples of the weights of the others, each from their
 * definitions: every fifth example of a class is held out. */
static double held_out_loss(const examples *e, const uint32_t *labels, uint32_t classes,
                            double penalty) {
    float *rows = calloc((size_t)e->count * e->columns, sizeof *rows);
    uint32_t *kept = calloc(e->count, sizeof *kept), seen[8] = {0}, count = 0, held = 0;
    double weights[64], sum = 0;
    linear l;
    assert_true(rows != NULL && kept != NULL && classes <= 8 && e->columns * classes <= 64);
    for (uint32_t i = 0; i < e->count; i++)
        if (++seen[labels[i]] % 5 != 0) {
            memcpy(rows + (size_t)count * e->columns, e->rows + (size_t)i * e->columns,
                   e->columns * sizeof *rows);
            kept[count++] = labels[i];
        }
    const examples others = {count, e->columns, rows};
    assert_int_equal(linear_train(&others, kept, classes, penalty, NULL, NULL, &l, NULL), TEM_OK);
    for (uint32_t i = 0; i < e->columns * classes; i++)
        weights[i] = (double)l.weights[i];
    memset(seen, 0, sizeof seen);
    for (uint32_t i = 0; i < e->count; i++)
        if (++seen[labels[i]] % 5 == 0) {
            const examples one = {1, e->columns, e->rows + (size_t)i * e->columns};
            sum += loss_of(&one, &labels[i], classes, 0, weights);
            held++;
        }
    linear_free(&l);
    free(rows);
    free(kept);
    return sum / held;
}

/* Examples of three classes; `signal` says how much the first two numbers tell of the class. */
static void make_examples(float *rows, uint32_t *labels, uint32_t count, uint32_t columns,
                          float signal, uint64_t seed) {
    chance c = {seed};
    for (uint32_t i = 0; i < count; i++) {
        labels[i] = (uint32_t)(chance_unit(&c) * 3);
        for (uint32_t j = 0; j + 1 < columns; j++)
            rows[i * columns + j] = normal(&c) + (j == labels[i] ? signal : 0);
        rows[i * columns + columns - 1] = 1;
    }
}

/* With a signal the best penalty is between the ends; random labels take the largest one, where a
 * choice by the examples that were learned from would take the smallest. */
static void the_penalty_predicts_held_out_examples(void **state) {
    (void)state;
    enum { EXAMPLES = 240, COLUMNS = 16 };
    static float rows[EXAMPLES * COLUMNS];
    static uint32_t labels[EXAMPLES];
    static const float signals[] = {0, 0.5f, 1, 2};
    double largest = validation_penalty_at(0), penalty = 0;
    double smallest = validation_penalty_at(VALIDATION_PENALTIES - 1);
    assert_true(fabs(largest - 10) < 1e-9 && fabs(smallest - 1e-4) < 1e-12);
    for (int k = 0; k < 4; k++) {
        make_examples(rows, labels, EXAMPLES, COLUMNS, signals[k], 90 + (uint64_t)k);
        const examples e = {EXAMPLES, COLUMNS, rows};
        assert_int_equal(validation_penalty(&e, labels, 3, NULL, NULL, &penalty, NULL), TEM_OK);
        const double found = held_out_loss(&e, labels, 3, penalty);
        for (uint32_t i = 0; i < VALIDATION_PENALTIES; i++)
            assert_true(found <= held_out_loss(&e, labels, 3, validation_penalty_at(i)) + 1e-5);
        assert_true(k == 0 ? penalty > 0.9 : penalty < largest && penalty > smallest);
    }
    tem_error error;
    const examples few = {12, COLUMNS, rows};
    for (uint32_t i = 0; i < 12; i++)
        labels[i] = i % 3;
    assert_int_equal(validation_penalty(&few, labels, 3, NULL, NULL, &penalty, &error),
                     TEM_ERR_FORMAT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attack_gradients),
        cmocka_unit_test(classifier_gradients),
        cmocka_unit_test(adam_follows_its_formula),
        cmocka_unit_test(late_steps_equal_steps_in_time),
        cmocka_unit_test(every_width_gives_the_same_bits),
        cmocka_unit_test(late_training_equals_dense_training),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(a_signal_is_found_and_none_is_not),
        cmocka_unit_test(auc_is_its_definition),
        cmocka_unit_test(the_attack_finds_what_is_there),
        cmocka_unit_test(regression_finds_a_known_minimum),
        cmocka_unit_test(regression_is_at_a_minimum),
        cmocka_unit_test(the_penalty_predicts_held_out_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
