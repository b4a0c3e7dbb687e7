/* test_learned.c - the attacker who learns a mechanism from drawn pairs, and effects by rows.
 *
 * The oracles are sums over all words and outputs. Where draws decide, a test states how many, and
 * the seeds are fixed: it gives the same result in every run. */
#include "compare/learned.h"
#include "compare/word_effects.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pseudo.h"
#include "small_account.h"
#include "small_model.h"

#include <unistd.h>

/* A model of random points in `dimension` dimensions, with short lists, so that most guesses look
 * beyond them. Every fifth word is excluded if `excluding`. */
static tem_model *random_model(uint32_t count, uint32_t dimension, bool excluding) {
    float *values = calloc((size_t)count * dimension, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < (size_t)count * dimension; i++)
        values[i] = (float)random_below(1000) / 250;
    tem_model *model = small_model(NULL, values, count, dimension, TEM_EUCLIDEAN, 3);
    free(values);
    char names[200][8];
    const char *excluded[200];
    uint32_t found = 0;
    for (uint32_t id = 4; id < count && excluding; id += 5, found++) {
        snprintf(names[found], sizeof names[found], "w%u", id);
        excluded[found] = names[found];
    }
    assert_int_equal(model_exclude(model, excluded, found, NULL), TEM_OK);
    return model;
}

/* Everything that a test needs. */
typedef struct small_case {
    tem_model *model;
    tem_mechanism *mechanism;
    tem_accountant *accountant;
    tem_prior *prior;
} small_case;

static small_case make_case(tem_model *model, const char *name, double epsilon) {
    small_case c = {.model = model, .accountant = accountant_of(model, NULL)};
    c.mechanism =
        mechanism_of(model, (tem_mechanism_options){.mechanism = name, .epsilon = epsilon});
    assert_int_equal(tem_prior_create_zipf(model, 1, &c.prior, NULL), TEM_OK);
    return c;
}

static void free_case(small_case *c) {
    tem_prior_free(c->prior);
    tem_accountant_free(c->accountant);
    tem_mechanism_free(c->mechanism);
    tem_model_free(c->model);
}

static tem_learned *learn_from(const small_case *c, tem_learned_options options) {
    tem_learned *learned = NULL;
    assert_int_equal(
        tem_learned_create(c->accountant, c->mechanism, c->prior, &options, NULL, &learned, NULL),
        TEM_OK);
    return learned;
}

/* ------------------------------------------------------------ the attacker -- */

/* P^ of every word adds up to 1, and excluded words have none. */
static void test_probabilities_add_up(void **state) {
    (void)state;
    for (int excluding = 0; excluding < 2; excluding++) {
        small_case c = make_case(random_model(150, 4, excluding), "tem", 2);
        for (int k = 0; k < 3; k++) {
            tem_learned *learned =
                learn_from(&c, (tem_learned_options){.pairs = 5000, .smoothing = k * 30.0});
            for (uint32_t w = 0; w < 150; w++) {
                double sum = 0;
                for (uint32_t y = 0; y < 150; y++) {
                    const double p = tem_learned_probability(learned, w, y);
                    assert_true(p >= 0 && (p > 0) == !tem_model_is_excluded(c.model, y));
                    sum += p;
                }
                assert_true(fabs(sum - 1) < 1e-9);
            }
            tem_learned_free(learned);
        }
        free_case(&c);
    }
}

/* A column of likelihoods has the same P^ as one word after the other; also for unknown words: they
 * have half of the pairs here. */
static void test_columns(void **state) {
    (void)state;
    enum { COUNT = 120, PAIRS = 4000 };
    for (int excluding = 0; excluding < 2; excluding++) {
        small_case c = make_case(random_model(COUNT, 4, excluding), "tem", 2);
        const tem_accountant *a = c.accountant;
        double shares[COUNT + 1], column[COUNT + 1], sums[COUNT + 1] = {0};
        drawn_pair pairs[PAIRS];
        tem_dist distances[COUNT];
        learned_law law;
        for (uint32_t w = 0; w <= COUNT; w++)
            shares[w] = w == COUNT ? COUNT : 1;
        assert_int_equal(drawn_pairs_make(c.mechanism, shares, true, PAIRS_TO_LEARN, 1, PAIRS, NULL,
                                          pairs, NULL),
                         TEM_OK);
        assert_int_equal(learned_law_make(&c.model->space, &a->profile, a->weights, pairs, PAIRS,
                                          excluding * 50.0, &law, NULL),
                         TEM_OK);
        assert_true(law.drawn[COUNT] > PAIRS / 2 - 200 && law.drawn[COUNT] < PAIRS / 2 + 200);
        for (uint32_t y = 0; y < COUNT; y++) {
            space_distances(&c.model->space, y, 0, COUNT, distances);
            learned_law_column(&law, y, distances, column);
            for (uint32_t w = 0; w <= COUNT; w++) {
                const uint32_t word = w == COUNT ? TEM_NO_WORD : w;
                assert_true(fabs(column[w] - learned_law_probability(&law, word, y)) < 1e-12);
                assert_true((column[w] > 0) == !tem_model_is_excluded(c.model, y));
                sums[w] += column[w];
            }
        }
        for (uint32_t w = 0; w <= COUNT; w++)
            assert_true(fabs(sums[w] - 1) < 1e-9);
        learned_law_free(&law);
        free_case(&c);
    }
}

/* The search finds the best of all words, though it looks at few. */
static void test_guess_is_best(void **state) {
    (void)state;
    static const double epsilons[] = {0.2, 1, 3, 8};
    for (size_t e = 0; e < sizeof epsilons / sizeof *epsilons; e++) {
        small_case c = make_case(random_model(200, 3, e % 2 == 1), "tem", epsilons[e]);
        tem_learned *learned = learn_from(&c, (tem_learned_options){.pairs = 3000, .seed = e});
        for (uint32_t y = 0; y < 200; y++) {
            double best = 0;
            for (uint32_t w = 0; w < 200; w++)
                best = fmax(best, c.prior->frequencies[w] * tem_learned_probability(learned, w, y));
            const uint32_t guess = tem_learned_guess(learned, y);
            assert_true(guess < 200);
            const double found =
                c.prior->frequencies[guess] * tem_learned_probability(learned, guess, y);
            assert_true(tem_model_is_excluded(c.model, y) || found >= best * (1 - 1e-12));
        }
        tem_learned_free(learned);
        free_case(&c);
    }
}

/* On a mechanism with a law the learned attacker comes near the best possible one: within 0.01 of
 * its success. 40,000 tested pairs have a standard error below 0.0025, so a fair attacker that is
 * as good as the best one is beyond 0.01 with probability below 1e-4. */
static void test_near_the_exact_guess(void **state) {
    (void)state;
    static const double epsilons[] = {0.5, 1.5, 3, 6};
    for (size_t e = 0; e < sizeof epsilons / sizeof *epsilons; e++) {
        small_case c = make_case(random_model(400, 5, true), "tem", epsilons[e]);
        tem_learned *learned = learn_from(&c, (tem_learned_options){.pairs = 40000, .seed = 3});
        tem_learned_score score;
        tem_effects effects;
        assert_int_equal(tem_learned_test(learned, 40000, 3, NULL, &score, NULL), TEM_OK);
        assert_int_equal(
            tem_accountant_effects(c.accountant, c.mechanism, c.prior, NULL, &effects, NULL),
            TEM_OK);
        assert_true(fabs(score.guess - effects.guess) < 0.01);
        /* The law is inside the model of distance, so the counts alone predict worse. */
        assert_true(tem_learned_smoothing(learned) > 100);
        assert_true(score.low < score.guess && score.guess < score.high);
        assert_true(score.pairs == 40000 && score.right <= score.pairs);
        tem_learned_free(learned);
        free_case(&c);
    }
}

/* The attacker is tested on pairs that it has not seen. With a tiny k it only knows the pairs that
 * it learned from, which are nearly all different here: there it would nearly always be right. */
static void test_pairs_are_fresh(void **state) {
    (void)state;
    small_case c = make_case(random_model(900, 3, false), "tem", 0.01);
    tem_learned *learned =
        learn_from(&c, (tem_learned_options){.pairs = 3000, .seed = 5, .smoothing = 1e-6});
    tem_learned_score score;
    tem_effects effects;
    assert_int_equal(tem_learned_test(learned, 3000, 5, NULL, &score, NULL), TEM_OK);
    assert_int_equal(
        tem_accountant_effects(c.accountant, c.mechanism, c.prior, NULL, &effects, NULL), TEM_OK);
    assert_true(score.low < effects.guess);
    tem_learned_free(learned);
    free_case(&c);
}

/* ------------------------------------------------- mechanisms of this test -- */

enum { WORDS = 60 };

static double laws[WORDS][WORDS]; /* [w][y] */

static tem_status init_nothing(void *made, const mechanism_setup *setup, double *beta,
                               tem_error *error) {
    (void)made, (void)setup, (void)beta, (void)error;
    return TEM_OK;
}

static void free_nothing(void *made) {
    (void)made;
}

static tem_status draw_by_laws(const void *made, const uint32_t *words, size_t count, tem_rng *rng,
                               uint32_t *out, tem_error *error) {
    (void)made, (void)error;
    for (size_t i = 0; i < count; i++) {
        double left = rng_unit(rng);
        uint32_t y = 0;
        while (y + 1 < WORDS && (left -= laws[words[i]][y]) > 0)
            y++;
        out[i] = y;
    }
    return TEM_OK;
}

/* A row takes a millisecond, so that several threads get rows. */
static tem_status row_of_laws(const void *made, uint32_t word, double *probabilities,
                              tem_error *error) {
    (void)made, (void)error;
    usleep(1000);
    memcpy(probabilities, laws[word], sizeof laws[word]);
    return TEM_OK;
}

static const tem_parameter parameters[] = {
    {.name = "epsilon", .meaning = "taken, and without effect", .most = 1e300}, {.name = NULL}};

static const mechanism_ops any_law = {.properties = {.name = "any-law",
                                                     .summary = "the laws of this test",
                                                     .law_digits = MECHANISM_ROW_DIGITS,
                                                     .parameters = parameters},
                                      .state_bytes = 1,
                                      .init = init_nothing,
                                      .free = free_nothing,
                                      .draw = draw_by_laws,
                                      .row = row_of_laws};

static small_case case_of_laws(void) {
    small_case c = {.model = random_model(WORDS, 3, false)};
    const tem_mechanism_options options = {.epsilon = 1, .allow_no_guarantee = 1};
    c.accountant = accountant_of(c.model, NULL);
    assert_int_equal(tem_prior_create_zipf(c.model, 1, &c.prior, NULL), TEM_OK);
    assert_int_equal(mechanism_make(c.model, &any_law, &options, &c.mechanism, NULL), TEM_OK);
    return c;
}

/* A mechanism whose outputs have nothing to do with the distance: each word has one output, that no
 * other word has. No model of distance knows that, only the counts do. */
static void test_counts_beat_the_model(void **state) {
    (void)state;
    memset(laws, 0, sizeof laws);
    for (uint32_t w = 0; w < WORDS; w++)
        laws[w][(w * 7 + 3) % WORDS] = 1;
    small_case c = case_of_laws();
    tem_learned *learned = learn_from(&c, (tem_learned_options){.pairs = 5000, .seed = 2});
    tem_learned_score score;
    assert_int_equal(tem_learned_test(learned, 5000, 2, NULL, &score, NULL), TEM_OK);
    assert_true(score.guess > 0.99);
    assert_true(tem_learned_smoothing(learned) < 10);
    tem_learned_free(learned);
    free_case(&c);
}

/* The effects by rows are those of sums over all words and outputs. */
static void test_effects_by_rows(void **state) {
    (void)state;
    for (uint32_t w = 0; w < WORDS; w++) {
        double sum = 0;
        for (uint32_t y = 0; y < WORDS; y++)
            sum += laws[w][y] = random_below(4) == 0 ? 0 : (double)random_below(1000);
        for (uint32_t y = 0; y < WORDS; y++)
            laws[w][y] /= sum;
    }
    small_case c = case_of_laws();
    double guess = 0, even = 0, exposed = 0;
    for (uint32_t y = 0; y < WORDS; y++) {
        double best = 0, best_even = 0;
        for (uint32_t w = 0; w < WORDS; w++) {
            best = fmax(best, c.prior->frequencies[w] * laws[w][y]);
            best_even = fmax(best_even, laws[w][y]);
        }
        guess += best;
        even += best_even / WORDS;
        exposed = fmax(exposed, laws[y][y]);
    }
    for (unsigned threads = 1; threads <= 3; threads++) {
        const tem_run run = {.threads = threads};
        tem_effects e;
        assert_int_equal(tem_accountant_effects(c.accountant, c.mechanism, c.prior, &run, &e, NULL),
                         TEM_OK);
        assert_true(fabs(e.guess - guess) < 1e-12 && fabs(e.guess_vocabulary - even) < 1e-12);
        assert_true(fabs(e.self_exposed - exposed) < 1e-12);
        assert_true(fabs(laws[e.exposed][e.exposed] - exposed) < 1e-12);
        /* Half of the prior is at or below the median, and half at or above it. */
        double below = 0, above = 0;
        for (uint32_t w = 0; w < WORDS; w++) {
            below += laws[w][w] <= e.self_median ? c.prior->frequencies[w] : 0;
            above += laws[w][w] >= e.self_median ? c.prior->frequencies[w] : 0;
        }
        assert_true(below >= 0.5 - 1e-12 && above >= 0.5 - 1e-12);
    }
    free_case(&c);
}

/* For an exponential law the effects come from the accountant: within 0.1 % of the sums. */
static void test_effects_of_tem(void **state) {
    (void)state;
    enum { COUNT = 120 };
    small_case c = make_case(random_model(COUNT, 3, true), "tem", 2);
    double best[COUNT] = {0}, best_even[COUNT] = {0}, guess = 0, even = 0;
    for (uint32_t w = 0; w < COUNT; w++) {
        tem_law *law = NULL;
        assert_int_equal(tem_law_create(c.mechanism, w, 15, &law, NULL), TEM_OK);
        for (uint32_t y = 0; y < COUNT; y++) {
            const double p = tem_law_probability(law, y);
            best[y] = fmax(best[y], c.prior->frequencies[w] * p);
            best_even[y] = fmax(best_even[y], p);
        }
        tem_law_free(law);
    }
    for (uint32_t y = 0; y < COUNT; y++) {
        guess += best[y];
        even += best_even[y] / COUNT;
    }
    tem_effects e;
    assert_int_equal(tem_accountant_effects(c.accountant, c.mechanism, c.prior, NULL, &e, NULL),
                     TEM_OK);
    assert_true(fabs(e.guess / guess - 1) < 1e-3 && fabs(e.guess_vocabulary / even - 1) < 1e-3);
    free_case(&c);
}

/* Learned effects are the sums over P^, up to the chord of f ln f in a cell of the profile. */
static void test_learned_effects(void **state) {
    (void)state;
    enum { COUNT = 150 };
    small_case c = make_case(random_model(COUNT, 4, true), "tem", 3);
    tem_learned *learned = learn_from(&c, (tem_learned_options){.pairs = 4000, .smoothing = 20});
    tem_effects e;
    word_effect of[COUNT];
    uint32_t most = TEM_NO_WORD;
    assert_int_equal(tem_learned_effects(learned, NULL, &e, NULL), TEM_OK);
    for (uint32_t w = 0; w < COUNT; w++) {
        double entropy = 0;
        for (uint32_t y = 0; y < COUNT; y++) {
            const double p = tem_learned_probability(learned, w, y);
            entropy -= p > 0 ? p * log(p) : 0;
        }
        of[w] = (word_effect){tem_learned_probability(learned, w, w), exp(entropy)};
        most = most == TEM_NO_WORD || of[w].self > of[most].self ? w : most;
    }
    tem_effects brute;
    assert_int_equal(word_effects_gather(c.accountant, c.prior, of, &brute, NULL), TEM_OK);
    assert_int_equal(e.exposed, most);
    assert_true(fabs(e.self_exposed - of[most].self) < 1e-9);
    assert_true(fabs(e.self_median - brute.self_median) < 1e-9);
    assert_true(fabs(e.support_median / brute.support_median - 1) < 1e-3);
    assert_true(isnan(e.guess) && isnan(e.guess_vocabulary));
    tem_learned_free(learned);
    free_case(&c);
}

/* -------------------------------------------------------------------- rest -- */

/* The same bits on any number of threads; other pairs for other seeds. */
static void test_threads_and_seeds(void **state) {
    (void)state;
    small_case c = make_case(random_model(300, 4, false), "tem", 2);
    tem_learned_score first, score;
    for (unsigned threads = 1; threads <= 4; threads++) {
        const tem_run run = {.threads = threads};
        const tem_learned_options options = {.pairs = 2000, .seed = 7 + (threads == 4)};
        tem_learned *learned = NULL;
        assert_int_equal(
            tem_learned_create(c.accountant, c.mechanism, c.prior, &options, &run, &learned, NULL),
            TEM_OK);
        assert_int_equal(tem_learned_test(learned, 5000, options.seed, &run, &score, NULL), TEM_OK);
        if (threads == 1)
            first = score;
        assert_int_equal(memcmp(&first, &score, sizeof score) == 0, threads < 4);
        tem_learned_free(learned);
    }
    free_case(&c);
}

static int stop_later(void *context, const char *stage, uint64_t done, uint64_t total) {
    int *left = context;
    assert_true(stage != NULL && done <= total);
    return (*left)-- <= 0;
}

static void test_stopping(void **state) {
    (void)state;
    small_case c = make_case(random_model(100, 3, false), "tem", 2);
    int left = 0;
    const tem_run run = {.progress = stop_later, .progress_context = &left, .threads = 1};
    tem_learned *learned = NULL;
    tem_effects e = {.guess = -1};
    tem_learned_score score = {.guess = -1};
    assert_int_equal(
        tem_learned_create(c.accountant, c.mechanism, c.prior, NULL, &run, &learned, NULL),
        TEM_ERR_CANCELLED);
    assert_null(learned);
    assert_int_equal(tem_accountant_effects(c.accountant, c.mechanism, c.prior, &run, &e, NULL),
                     TEM_ERR_CANCELLED);
    learned = learn_from(&c, (tem_learned_options){.pairs = 1000});
    for (int n = 0; n < 2; n++) {
        left = n;
        assert_int_equal(tem_learned_test(learned, 1000, 1, &run, &score, NULL), TEM_ERR_CANCELLED);
    }
    left = 0;
    assert_int_equal(tem_learned_effects(learned, &run, &e, NULL), TEM_ERR_CANCELLED);
    assert_true(e.guess < 0 && score.guess < 0);
    tem_learned_free(learned);
    free_case(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probabilities_add_up),
        cmocka_unit_test(test_guess_is_best),
        cmocka_unit_test(test_near_the_exact_guess),
        cmocka_unit_test(test_pairs_are_fresh),
        cmocka_unit_test(test_counts_beat_the_model),
        cmocka_unit_test(test_effects_by_rows),
        cmocka_unit_test(test_effects_of_tem),
        cmocka_unit_test(test_learned_effects),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_threads_and_seeds),
        cmocka_unit_test(test_stopping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
