/* test_tuning.c - the search for weights, and that only a proof admits its result.
 *
 * The sums are compared with double precision, and the register widths with each other bit for bit.
 * A proved proposal is checked as in test_account: the inequality for all triples of words, with
 * the law computed by MPFR. */
#include "core/cpu.h"
#include "core/memory.h"
#include "model/model.h"
#include "pseudo.h"
#include "slow.h"
#include "tem_account.h"
#include "tuning/calibrate.h"
#include "tuning/tuning.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "promise.h"
#include "small_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------- helpers -- */

static tem_model *build(const float *values, uint32_t count, uint32_t dimension) {
    return small_model(NULL, values, count, dimension, TEM_EUCLIDEAN, count < 4 ? count : 4);
}

/* Dense and sparse clusters, equal words, and one far-away word. */
static tem_model *build_words_with(uint32_t count, tem_metric metric, uint32_t length) {
    enum { DIMENSION = 4 };
    float *values = calloc((size_t)count * DIMENSION, sizeof *values);
    assert_non_null(values);
    for (uint32_t id = 0; id < count; id++)
        for (uint32_t i = 0; i < DIMENSION; i++) {
            const float spread = id % 3 == 0 ? 0.2f : 1.5f;
            const float offset = (float)(random64() % 2001) / 1000 - 1;
            float *value = &values[(size_t)id * DIMENSION + i];
            *value = id % 13 == 12 ? values[(size_t)(id - 1) * DIMENSION + i]
                                   : (float)((id * 5 + i) % 4) + spread * offset + 0.01f;
            if (id == count - 1)
                *value += 20;
        }
    tem_model *model = small_model(NULL, values, count, DIMENSION, metric, length);
    free(values);
    return model;
}

static tem_model *build_words(uint32_t count) {
    return build_words_with(count, TEM_EUCLIDEAN, 4);
}

typedef struct known {
    tem_model *model;
    profile profile;
    loss_inputs inputs;
    double *prior;
} known;

static known *know(tem_model *model) {
    known *k = calloc(1, sizeof *k);
    assert_non_null(k);
    k->model = model;
    assert_int_equal(profile_make(&model->space, NULL, NULL, &k->profile, NULL), TEM_OK);
    k->inputs = (loss_inputs){&model->space, &model->index, &k->profile, NULL};
    k->prior = calloc(model->space.count, sizeof *k->prior);
    assert_non_null(k->prior);
    double sum = 0;
    for (uint32_t id = 0; id < model->space.count; id++)
        sum += k->prior[id] = 1.0 / (id + 1);
    for (uint32_t id = 0; id < model->space.count; id++)
        k->prior[id] /= sum;
    return k;
}

static void forget(known *k) {
    free(k->prior);
    profile_free(&k->profile);
    tem_model_free(k->model);
    free(k);
}

/* --------------------------------------------------------------- the loops -- */

enum { GROUPS = 5, NUMBERS = GROUPS * PAIR_LANES };

typedef struct example {
    uint16_t steps[PAIR_ROWS * NUMBERS];
    _Alignas(64) float a[NUMBERS];
    _Alignas(64) float p[NUMBERS];
    _Alignas(64) float u[NUMBERS];
    pair_row row;
} example;

static void make_example(example *x, unsigned kind) {
    for (unsigned i = 0; i < PAIR_ROWS * NUMBERS; i++)
        x->steps[i] = kind == 0 ? (uint16_t)random64() : (uint16_t)(random64() % 3 * 30000);
    for (unsigned i = 0; i < NUMBERS; i++) {
        x->a[i] = i < NUMBERS - 3 ? (float)(random64() % 1000) / 300 : 0;
        x->p[i] = i < NUMBERS - 3 ? (float)(random64() % 1000) / 500 - 1 : 0;
        x->u[i] = (float)(random64() % 1000) / 200;
    }
    x->row = (pair_row){.steps = x->steps,
                        .groups = GROUPS,
                        .unit = 0.0004f,
                        .gamma = kind == 2 ? 5 : 30,
                        .rate = -1.7f};
}

static double cut(const example *x, unsigned i) {
    return fmin((double)x->steps[i] * x->row.unit, x->row.gamma);
}

static void assert_near(double found, double truth, double scale) {
    if (!(fabs(found - truth) <= 2e-5 * scale))
        fail_msg("found %.9g, expected %.9g", found, truth);
}

/* The excess of a row with and without the sums of its columns, and its slope. */
static void check_loops(const pair_loops *loops, const example *x) {
    static _Alignas(64) float others[NUMBERS], plain[NUMBERS];
    double excess = 0, moment = 0, steepest = 0;
    const float u = 2.5f, limit = 0.4f;
    for (unsigned i = 0; i < NUMBERS; i++)
        others[i] = plain[i] = (float)i;
    const pair_excess found = loops->excess(&x->row, u, x->u, limit, others),
                      alone = loops->excess(&x->row, u, x->u, limit, NULL),
                      same = pair_loops_plain.excess(&x->row, u, x->u, limit, plain);
    for (unsigned i = 0; i < NUMBERS; i++) {
        const double d = cut(x, i), rise = (double)u - x->u[i];
        const double v = d > 0 ? fmax(fabs(rise) - limit * d, 0) : 0;
        excess += copysign(v, rise);
        moment += v * d;
        steepest = d > 0 ? fmax(steepest, fabs(rise) / d) : steepest;
        assert_near(others[i], i - copysign(v, rise), i + v + 1);
    }
    assert_near(found.signed_sum, excess, moment + fabs(excess) + 1);
    assert_near(found.moment, moment, moment + 1);
    assert_memory_equal(&found, &alone, sizeof found);
    assert_memory_equal(&found, &same, sizeof found);
    assert_memory_equal(others, plain, sizeof others);
    assert_near(loops->slope(&x->row, u, x->u), steepest, steepest);
    assert_true(loops->slope(&x->row, u, x->u) == pair_loops_plain.slope(&x->row, u, x->u));
}

enum { SUMS = 4 }; /* z, m, q, gradient */

typedef struct meeting {
    _Alignas(64) float row_sums[PAIR_ROWS][SUMS][PAIR_LANES];
    _Alignas(64) float out[SUMS][NUMBERS];
} meeting;

static const pair_numbers row_factors[PAIR_ROWS] = {
    {2.5f, 0.7f, 0.2f}, {0, 0, 0}, {0.1f, -3, 2}, {1, 0.5f, -1}};

static void meet(const pair_loops *loops, pair_kind kind, const example *x, meeting *found) {
    const pair_side columns = {x->a,          x->p,          x->u,         found->out[0],
                               found->out[1], found->out[2], found->out[3]};
    memset(found, 0, sizeof *found);
    loops->meet[kind](&x->row, row_factors, &found->row_sums[0][0][0], &columns);
}

/* What a word with these factors adds to the four sums of a word at the distance d. */
static double part(pair_kind kind, unsigned sum, pair_numbers of, double d, const pair_row *row) {
    const double k = exp2(row->rate * d);
    const double second = kind != PAIR_BEYOND ? d * d : d >= row->gamma;
    const double parts[SUMS] = {k * of.a, k * d * of.a, k * second * of.a, k * (d * of.p + of.h)};
    return parts[sum];
}

static bool has_sum(pair_kind kind, unsigned sum) {
    return kind >= PAIR_ALL || (kind == PAIR_GRADIENT) == (sum == 3) ? kind != PAIR_TOTALS || !sum
                                                                     : false;
}

static pair_numbers magnitudes(pair_numbers of) {
    return (pair_numbers){of.a, fabsf(of.p), fabsf(of.h)};
}

static void check_sum(const meeting *met, const example *x, pair_kind kind, unsigned sum) {
    double columns[NUMBERS] = {0}, scales[NUMBERS] = {0};
    for (unsigned r = 0; r < PAIR_ROWS; r++) {
        const pair_numbers *own = &row_factors[r];
        double truth = 0, scale = 0, found = 0;
        for (unsigned i = 0; i < NUMBERS; i++) {
            const double d = cut(x, r * NUMBERS + i);
            const pair_numbers of = {x->a[i], x->p[i], x->u[i]};
            truth += part(kind, sum, of, d, &x->row);
            scale += part(kind, sum, magnitudes(of), d, &x->row);
            columns[i] += part(kind, sum, *own, d, &x->row);
            scales[i] += part(kind, sum, magnitudes(*own), d, &x->row);
        }
        for (unsigned lane = 0; lane < PAIR_LANES; lane++)
            found += met->row_sums[r][sum][lane];
        assert_near(found, truth, scale);
    }
    for (unsigned i = 0; i < NUMBERS; i++)
        assert_near(met->out[sum][i], columns[i], scales[i]);
}

/* Both sides of four rows and their columns, for each kind of sums. Sums of another kind stay 0. */
static void check_meeting(const pair_loops *loops, const example *x) {
    static const meeting nothing;
    static meeting met;
    for (pair_kind kind = PAIR_TOTALS; kind < PAIR_KINDS; kind++) {
        meet(loops, kind, x, &met);
        for (unsigned sum = 0; sum < SUMS; sum++)
            if (has_sum(kind, sum))
                check_sum(&met, x, kind, sum);
            else
                assert_memory_equal(met.out[sum], nothing.out[sum], sizeof met.out[sum]);
    }
}

/* Roots to half a unit, at most 65535. */
static void check_new_distances(const pair_loops *loops, example *x) {
    uint32_t whole_squares[NUMBERS];
    uint16_t steps[NUMBERS], plain[NUMBERS];
    for (unsigned i = 0; i < NUMBERS; i++)
        whole_squares[i] = (uint32_t)random64() >> random64() % 32;
    loops->roots(whole_squares, GROUPS, 0.37f, steps);
    pair_loops_plain.roots(whole_squares, GROUPS, 0.37f, plain);
    assert_memory_equal(steps, plain, sizeof steps);
    for (unsigned i = 0; i < NUMBERS; i++)
        assert_true(fabs(steps[i] - sqrt(whole_squares[i]) * 0.37f) <= 0.51);
    loops->roots(whole_squares, GROUPS, 1000, steps);
    for (unsigned i = 0; i < NUMBERS; i++)
        assert_true(whole_squares[i] < 4400 || steps[i] == 65535);
    check_meeting(loops, x);
}

/* Loops of different widths give the same bits. */
static void check_same_bits(const pair_loops *a, const pair_loops *b, const example *x) {
    static meeting met[2];
    for (pair_kind kind = PAIR_TOTALS; kind < PAIR_KINDS; kind++) {
        meet(a, kind, x, &met[0]);
        meet(b, kind, x, &met[1]);
        assert_memory_equal(&met[0], &met[1], sizeof met[0]);
    }
}

static void test_loops(void **state) {
    (void)state;
    static example x;
    for (unsigned round = 0; round < 300; round++) {
        make_example(&x, round % 3);
        check_loops(&pair_loops_plain, &x);
        check_new_distances(&pair_loops_plain, &x);
#if defined(__x86_64__)
        const core_cpu cpu = core_cpu_detect();
        const pair_loops *const wide[] = {cpu.avx2fma ? &pair_loops_avx2 : NULL,
                                          cpu.avx512 ? &pair_loops_avx512 : NULL};
        for (unsigned i = 0; i < 2; i++)
            if (wide[i] != NULL) {
                check_loops(wide[i], &x);
                check_new_distances(wide[i], &x);
            }
        if (wide[0] != NULL && wide[1] != NULL)
            check_same_bits(wide[0], wide[1], &x);
#endif
    }
}

/* By products, and one by one. */
static void check_matrix(tem_metric metric) {
    known *k = know(build_words_with(130, metric, 4));
    for (unsigned threads = 1; threads <= 3; threads++) {
        const tem_run run = {.threads = threads};
        pair_matrix t = {0};
        assert_int_equal(pair_matrix_make(&k->model->space, &k->model->index, k->profile.reach,
                                          SIZE_MAX, &run, &t, NULL),
                         TEM_OK);
        assert_true(t.kept);
        for (uint32_t a = 0; a < 130; a++)
            for (uint32_t b = 0; b < 130; b++) {
                const uint32_t block = SQUARES_BLOCK, rows = a / block, columns = b / block;
                if (rows > columns) /* each pair once: the tiles are 0 0, 0 1, 1 1 */
                    continue;
                const size_t row = (rows + columns) * block + a % block;
                const double d = space_distance(&k->model->space, a, b) / 65536.0;
                const uint16_t found = t.steps[row * block + b % block];
                assert_true(fabs(found * (double)t.unit - d) <= t.unit);
                assert_true(found == 0 || t.nearest[row] <= found);
            }
        pair_matrix_free(&t);
    }
    forget(k);
}

static void test_matrix(void **state) {
    (void)state;
    check_matrix(TEM_EUCLIDEAN);
    check_matrix(TEM_L1);
}

/* Streamed distances give the same results as stored ones, for words that do not fill their blocks,
 * and the same bits for any number of threads. */
enum { STREAMED = 230, STREAMED_MANY = 6500, STREAMED_SUMS = 4 };

typedef struct streamed {
    pair_matrix matrix;
    float *a, *p, *h, *out[STREAMED_SUMS];
} streamed;

static void stream_all(const known *k, size_t most, unsigned threads, streamed *s) {
    const tem_run run = {.threads = threads};
    assert_int_equal(pair_matrix_make(&k->model->space, &k->model->index, k->profile.reach, most,
                                      &run, &s->matrix, NULL),
                     TEM_OK);
    s->a = pair_vector(&s->matrix);
    s->p = pair_vector(&s->matrix);
    s->h = pair_vector(&s->matrix);
    for (int i = 0; i < STREAMED_SUMS; i++)
        s->out[i] = pair_vector(&s->matrix);
    for (uint32_t w = 0; w < s->matrix.count; w++) {
        s->a[w] = 1 + (float)(w % 7);
        s->p[w] = (float)(w % 5) / 5 + 0.3f;
        s->h[w] = (float)(w % 11) / 7;
    }
    const pair_call call = {&s->matrix, 1.5, 6, &run, false};
    const pair_side words = {s->a, s->p, s->h, s->out[0], s->out[1], s->out[2], s->out[3]};
    if (!s->matrix.kept) {
        assert_int_equal(pair_stream(&call, &words, NULL), TEM_OK);
        return;
    }
    assert_int_equal(pair_sum(&call, s->a, s->out[0], s->out[1], s->out[2], NULL), TEM_OK);
    assert_int_equal(pair_gradient(&call, s->p, s->h, s->out[3], NULL), TEM_OK);
}

static void stream_free(streamed *s) {
    core_free(s->a);
    core_free(s->p);
    core_free(s->h);
    for (int i = 0; i < STREAMED_SUMS; i++)
        core_free(s->out[i]);
    pair_matrix_free(&s->matrix);
}

/* Kept distances against a sum over all pairs, for some words. */
static void check_one_by_one(const known *k, const streamed *s) {
    for (uint32_t w = 0; w < s->matrix.count; w += 1 + s->matrix.count / 300) {
        double truth[STREAMED_SUMS] = {0};
        for (uint32_t y = 0; y < s->matrix.count; y++) {
            const double m = fmin(space_distance(&k->model->space, w, y) / 65536.0, 6);
            for (unsigned sum = 0; sum < STREAMED_SUMS; sum++)
                truth[sum] += part(PAIR_ALL, sum, (pair_numbers){s->a[y], s->p[y], s->h[y]}, m,
                                   &(pair_row){.rate = (float)(-1.5 / log(2))});
        }
        for (unsigned sum = 0; sum < STREAMED_SUMS; sum++)
            if (!(fabs(s->out[sum][w] - truth[sum]) <= 1e-3 * truth[sum]))
                fail_msg("sum %u of word %u: %g, not %g", sum, w, s->out[sum][w], truth[sum]);
    }
}

static void check_streams(tem_model *model) {
    known *k = know(model);
    const uint32_t count = model->space.count;
    streamed kept = {0}, first = {0};
    stream_all(k, SIZE_MAX, 1, &kept);
    stream_all(k, 1000, 1, &first);
    assert_true(kept.matrix.kept && !first.matrix.kept);
    check_one_by_one(k, &kept);
    for (int i = 0; i < STREAMED_SUMS; i++)
        for (uint32_t w = 0; w < count; w++)
            if (!(fabs(first.out[i][w] - kept.out[i][w]) <= 1e-3 * kept.out[i][w]))
                fail_msg("sum %d of word %u: %g, not %g", i, w, first.out[i][w], kept.out[i][w]);
    for (unsigned threads = 2; threads <= 3; threads++)
        for (int is_kept = 0; is_kept < 2; is_kept++) {
            streamed other = {0};
            const streamed *same = is_kept ? &kept : &first;
            stream_all(k, is_kept ? SIZE_MAX : 1000, threads, &other);
            for (int i = 0; i < STREAMED_SUMS; i++)
                assert_memory_equal(other.out[i], same->out[i], count * sizeof(float));
            stream_free(&other);
        }
    stream_free(&kept);
    stream_free(&first);
    forget(k);
}

static void test_streams(void **state) {
    (void)state;
    check_streams(build_words(STREAMED));
    check_streams(build_words_with(STREAMED, TEM_L1, 4));
    if (!SLOW) /* more than one block of rows per group */
        check_streams(build_words(STREAMED_MANY));
}

/* Kept distances, each pair once, against a sum over all pairs; the same bits for any number of
 * threads. The u are flat enough that whole rows of tiles are left out. */
static void check_slopes(const known *k, const float *u, double limit, unsigned threads) {
    enum { TILED = 330 };
    const tem_run run = {.threads = threads};
    pair_matrix t = {0};
    assert_int_equal(pair_matrix_make(&k->model->space, &k->model->index, k->profile.reach,
                                      SIZE_MAX, &run, &t, NULL),
                     TEM_OK);
    assert_int_equal(t.count, TILED);
    float *all = pair_vector(&t), *found = pair_vector(&t);
    double steepest = 0, sum = 0, moment = 0, rises = 0, truth[TILED] = {0};
    memcpy(all, u, TILED * sizeof *all);
    for (uint32_t w = 0; w < TILED; w++)
        for (uint32_t y = 0; y < TILED; y++) {
            const double d = space_distance(&k->model->space, w, y) / 65536.0;
            const double m = fmin(round(d / t.unit) * t.unit, 6);
            const double rise = (double)u[w] - u[y], over = fmax(fabs(rise) - limit * m, 0);
            if (m > 0) {
                truth[w] += copysign(over, rise);
                sum += over * m;
                steepest = fmax(steepest, fabs(rise) / m);
            }
        }
    const pair_call call = {&t, 1.5, 6, NULL, false};
    assert_int_equal(pair_find_excess(&call, all, limit, found, &moment, NULL), TEM_OK);
    assert_int_equal(pair_find_slope(&call, all, &rises, NULL), TEM_OK);
    assert_true(fabs(moment - sum) <= 1e-3 * (sum + 1));
    assert_true(fabs(rises - steepest) <= 1e-3 * steepest);
    for (uint32_t w = 0; w < TILED; w++)
        assert_true(fabs(found[w] - truth[w]) <= 1e-3 * (fabs(truth[w]) + 1));
    core_free(all);
    core_free(found);
    pair_matrix_free(&t);
}

static void test_slopes_of_tiles(void **state) {
    (void)state;
    known *k = know(build_words(330));
    float u[330];
    for (unsigned round = 0; round < 4; round++)
        for (unsigned threads = 1; threads <= 3; threads++) {
            for (uint32_t w = 0; w < 330; w++) /* in the last round a few words stand out */
                u[w] = round < 3 || w % 70 == 3 ? (float)(w * 37 % 101) / 50 : 1;
            check_slopes(k, u, 0.1 + 0.3 * round, threads);
        }
    forget(k);
}

/* With streamed distances the pairs are those of the lists. */
static void test_near_pairs(void **state) {
    (void)state;
    known *k = know(build_words(STREAMED));
    pair_matrix t = {0};
    assert_int_equal(pair_matrix_make(&k->model->space, &k->model->index, k->profile.reach, 1000,
                                      NULL, &t, NULL),
                     TEM_OK);
    float *u = pair_vector(&t), *found = pair_vector(&t);
    double truth[STREAMED] = {0}, steepest = 0, sum = 0, moment = 0, rises = 0;
    for (uint32_t w = 0; w < STREAMED; w++)
        u[w] = (float)(w * 37 % 101) / 50;
    for (uint32_t w = 0; w < STREAMED; w++) {
        tem_neighbours list = {0};
        assert_int_equal(neighbours_get(&k->model->index, w, &list, NULL), TEM_OK);
        for (uint32_t i = 0; i < list.count; i++) {
            const uint32_t y = list.list[i].id;
            const double m = fmin(space_distance(&k->model->space, w, y) / 65536.0, 2);
            const double rise = (double)u[w] - u[y], over = fmax(fabs(rise) - 0.5 * m, 0);
            if (m > 0) {
                truth[w] += copysign(over, rise);
                truth[y] -= copysign(over, rise);
                sum += 2 * over * m;
                steepest = fmax(steepest, fabs(rise) / m);
            }
        }
    }
    const pair_call call = {&t, 1.5, 2, NULL, false};
    assert_int_equal(pair_find_excess(&call, u, 0.5, found, &moment, NULL), TEM_OK);
    assert_int_equal(pair_find_slope(&call, u, &rises, NULL), TEM_OK);
    assert_near(moment, sum, sum);
    assert_near(rises, steepest, steepest);
    for (uint32_t w = 0; w < STREAMED; w++)
        assert_near(found[w], truth[w], fabs(truth[w]) + 1);
    core_free(u);
    core_free(found);
    pair_matrix_free(&t);
    forget(k);
}

/* ---------------------------------------------------------------- balance -- */

/* Solves K a = 1 to float precision, if such an a exists. */
static void test_balance(void **state) {
    (void)state;
    known *k = know(build_words(60));
    pair_matrix t = {0};
    assert_int_equal(pair_matrix_make(&k->model->space, &k->model->index, k->profile.reach,
                                      SIZE_MAX, NULL, &t, NULL),
                     TEM_OK);
    const tuning_goal goal = {.epsilon = 6, .gamma = 9};
    float *a = pair_vector(&t), *z = pair_vector(&t);
    for (uint32_t i = 0; i < 60; i++)
        a[i] = 1;
    double residual = 0, least = 0;
    assert_int_equal(tuning_balance(&t, &goal, 5, 200, 1e-6, NULL, a, &residual, &least, NULL),
                     TEM_OK);
    assert_true(residual < 1e-4);
    const pair_call call = {&t, 5, 9, NULL, false};
    assert_int_equal(pair_sum(&call, a, z, NULL, NULL, NULL), TEM_OK);
    for (uint32_t i = 0; i < 60; i++)
        assert_true(fabs(z[i] - 1) < 2e-4 && a[i] >= least * (1 - 1e-6));
    core_free(a);
    core_free(z);
    pair_matrix_free(&t);
    forget(k);
}

/* -------------------------------------------------------- what is admitted -- */

static uint64_t broken_promises(const known *k, const certified_weights *c, double epsilon) {
    return promise_count_broken(&k->model->space, c->exponent, c->values, epsilon);
}

static certified_weights find(const known *k, tem_weights_kind kind, double epsilon, double beta,
                              double gamma) {
    const weights_request r = {.kind = kind,
                               .epsilon = epsilon,
                               .beta = beta,
                               .gamma = gamma,
                               .prior = kind == TEM_WEIGHTS_TUNED ? k->prior : NULL,
                               .iterations = 150};
    certified_weights c = {0};
    assert_int_equal(certified_weights_find(&k->inputs, &r, NULL, &c, NULL), TEM_OK);
    return c;
}

/* PRIVACY: the promise holds for all triples with the admitted weights and exponents. The check can
 * fail: it does with a larger s. */
static void check_promise(const known *k, tem_weights_kind kind, double epsilon, double beta,
                          double gamma) {
    certified_weights c = find(k, kind, epsilon, beta, gamma);
    tem_dist right = 0;
    if (beta > 0)
        exponent_gamma_from_beta(beta, k->model->space.count, c.exponent.s, &right, NULL);
    assert_int_equal(c.exponent.gamma, beta > 0 ? right : (tem_dist)(gamma * TEM_DIST_ONE));
    assert_true(c.proof.most <= epsilon * (1 - 0x1p-50));
    assert_int_equal(broken_promises(k, &c, epsilon), 0);
    c.exponent.s += c.exponent.s / (SLOW ? 1 : 20); /* few words may leave some room */
    if (c.values != NULL && epsilon < 4 && beta > 0)
        assert_true(broken_promises(k, &c, epsilon) > 0);
    certified_weights_free(&c);
}

static void test_promise(void **state) {
    (void)state;
    static const double epsilons[] = {0.5, 1.5, 4};
    known *k = know(build_words(SLOW ? 30 : 60));
    for (unsigned i = 0; i < 3; i++)
        for (int kind = TEM_WEIGHTS_BALANCED; kind <= TEM_WEIGHTS_TUNED; kind++) {
            check_promise(k, (tem_weights_kind)kind, epsilons[i], 0.001, 0);
            check_promise(k, (tem_weights_kind)kind, epsilons[i], 0, 3);
        }
    forget(k);
}

/* All triples of 500 words, including equal words and an outlier. */
static void test_promise_of_many(void **state) {
    (void)state;
    static const double epsilons[] = {0.5, 1, 2, 5};
    known *k = know(build_words(SLOW ? 60 : 500));
    for (unsigned i = 0; i < 4; i++)
        check_promise(k, TEM_WEIGHTS_TUNED, epsilons[i], 0.001, 0);
    forget(k);
}

/* A gamma that is allowed for a small s, but not for epsilon: s gamma is at most 64. */
static void test_large_gamma(void **state) {
    (void)state;
    known *k = know(build_words(30));
    for (int kind = TEM_WEIGHTS_BALANCED; kind <= TEM_WEIGHTS_TUNED; kind++) {
        certified_weights c = find(k, (tem_weights_kind)kind, 2, 0, 40);
        assert_true(c.exponent.gamma == 40 * TEM_DIST_ONE);
        assert_true(exponent_s_value(c.exponent.s) * 40 <= 64 && c.proof.most <= 2);
        certified_weights_free(&c);
    }
    forget(k);
}

/* Balanced weights never have a smaller s than equal weights; tuned weights never a larger expected
 * distance than balanced weights, by exact sums. */
static double exact_distance(const known *k, const certified_weights *c) {
    double total = 0;
    const uint32_t count = k->model->space.count;
    for (uint32_t w = 0; w < count; w++) {
        double z = 0, m = 0;
        for (uint32_t y = 0; y < count; y++) {
            const tem_dist d = space_distance(&k->model->space, w, y);
            const double mass = (c->values == NULL ? 1.0 : c->values[y]) *
                                exp(-ldexp((double)exponent_at(&c->exponent, d), -36));
            z += mass;
            m += mass * (d < c->exponent.gamma ? d : c->exponent.gamma) / 65536.0;
        }
        total += k->prior[w] * m / z;
    }
    return total;
}

static void test_never_worse(void **state) {
    (void)state;
    known *k = know(build_words(50));
    static const double epsilons[] = {0.3, 1, 2, 5};
    for (unsigned i = 0; i < 4; i++) {
        certified_weights equal = {0};
        assert_int_equal(realised_calibrate(&k->inputs, epsilons[i], 0.001, 0, NULL,
                                            &equal.exponent, &equal.proof, NULL),
                         TEM_OK);
        certified_weights balanced = find(k, TEM_WEIGHTS_BALANCED, epsilons[i], 0.001, 0);
        certified_weights tuned = find(k, TEM_WEIGHTS_TUNED, epsilons[i], 0.001, 0);
        assert_true(balanced.exponent.s >= equal.exponent.s);
        const double least = fmin(exact_distance(k, &equal), exact_distance(k, &balanced));
        assert_true(exact_distance(k, &tuned) <= least * (1 + 1e-3));
        certified_weights_free(&balanced);
        certified_weights_free(&tuned);
    }
    forget(k);
}

/* With streamed distances the promise holds too, and the search still gains. */
static void test_streamed_search(void **state) {
    (void)state;
    random_state = 1; /* the same words, whatever ran before */
    known *k = know(build_words_with(SLOW ? 60 : 120, TEM_EUCLIDEAN, 30));
    weights_request r = {.kind = TEM_WEIGHTS_BALANCED,
                         .epsilon = 1,
                         .beta = 0.001,
                         .matrix_bytes = 1,
                         .iterations = 150};
    certified_weights balanced = {0}, tuned = {0};
    assert_int_equal(certified_weights_find(&k->inputs, &r, NULL, &balanced, NULL), TEM_OK);
    r.kind = TEM_WEIGHTS_TUNED;
    r.prior = k->prior;
    assert_int_equal(certified_weights_find(&k->inputs, &r, NULL, &tuned, NULL), TEM_OK);
    assert_true(balanced.proof.most <= 1 && tuned.proof.most <= 1);
    assert_int_equal(broken_promises(k, &balanced, 1), 0);
    assert_int_equal(broken_promises(k, &tuned, 1), 0);
    certified_weights equal = {0};
    assert_int_equal(
        realised_calibrate(&k->inputs, 1, 0.001, 0, NULL, &equal.exponent, &equal.proof, NULL),
        TEM_OK);
    const double without = fmin(exact_distance(k, &balanced), exact_distance(k, &equal));
    assert_true(exact_distance(k, &tuned) < (SLOW ? 1 : 0.95) * without);
    certified_weights_free(&balanced);
    certified_weights_free(&tuned);
    r.kind = TEM_WEIGHTS_BALANCED;
    r.prior = NULL;
    /* At 6 the first step overshoots. */
    for (r.epsilon = SLOW ? 60 : 6; r.epsilon < 100; r.epsilon *= 10) {
        assert_int_equal(certified_weights_find(&k->inputs, &r, NULL, &balanced, NULL), TEM_OK);
        assert_true(exponent_s_value(balanced.exponent.s) > 0.99 * r.epsilon);
        certified_weights_free(&balanced);
    }
    forget(k);
}

/* Two words at distance m. With k^2 = x, E = exp(epsilon m) and the whole loss used, the expected
 * distance is m (f1 (1/E - x) + f2 x (E - 1)) / (1 - x), a quotient of linear functions, so its
 * minimum is at an end. Either s is epsilon, with equal weights and m / (E + 1), whatever the
 * prior. Or s is epsilon / 2 and the more frequent word is the only output, with m f2; this s is
 * below that of equal weights, so the search skips it. */
static void test_two_words(void **state) {
    (void)state;
    const float values[] = {0, 1, 2, 1};
    static const double frequencies[] = {0.5, 0.6, 0.8, 0.95, 0.999};
    known *k = know(build(values, 2, 2));
    for (unsigned i = 0; i < sizeof frequencies / sizeof *frequencies; i++) {
        k->prior[0] = frequencies[i];
        k->prior[1] = 1 - frequencies[i];
        certified_weights balanced = find(k, TEM_WEIGHTS_BALANCED, 1, 0, 5);
        certified_weights tuned = find(k, TEM_WEIGHTS_TUNED, 1, 0, 5);
        const double optimum = 2 / (exp(2) + 1);
        assert_true(exponent_s_value(balanced.exponent.s) > 0.999);
        assert_true(fabs(exact_distance(k, &balanced) - optimum) < 0.002 * optimum);
        assert_true(fabs(exact_distance(k, &tuned) - optimum) < 0.002 * optimum);
        certified_weights_free(&balanced);
        certified_weights_free(&tuned);
    }
    forget(k);
}

/* Three words in a row, 1 apart: K a = 1 has a = (1, 1 - k, 1) / (1 + k), k = exp(-s). */
static void test_three_words(void **state) {
    (void)state;
    const float values[] = {0, 1, 1, 1, 2, 1};
    known *k = know(build(values, 3, 2));
    for (double epsilon = 0.5; epsilon < 5; epsilon *= 2) {
        certified_weights c = find(k, TEM_WEIGHTS_BALANCED, epsilon, 0, 5);
        const double s = exponent_s_value(c.exponent.s);
        assert_true(s > 0.999 * epsilon && c.values != NULL);
        assert_true(c.values[0] == c.values[2]);
        assert_true(fabs((double)c.values[1] / c.values[0] - (1 - exp(-s))) < 0.003);
        certified_weights_free(&c);
    }
    forget(k);
}

/* ---------------------------------------------------------- enough of it -- */

static int count_steps(void *context, const tem_search_state *state) {
    unsigned *left = context;
    assert_true(state->step >= 1 && state->step <= state->steps && state->s > 0);
    return (*left)-- <= 1;
}

/* Whenever the search is stopped, it has a proved result, never worse than equal weights. */
static void test_enough(void **state) {
    (void)state;
    known *k = know(build_words(50));
    certified_weights equal = {0};
    assert_int_equal(
        realised_calibrate(&k->inputs, 1, 0.001, 0, NULL, &equal.exponent, &equal.proof, NULL),
        TEM_OK);
    double before = INFINITY;
    for (unsigned steps = 1; steps < 2000; steps *= 3) {
        unsigned left = steps;
        const weights_request r = {.kind = TEM_WEIGHTS_TUNED,
                                   .epsilon = 1,
                                   .beta = 0.001,
                                   .prior = k->prior,
                                   .iterations = 150,
                                   .told = count_steps,
                                   .told_context = &left};
        certified_weights c = {0};
        assert_int_equal(certified_weights_find(&k->inputs, &r, NULL, &c, NULL), TEM_OK);
        const double distance = exact_distance(k, &c);
        assert_true(left == 0 || steps > 150);
        assert_true(c.proof.most <= 1 && distance <= exact_distance(k, &equal) * (1 + 1e-3));
        before = fmin(before, distance);
        certified_weights_free(&c);
    }
    assert_true(before < 0.9 * exact_distance(k, &equal)); /* and the search gains */
    forget(k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loops),       cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_streams),     cmocka_unit_test(test_slopes_of_tiles),
        cmocka_unit_test(test_near_pairs),  cmocka_unit_test(test_balance),
        cmocka_unit_test(test_promise),     cmocka_unit_test(test_promise_of_many),
        cmocka_unit_test(test_large_gamma), cmocka_unit_test(test_never_worse),
        cmocka_unit_test(test_two_words),   cmocka_unit_test(test_three_words),
        cmocka_unit_test(test_enough),      cmocka_unit_test(test_streamed_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
