/* test_account.c - what an epsilon really protects: the bounds, the search, the certificate's
 * proof.
 *
 * The oracle is MPFR with 200 bits, by brute force over all words and all pairs of words. The
 * bounds must never be on the wrong side of it, and must be near it. The test uses random
 * vocabularies, and some whose realized loss has a closed form. It evaluates the inequality that a
 * calibrated exponent promises for all triples of words, and shows that a larger exponent breaks
 * it. */
#include "audit/realised.h"
#include "model/model.h"
#include "pseudo.h"
#include "slow.h"
#include "space/kernels/kernels.h"
#include "space/squares.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "promise.h"
#include "small_model.h"

#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 200 };

/* ------------------------------------------------------------- helpers -- */

static tem_model *build_matrix(const double *distances, uint32_t count) {
    static const char *const words[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    tem_model *model = NULL;
    assert_true(count <= 8);
    assert_int_equal(tem_model_build_matrix(words, count, distances, 0, NULL, &model, NULL),
                     TEM_OK);
    return model;
}

/* Words in clusters of different density, some of them equal: ln Z then has slopes to find. */
static tem_model *build_clusters(tem_metric metric, uint32_t count, uint32_t dimension, float scale,
                                 uint32_t neighbours) {
    float *values = calloc((size_t)count * dimension, sizeof *values);
    assert_non_null(values);
    for (uint32_t id = 0; id < count; id++)
        for (uint32_t i = 0; i < dimension; i++) {
            const float middle = (float)((id * 7 + i * 3) % 5);
            const float spread = id % 5 == 0 ? 0.05f : id % 5 == 4 ? 3.0f : 0.7f;
            const float offset = (float)(random64() % 2001) / 1000 - 1;
            values[(size_t)id * dimension + i] = id % 11 == 10
                                                     ? values[(size_t)(id - 1) * dimension + i]
                                                     : scale * (middle + spread * offset + 0.01f);
        }
    tem_model *model = small_model(NULL, values, count, dimension, metric, neighbours);
    free(values);
    return model;
}

typedef struct known {
    tem_model *model;
    profile profile;
    uint32_t *weights;
    loss_inputs inputs;
} known;

static known know(tem_model *model, uint32_t *values, const tem_run *run) {
    known k = {.model = model, .weights = values};
    assert_int_equal(profile_make(&model->space, values, run, &k.profile, NULL), TEM_OK);
    return k;
}

/* The inputs point into *k, which must stay where it is. */
static const loss_inputs *inputs_of(known *k) {
    k->inputs = (loss_inputs){&k->model->space, &k->model->index, &k->profile, k->weights};
    return &k->inputs;
}

static void forget(known *k) {
    profile_free(&k->profile);
    tem_model_free(k->model);
}

static exponent exponent_for(double s, double gamma) {
    return (exponent){(uint64_t)(s * 0x1p20), (tem_dist)ceil(gamma * 0x1p16)};
}

/* ------------------------------------------------------------ the oracle -- */

/* ln Z(w). */
static void oracle_log_z(mpfr_t out, const known *k, exponent e, uint32_t w) {
    mpfr_t term;
    mpfr_init2(term, BITS);
    mpfr_set_ui(out, 0, MPFR_RNDN);
    for (uint32_t y = 0; y < k->model->space.count; y++) {
        const tem_dist d = space_distance(&k->model->space, w, y);
        mpfr_set_uj_2exp(term, e.s * (d < e.gamma ? d : e.gamma), -36, MPFR_RNDN);
        mpfr_neg(term, term, MPFR_RNDN);
        mpfr_exp(term, term, MPFR_RNDN);
        mpfr_mul_ui(term, term, k->weights == NULL ? 1 : k->weights[y], MPFR_RNDN);
        mpfr_add(out, out, term, MPFR_RNDN);
    }
    mpfr_log(out, out, MPFR_RNDN);
    mpfr_clear(term);
}

typedef struct oracle {
    uint32_t count;
    mpfr_t *log_z;
} oracle;

static oracle oracle_make(const known *k, exponent e) {
    oracle o = {k->model->space.count, calloc(k->model->space.count, sizeof *o.log_z)};
    assert_non_null(o.log_z);
    for (uint32_t w = 0; w < o.count; w++) {
        mpfr_init2(o.log_z[w], BITS);
        oracle_log_z(o.log_z[w], k, e, w);
    }
    return o;
}

static void oracle_free(oracle *o) {
    for (uint32_t w = 0; w < o->count; w++)
        mpfr_clear(o->log_z[w]);
    free(o->log_z);
}

/* |ln Z(a) - ln Z(b)| / min(d, gamma). */
static void oracle_slope(mpfr_t out, const known *k, const oracle *o, exponent e, uint32_t a,
                         uint32_t b) {
    const tem_dist d = space_distance(&k->model->space, a, b);
    mpfr_sub(out, o->log_z[a], o->log_z[b], MPFR_RNDN);
    mpfr_abs(out, out, MPFR_RNDN);
    mpfr_mul_2ui(out, out, 16, MPFR_RNDN);
    mpfr_div_ui(out, out, d < e.gamma ? d : e.gamma, MPFR_RNDN);
}

/* eps*: s plus the largest slope. */
static void oracle_realised(mpfr_t out, const known *k, exponent e) {
    oracle o = oracle_make(k, e);
    mpfr_t one;
    mpfr_init2(one, BITS);
    mpfr_set_ui(out, 0, MPFR_RNDN);
    for (uint32_t a = 0; a < o.count; a++)
        for (uint32_t b = a + 1; b < o.count; b++)
            if (space_distance(&k->model->space, a, b) > 0) {
                oracle_slope(one, k, &o, e, a, b);
                mpfr_max(out, out, one, MPFR_RNDN);
            }
    mpfr_set_uj_2exp(one, e.s, -20, MPFR_RNDN);
    mpfr_add(out, out, one, MPFR_RNDN);
    mpfr_clear(one);
    oracle_free(&o);
}

/* ----------------------------------------------------------------- decay -- */

static void test_decay(void **state) {
    (void)state;
    decay d;
    decay_init(&d);
    mpfr_t truth, error;
    mpfr_inits2(BITS, truth, error, (mpfr_ptr)NULL);
    for (unsigned i = 0; i < 60000; i++) {
        const uint64_t level = i % (EXP_LEVELS + 1);
        const uint64_t rest = i < 1000 ? ((uint64_t)1 << 33) - 1 - i / 600 : random64() >> 31;
        const uint64_t x = level == EXP_LEVELS ? level << 33 : (level << 33) + rest;
        mpfr_set_uj_2exp(truth, x, -36, MPFR_RNDN);
        mpfr_neg(truth, truth, MPFR_RNDN);
        mpfr_exp(truth, truth, MPFR_RNDN);
        mpfr_d_sub(error, decay_at(&d, x), truth, MPFR_RNDN);
        mpfr_div(error, error, truth, MPFR_RNDN);
        assert_true(fabs(mpfr_get_d(error, MPFR_RNDN)) <= DECAY_ERROR);
    }
    assert_true(decay_at(&d, 0) == 1);
    mpfr_clears(truth, error, (mpfr_ptr)NULL);
}

/* --------------------------------------------------------------- profile -- */

/* Each other word adds `step` units, split so that their mean is its distance: the total and the
 * first moment of a profile are exact. Each point has the value that the definition gives. */
static void check_profile(const known *k) {
    const profile *p = &k->profile;
    const uint32_t count = p->count;
    double expected[PROFILE_POINTS];
    for (uint32_t w = 0; w < count; w++) {
        memset(expected, 0, sizeof expected);
        for (uint32_t y = 0; y < count; y++) {
            const tem_dist d = space_distance(&k->model->space, w, y);
            const double weight = k->weights == NULL ? 1 : k->weights[y];
            for (uint32_t point = 0; point < PROFILE_POINTS && y != w; point++) {
                const double away = fabs((double)d - (double)point * p->step);
                expected[point] += away < p->step ? weight * (p->step - away) : 0;
            }
        }
        for (uint32_t point = 0; point < PROFILE_POINTS; point++) {
            assert_true(profile_of(p, w)[point] == expected[point]);
            assert_true(expected[point] <= 0 || point < p->used);
        }
    }
}

static void test_profile(void **state) {
    (void)state;
    static const tem_metric metrics[] = {TEM_EUCLIDEAN, TEM_ANGULAR, TEM_L1, TEM_LINF};
    for (unsigned i = 0; i < 4; i++)
        for (unsigned threads = 1; threads <= 3; threads += 2) {
            const tem_run run = {.threads = threads};
            known k = know(build_clusters(metrics[i], i == 0 ? 200 : 70, 6, 1, 8), NULL, &run);
            check_profile(&k);
            forget(&k);
        }
}

/* Distances so small that a step is one unit, and so large that a step is thousands. */
static void test_profile_scales(void **state) {
    (void)state;
    static const float scales[] = {0.0005f, 0.01f, 10, 140};
    for (unsigned i = 0; i < 4; i++) {
        known k = know(build_clusters(TEM_EUCLIDEAN, 66, 3, scales[i], 8), NULL, NULL);
        assert_true(i > 0 || k.profile.step == 1);
        check_profile(&k);
        forget(&k);
    }
}

/* A matrix that is not a metric, which a sample of triangles may miss: no write is out of
 * bounds. */
static void test_profile_of_a_false_metric(void **state) {
    (void)state;
    uint32_t matrix[10];
    for (unsigned i = 0; i < 10; i++)
        matrix[i] = 65536;
    matrix[7] = 60000u * 65536u;
    const space s = {.metric = &metric_matrix, .count = 5, .matrix = matrix};
    tem_model model = {.space = s};
    known k = know(&model, NULL, NULL);
    check_profile(&k);
    profile_free(&k.profile);
}

/* Vectors off the grid, which only a damaged file has, are refused or cause no access out of
 * bounds. */
static void test_profile_of_damaged_vectors(void **state) {
    (void)state;
    tem_model *model = build_clusters(TEM_L1, 200, 6, 1, 4);
    int16_t *rows = (int16_t *)(uintptr_t)model->space.rows;
    for (unsigned round = 0; round < 20; round++) {
        for (size_t i = 0; i < (size_t)200 * model->space.row_elements; i += 1 + random_below(9))
            rows[i] = (int16_t)random64();
        for (unsigned metric = TEM_EUCLIDEAN; metric <= TEM_LINF; metric++) {
            profile p = {0};
            space s = model->space;
            s.metric = metric_find((tem_metric)metric);
            const tem_status status = profile_make(&s, NULL, NULL, &p, NULL);
            assert_true(status == TEM_OK || status == TEM_ERR_DAMAGED);
            profile_free(&p);
        }
    }
    tem_model_free(model);
}

static void test_profile_weights(void **state) {
    (void)state;
    static const uint32_t most[] = {1, 1 << 25}; /* counted; too large to count, sums still exact */
    for (unsigned round = 0; round < 2; round++) {
        uint32_t values[100];
        for (uint32_t i = 0; i < 100; i++)
            values[i] = i % 9 == 0 ? 0 : 1 + (uint32_t)(random64() % most[round]);
        known k = know(build_clusters(TEM_EUCLIDEAN, 100, 4, 1, 8), values, NULL);
        check_profile(&k);
        forget(&k);
    }
}

/* Checks every distance of every pair of blocks; the scales give grid steps from 2^-4 to 2^-30, and
 * squares that fit 32 bits and that do not. */
static void check_squares(const space *s, tem_dist reach, bool fast) {
    squares q = {0};
    assert_int_equal(squares_init(&q, s, reach, NULL), TEM_OK);
    assert_true((q.columns != NULL) == fast);
    squares_room room = {0};
    assert_int_equal(squares_room_init(&room, &q, 2, NULL), TEM_OK);
    for (uint32_t rows = 0; rows < q.blocks; rows++) {
        squares_set_rows(&q, &room, rows % 2, rows);
        for (uint32_t columns = 0; columns < q.blocks; columns++) {
            const tem_dist *out = squares_meet(&q, &room, rows % 2, rows, columns);
            for (uint32_t r = 0; r < squares_block_size(&q, rows); r++)
                for (uint32_t c = 0; c < squares_block_size(&q, columns); c++)
                    assert_true(
                        out[r * SQUARES_BLOCK + c] ==
                        space_distance(s, rows * SQUARES_BLOCK + r, columns * SQUARES_BLOCK + c));
        }
    }
    squares_room_free(&room);
    squares_free(&q);
}

static void test_squares(void **state) {
    (void)state;
    static const float scales[] = {1e-8f, 0.0001f, 0.02f, 1, 50, 140};
    const kernels *own = kernels_active();
    bool available = false;
    for (unsigned i = 0; i < 6; i++)
        for (unsigned metric = TEM_EUCLIDEAN; metric <= TEM_LINF; metric++) {
            tem_model *model = build_clusters((tem_metric)metric, 200, 5, scales[i], 4);
            profile p = {0};
            assert_int_equal(profile_make(&model->space, NULL, NULL, &p, NULL), TEM_OK);
            for (unsigned k = 0; kernels_at(k, &available) != NULL; k++) {
                if (!available)
                    continue;
                kernels_use(kernels_at(k, &available));
                check_squares(&model->space, p.reach, metric == TEM_EUCLIDEAN);
            }
            kernels_use(own);
            check_squares(&model->space, UINT32_MAX, false);
            profile_free(&p);
            tem_model_free(model);
        }
    /* 71,554 grid units apart: the square does not fit */
    const float corners[] = {1000, 1000, 1000, 1000, 1000, -1000, -1000, -1000, -1000, -1000};
    known far = know(small_model(NULL, corners, 2, 5, TEM_EUCLIDEAN, 2), NULL, NULL);
    check_squares(&far.model->space, far.profile.reach, false);
    forget(&far);
}

/* ------------------------------------------------------------- partition -- */

/* The bounds hold, and are as near as (s step)^2 / 8 and the loss at gamma allow. */
static void check_partition(const known *k, exponent e, double near) {
    partition z = {0};
    assert_int_equal(partition_make(&k->profile, k->weights, e, NULL, &z, NULL), TEM_OK);
    mpfr_t truth;
    mpfr_init2(truth, BITS);
    for (uint32_t w = 0; w < z.count; w++) {
        oracle_log_z(truth, k, e, w);
        assert_true(mpfr_cmp_d(truth, z.least[w]) >= 0 && mpfr_cmp_d(truth, z.most[w]) <= 0);
        assert_true(z.most[w] - z.least[w] <= near);
        partition_refine(&z, &k->model->space, w);
        assert_true(mpfr_cmp_d(truth, z.least[w]) >= 0 && mpfr_cmp_d(truth, z.most[w]) <= 0);
        assert_true(z.most[w] - z.least[w] < 1e-9 && z.refined[w]);
    }
    mpfr_clear(truth);
    partition_free(&z);
}

static void check_partitions(known *k) {
    static const double exponents[] = {0.01, 0.3, 1, 2.5, 10};
    const double step = k->profile.step / 65536.0, reach = step * (PROFILE_POINTS - 1);
    for (unsigned i = 0; i < 5; i++) {
        /* x = s step from nearly 0 to 10 per step; gamma between, at, and around the points */
        const double gammas[] = {step / 3,      step,     step * 5, step * 5 + 1 / 65536.0,
                                 reach / 5.123, reach * 2};
        for (unsigned g = 0; g < 6; g++) {
            const double s = exponents[i] / (i < 4 ? 1 : step);
            if (s * gammas[g] <= 64 && s < 0x1p22)
                check_partition(k, exponent_for(s, gammas[g]), INFINITY);
        }
    }
    const double x = 0.1; /* per step */
    check_partition(k, exponent_for(x / step, 60 * step), x * x / 8 + x * 0.05 + 1e-3);
}

static void test_partition(void **state) {
    (void)state;
    static const tem_metric metrics[] = {TEM_EUCLIDEAN, TEM_L1};
    for (unsigned i = 0; i < 2; i++) {
        known k = know(build_clusters(metrics[i], SLOW ? 20 : 40, 4, 1, 8), NULL, NULL);
        check_partitions(&k);
        forget(&k);
    }
}

static void test_partition_weights(void **state) {
    (void)state;
    uint32_t values[30];
    for (uint32_t i = 0; i < 30; i++)
        values[i] = i % 4 == 0 ? 0 : i % 4 == 1 ? UINT32_MAX - i : (uint32_t)random64() % 1000;
    known k = know(build_clusters(TEM_EUCLIDEAN, 30, 4, 1, 8), values, NULL);
    static const double exponents[] = {0.1, 1, 4};
    for (unsigned i = 0; i < 3; i++) {
        check_partition(&k, exponent_for(exponents[i], 2), INFINITY);
        check_partition(&k, exponent_for(exponents[i], 60 / exponents[i]), INFINITY);
    }
    forget(&k);
}

/* ---------------------------------------------------------------- slopes -- */

/* Every pair that is steep by the oracle is in the list, with bounds on both sides of it. */
static void check_slopes(const known *k, exponent e, double floor) {
    partition z = {0};
    steep_pairs pairs = {0};
    const space *s = &k->model->space;
    assert_int_equal(partition_make(&k->profile, k->weights, e, NULL, &z, NULL), TEM_OK);
    assert_int_equal(slopes_find(s, &z, floor, NULL, &pairs, NULL), TEM_OK);
    assert_true(pairs.left_out == 0);
    const uint64_t all = (uint64_t)s->count * (s->count - 1) / 2;
    assert_true(floor > 0 ? pairs.examined <= all : pairs.examined == all);
    uint32_t expected = 0, place = 0;
    for (uint32_t a = 0; a < s->count; a++)
        for (uint32_t b = a + 1; b < s->count; b++) {
            const tem_dist d = space_distance(s, a, b);
            expected += d > 0 && slope_of(&z, a, b, d).most >= floor;
        }
    assert_int_equal(pairs.count, expected);
    oracle o = oracle_make(k, e);
    mpfr_t truth;
    mpfr_init2(truth, BITS);
    for (; place < pairs.count; place++) {
        const slope *pair = &pairs.list[place];
        oracle_slope(truth, k, &o, e, pair->a, pair->b);
        assert_true(pair->a < pair->b && pair->distance == space_distance(s, pair->a, pair->b));
        assert_true(mpfr_cmp_d(truth, pair->least) >= 0 && mpfr_cmp_d(truth, pair->most) <= 0);
        assert_true(place == 0 || pairs.list[place - 1].most >= pair->most);
    }
    mpfr_clear(truth);
    oracle_free(&o);
    steep_pairs_free(&pairs);
    partition_free(&z);
}

static void test_slopes(void **state) {
    (void)state;
    static const tem_metric metrics[] = {TEM_EUCLIDEAN, TEM_LINF};
    for (unsigned i = 0; i < 2; i++) {
        known k = know(build_clusters(metrics[i], 44, 5, 1, 4), NULL, NULL);
        static const double floors[] = {0, 0.001, 0.05, 0.2, 0.5, 0.9};
        for (unsigned f = 0; f < 6; f++) {
            check_slopes(&k, exponent_for(1, 20), floors[f]);
            check_slopes(&k, exponent_for(1, 0.9), floors[f]);
        }
        forget(&k);
    }
}

/* Several blocks, every kernel and number of threads: no steep pair is missed, and many pairs are
 * never examined. */
static void test_slopes_of_blocks(void **state) {
    (void)state;
    const uint32_t count = 1500;
    known k = know(build_clusters(TEM_EUCLIDEAN, count, 20, 1, 8), NULL, NULL);
    partition z = {0};
    const exponent e = exponent_for(1.5, 30);
    assert_int_equal(partition_make(&k.profile, NULL, e, NULL, &z, NULL), TEM_OK);
    slope *all = calloc((size_t)count * count / 2, sizeof *all);
    assert_non_null(all);
    uint32_t used = 0;
    double steepest = 0;
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = a + 1; b < count; b++) {
            const tem_dist d = space_distance(&k.model->space, a, b);
            if (d > 0)
                all[used++] = slope_of(&z, a, b, d);
        }
    for (uint32_t i = 0; i < used; i++)
        steepest = fmax(steepest, all[i].most);
    const kernels *own = kernels_active();
    bool available = false;
    for (int part = 0; part <= 40; part += SLOW ? 20 : 1) { /* near the top: few to keep */
        const double floor = part == 0 ? 0 : steepest * (60 + part) / 100;
        for (unsigned i = 0; kernels_at(i, &available) != NULL; i++) {
            if (!available)
                continue;
            kernels_use(kernels_at(i, &available));
            const tem_run run = {.threads = 1 + i % 3};
            steep_pairs pairs = {0};
            assert_int_equal(slopes_find(&k.model->space, &z, floor, &run, &pairs, NULL), TEM_OK);
            assert_true(pairs.list[0].most == steepest);
            uint32_t expected = 0, found = 0;
            for (uint32_t j = 0; j < used; j++)
                expected += all[j].most >= floor && all[j].most > pairs.left_out;
            while (found < pairs.count && pairs.list[found].most > pairs.left_out)
                found++;
            assert_int_equal(found, expected);
            if (part == 40)
                assert_true(pairs.left_out == 0 && pairs.examined < (uint64_t)count * count / 8);
            steep_pairs_free(&pairs);
        }
    }
    free(all);
    kernels_use(own);
    partition_free(&z);
    forget(&k);
}

/* More steep pairs than there is room for: the bound on the omitted pairs covers them. */
static void test_left_out(void **state) {
    (void)state;
    const uint32_t count = 700;
    known k = know(build_clusters(TEM_EUCLIDEAN, count, 3, 1, 8), NULL, NULL);
    partition z = {0};
    const tem_run run = {.threads = 1};
    assert_int_equal(partition_make(&k.profile, NULL, exponent_for(1, 30), NULL, &z, NULL), TEM_OK);
    steep_pairs pairs = {0};
    assert_int_equal(slopes_find(&k.model->space, &z, 0, &run, &pairs, NULL), TEM_OK);
    uint32_t above = 0;
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = a + 1; b < count; b++) {
            const tem_dist d = space_distance(&k.model->space, a, b);
            above += d > 0 && slope_of(&z, a, b, d).most > pairs.left_out;
        }
    uint32_t kept = 0;
    while (kept < pairs.count && pairs.list[kept].most > pairs.left_out)
        kept++;
    assert_true(pairs.left_out > 0 && pairs.count < (uint64_t)count * (count - 1) / 2);
    assert_int_equal(kept, above);
    steep_pairs_free(&pairs);
    partition_free(&z);
    forget(&k);
}

static void test_by_distance(void **state) {
    (void)state;
    enum { RANGES = 7 };
    known k = know(build_clusters(TEM_EUCLIDEAN, 120, 5, 1, 4), NULL, NULL);
    partition z = {0};
    const exponent e = exponent_for(1.3, 3);
    assert_int_equal(partition_make(&k.profile, NULL, e, NULL, &z, NULL), TEM_OK);
    double expected[RANGES + 1] = {0}, found[RANGES + 1];
    for (uint32_t a = 0; a < 120; a++)
        for (uint32_t b = a + 1; b < 120; b++) {
            const tem_dist d = space_distance(&k.model->space, a, b);
            if (d == 0)
                continue;
            const unsigned range = d > e.gamma    ? RANGES
                                   : d == e.gamma ? RANGES - 1
                                                  : (unsigned)((uint64_t)d * RANGES / e.gamma);
            expected[range] = fmax(expected[range], slope_of(&z, a, b, d).most);
        }
    assert_int_equal(slopes_by_distance(&k.model->space, &z, RANGES, NULL, found, NULL), TEM_OK);
    for (unsigned i = 0; i <= RANGES; i++)
        assert_true(found[i] == expected[i]);
    assert_true(found[RANGES] > 0 && found[0] > 0);
    partition_free(&z);
    forget(&k);
}

/* -------------------------------------------------------------- realized -- */

static void check_realised(known *k, exponent e, double near) {
    realised_loss found = {0};
    mpfr_t truth;
    mpfr_init2(truth, BITS);
    assert_int_equal(realised_find(inputs_of(k), e, INFINITY, NULL, &found, NULL), TEM_OK);
    oracle_realised(truth, k, e);
    assert_true(mpfr_cmp_d(truth, found.least) >= 0);
    mpfr_add_d(truth, truth, 0x1p-60, MPFR_RNDN);
    assert_true(mpfr_cmp_d(truth, found.most) <= 0);
    const double value = mpfr_get_d(truth, MPFR_RNDN);
    assert_true(found.most <= value * (1 + near) && found.least >= value * (1 - near));
    assert_true(found.most <= ldexp((double)e.s, -19) * (1 + 0x1p-50) + 0x1p-60); /* 2s */
    mpfr_clear(truth);
}

static void test_realised(void **state) {
    (void)state;
    static const tem_metric metrics[] = {TEM_EUCLIDEAN, TEM_ANGULAR, TEM_L1, TEM_LINF};
    static const double exponents[] = {0.02, 0.25, 1, 3, 12};
    for (unsigned i = 0; i < 4; i++)
        for (unsigned round = 0; round < (SLOW ? 1 : 3); round++) {
            known k = know(build_clusters(metrics[i], 25 + 20 * round, 4, 1, 4), NULL, NULL);
            for (unsigned j = 0; j < 5; j++) {
                check_realised(&k, exponent_for(exponents[j], fmin(60 / exponents[j], 50)), 1e-7);
                check_realised(&k, exponent_for(exponents[j], 0.8), 1e-7);
            }
            forget(&k);
        }
}

static void test_realised_weights(void **state) {
    (void)state;
    uint32_t values[40];
    for (uint32_t i = 0; i < 40; i++)
        values[i] = 1 + (uint32_t)(random64() % 1000000);
    known k = know(build_clusters(TEM_EUCLIDEAN, 40, 4, 1, 4), values, NULL);
    check_realised(&k, exponent_for(1, 20), 1e-7);
    check_realised(&k, exponent_for(4, 2), 1e-7);
    forget(&k);
}

/* Vocabularies whose realized loss has a closed form.
 *   two words: Z is the same for both, so s.
 *   two equal words and one at D:  s + ln((2 + q) / (1 + 2q)) / D,  q = exp(-s D).
 *   a hub with k leaves at 1, leaves 2 apart:  s + ln((1 + kq) / (1 + q + (k-1) q^2)). */
static void test_known_losses(void **state) {
    (void)state;
    const double two[] = {0, 3, 3, 0};
    const double pair_and_one[] = {0, 0, 2, 0, 0, 2, 2, 2, 0};
    double star[36];
    for (int a = 0; a < 6; a++)
        for (int b = 0; b < 6; b++)
            star[a * 6 + b] = a == b ? 0 : a == 0 || b == 0 ? 1 : 2;
    static const double exponents[] = {0.1, 0.7, 1, 2.5};
    for (unsigned i = 0; i < 4; i++) {
        const double s = (double)(uint64_t)(exponents[i] * 0x1p20) / 0x1p20;
        const double step = 1 / 65536.0; /* the rounding up of a given distance */
        const exponent e = exponent_for(exponents[i], 20);
        const double q2 = exp(-s * (2 + step)), q1 = exp(-s * (1 + step));
        const struct {
            const double *distances;
            uint32_t count;
            double expected;
        } cases[] = {
            {two, 2, s},
            {pair_and_one, 3, s + log((2 + q2) / (1 + 2 * q2)) / (2 + step)},
            {star, 6, s + log((1 + 5 * q1) / (1 + q1 + 4 * q2)) / (1 + step)},
        };
        for (unsigned c = 0; c < 3; c++) {
            known k = know(build_matrix(cases[c].distances, cases[c].count), NULL, NULL);
            realised_loss found = {0};
            assert_int_equal(realised_find(inputs_of(&k), e, INFINITY, NULL, &found, NULL), TEM_OK);
            assert_true(fabs(found.most - cases[c].expected) < 1e-9);
            assert_true(fabs(found.least - cases[c].expected) < 1e-9);
            forget(&k);
        }
    }
}

/* All words are the same point: nothing is lost between them, and no pair is named. */
static void test_one_point(void **state) {
    (void)state;
    const float values[] = {1, 2, 1, 2, 1, 2};
    known k = know(small_model(NULL, values, 3, 2, TEM_EUCLIDEAN, 2), NULL, NULL);
    realised_loss found = {0};
    assert_int_equal(realised_find(inputs_of(&k), exponent_for(1, 5), INFINITY, NULL, &found, NULL),
                     TEM_OK);
    assert_true(found.worst.a == TEM_NO_WORD && fabs(found.most - 1) < 1e-9);
    /* s, plus 2^-60 for the sampler, which s alone would round away or not cover */
    mpfr_t truth;
    mpfr_init2(truth, BITS);
    for (uint64_t s = 1; s < (uint64_t)1 << 22; s = 2 * s + 1) {
        assert_int_equal(
            realised_find(inputs_of(&k), (exponent){s, 65536}, INFINITY, NULL, &found, NULL),
            TEM_OK);
        mpfr_set_uj_2exp(truth, s, -20, MPFR_RNDN);
        mpfr_add_d(truth, truth, 0x1p-60, MPFR_RNDN);
        assert_true(mpfr_cmp_d(truth, found.most) <= 0);
    }
    mpfr_clear(truth);
    forget(&k);
}

/* With a target: proved to hold, or refuted, according to the truth, and nothing else. */
static void test_target(void **state) {
    (void)state;
    known k = know(build_clusters(TEM_EUCLIDEAN, 80, 4, 1, 4), NULL, NULL);
    const exponent e = exponent_for(1, 15);
    mpfr_t truth;
    mpfr_init2(truth, BITS);
    oracle_realised(truth, &k, e);
    const double value = mpfr_get_d(truth, MPFR_RNDN);
    static const double factors[] = {0.6, 0.9, 0.999, 0.9999999, 1.0000001, 1.001, 1.1, 1.5};
    for (unsigned i = 0; i < 8; i++) {
        realised_loss found = {0};
        const double target = value * factors[i];
        assert_int_equal(realised_find(inputs_of(&k), e, target, NULL, &found, NULL), TEM_OK);
        assert_true(mpfr_cmp_d(truth, found.least) >= 0);
        assert_true((found.most <= target) == (factors[i] > 1));
        if (factors[i] > 1)
            assert_true(mpfr_cmp_d(truth, found.most) <= 0);
    }
    mpfr_clear(truth);
    forget(&k);
}

/* A list with a wrong distance can make the bound too large, never too small. */
static void test_lying_list(void **state) {
    (void)state;
    known k = know(build_clusters(TEM_EUCLIDEAN, 60, 4, 1, 4), NULL, NULL);
    tem_neighbour *entries = (tem_neighbour *)(uintptr_t)k.model->index.entries;
    for (uint64_t i = 0; i < k.model->index.entry_count; i++)
        if (entries[i].distance > 0)
            entries[i].distance = entries[i].distance / 3 + 1;
    realised_loss found = {0};
    const exponent e = exponent_for(1, 15);
    mpfr_t truth;
    mpfr_init2(truth, BITS);
    oracle_realised(truth, &k, e);
    assert_int_equal(realised_find(inputs_of(&k), e, INFINITY, NULL, &found, NULL), TEM_OK);
    assert_true(mpfr_cmp_d(truth, found.most) <= 0 && mpfr_cmp_d(truth, found.least) >= 0);
    mpfr_clear(truth);
    forget(&k);
}

/* The loss between any two inputs, including an unknown word, by the oracle. */
static void test_local(void **state) {
    (void)state;
    known k = know(build_clusters(TEM_EUCLIDEAN, 30, 4, 1, 4), NULL, NULL);
    static const double gammas[] = {0.5, 3, 20};
    for (unsigned i = 0; i < 3; i++) {
        const exponent e = exponent_for(1.5, gammas[i]);
        realised_loss found = {0};
        assert_int_equal(realised_find(inputs_of(&k), e, INFINITY, NULL, &found, NULL), TEM_OK);
        oracle o = oracle_make(&k, e);
        const double s = (double)e.s / 0x1p20, gamma = e.gamma / 65536.0;
        double worst = 0;
        for (uint32_t a = 0; a <= 30; a++) /* 30: unknown, P(y) = 1/30 */
            for (uint32_t b = 0; b <= 30; b++)
                for (uint32_t y = 0; y < 30; y++) {
                    double log_p[2];
                    for (unsigned side = 0; side < 2; side++) {
                        const uint32_t w = side == 0 ? a : b;
                        const double d =
                            w == 30 ? 0 : space_distance(&k.model->space, w, y) / 65536.0;
                        log_p[side] = w == 30
                                          ? -log(30)
                                          : -s * fmin(d, gamma) - mpfr_get_d(o.log_z[w], MPFR_RNDN);
                    }
                    worst = fmax(worst, log_p[0] - log_p[1]);
                }
        assert_true(found.local >= worst * (1 - 1e-12));
        assert_true(found.local <= 2 * s * gamma * (1 + 1e-12));
        oracle_free(&o);
    }
    forget(&k);
}

/* Words on the axes, in two groups: hundreds of thousands of equally steep pairs. */
static tem_model *build_ties(tem_metric metric, uint32_t count) {
    float *values = calloc((size_t)count * (count + 1), sizeof *values);
    assert_non_null(values);
    for (uint32_t id = 0; id < count; id++) {
        values[(size_t)id * (count + 1) + id] = 1;
        values[(size_t)id * (count + 1) + count] = id % 2 == 0 ? 0 : 300;
    }
    tem_model *model = small_model(NULL, values, count, count + 1, metric, 8);
    free(values);
    return model;
}

/* More pairs than there is room for, none of them steep: the search finds this out, and its result
 * is provable again. */
static void test_ties(void **state) {
    (void)state;
    static const tem_metric metrics[] = {TEM_EUCLIDEAN, TEM_L1};
    for (unsigned i = 0; i < 2; i++) {
        known k = know(build_ties(metrics[i], SLOW ? 120 : 300), NULL, NULL);
        exponent e = exponent_for(2, 20);
        realised_loss found = {0};
        assert_int_equal(realised_find(inputs_of(&k), e, INFINITY, NULL, &found, NULL), TEM_OK);
        assert_true(found.most >= 2 && found.most < 2 * (1 + 1e-7));
        assert_int_equal(realised_calibrate(inputs_of(&k), 2, 0.001, 0, NULL, &e, &found, NULL),
                         TEM_OK);
        assert_true(found.most <= 2 && (double)e.s > 0.99 * 2 * 0x1p20);
        forget(&k);
    }
}

/* The same bits on any number of threads, even if not all pairs can be kept. */
static void check_threads(tem_model *model) {
    realised_loss first = {0};
    for (unsigned threads = 1; threads <= 8; threads *= 2) {
        const tem_run run = {.threads = threads};
        known k = know(model, NULL, &run);
        realised_loss found = {0};
        assert_int_equal(
            realised_find(inputs_of(&k), exponent_for(1, 25), INFINITY, &run, &found, NULL),
            TEM_OK);
        if (threads == 1)
            first = found;
        assert_true(found.most == first.most && found.least == first.least &&
                    found.worst.a == first.worst.a && found.worst.b == first.worst.b &&
                    found.examined == first.examined && found.local == first.local);
        profile_free(&k.profile);
    }
    tem_model_free(model);
}

static void test_threads_agree(void **state) {
    (void)state;
    check_threads(build_clusters(TEM_EUCLIDEAN, 900, 12, 1, 8));
    check_threads(build_ties(TEM_EUCLIDEAN, 200));
    check_threads(build_ties(TEM_LINF, 200));
}

/* ------------------------------------------------------------- calibrate -- */

/* PRIVACY: the promise holds for all triples at the calibrated exponent, which is well above
 * epsilon/2. The check can fail: it does at s = epsilon. */
static void test_calibrated_promise(void **state) {
    (void)state;
    static const double epsilons[] = {0.3, 1, 2, 5};
    for (unsigned i = 0; i < 4; i++)
        for (unsigned given = 0; given < 2; given++) {
            known k = know(build_clusters(TEM_EUCLIDEAN, SLOW ? 30 : 60, 4, 1, 4), NULL, NULL);
            exponent e = {0, 0};
            realised_loss proof = {0};
            const double beta = given ? 0 : 0.001, gamma = given ? 2.5 : 0;
            assert_int_equal(
                realised_calibrate(inputs_of(&k), epsilons[i], beta, gamma, NULL, &e, &proof, NULL),
                TEM_OK);
            assert_true(proof.most <= epsilons[i] * (1 - 0x1p-50));
            assert_true((double)e.s > 0.505 * epsilons[i] * 0x1p20);
            assert_int_equal(promise_count_broken(&k.model->space, e, NULL, epsilons[i]), 0);
            const exponent beyond = {(uint64_t)(epsilons[i] * 0x1p20), e.gamma};
            assert_true(promise_count_broken(&k.model->space, beyond, NULL, epsilons[i]) > 0);
            forget(&k);
        }
}

/* PRIVACY: the proved loss leaves room below epsilon for the decimal that a ledger charges
 * (certificate_leaves_room): 2^-50 of epsilon. Tested around the loss of an exponent, unit by
 * unit. */
static void test_room_below_epsilon(void **state) {
    (void)state;
    mpfr_t limit;
    mpfr_init2(limit, BITS);
    for (unsigned i = 1; i <= 8; i++) {
        known k = know(build_clusters(TEM_EUCLIDEAN, 20 + i, 4, 1, 4), NULL, NULL);
        exponent e = exponent_for(0.3 * i, 5);
        realised_loss loss = {0}, proof = {0};
        assert_int_equal(realised_find(inputs_of(&k), e, INFINITY, NULL, &loss, NULL), TEM_OK);
        unsigned proved = 0;
        for (int unit = -8; unit <= 16; unit++) {
            const double epsilon = loss.most * (1 + unit * 0x1p-52);
            bool holds = false;
            assert_int_equal(
                realised_try(inputs_of(&k), &e, epsilon, 0, 5, NULL, &proof, &holds, NULL), TEM_OK);
            mpfr_set_d(limit, 1 - 0x1p-50 + 0x1p-53, MPFR_RNDN);
            mpfr_mul_d(limit, limit, epsilon, MPFR_RNDN);
            assert_true(!holds || mpfr_cmp_d(limit, proof.most) >= 0);
            assert_true(holds || unit < 8);
            proved += holds;
        }
        assert_true(proved > 0 && proved < 25);
        forget(&k);
    }
    mpfr_clear(limit);
}

/* Unknown words never limit the exponent: their loss is within s gamma (docs/PRIVACY.md). Even at s
 * = epsilon, where pairs of words break the promise, no triple with an unknown word does. */
static void test_unknown_words_do_not_limit(void **state) {
    (void)state;
    known k = know(build_clusters(TEM_EUCLIDEAN, 40, 4, 1, 4), NULL, NULL);
    const uint32_t count = 40;
    for (unsigned i = 1; i <= 4; i++) {
        const exponent e = exponent_for(0.8 * i, 4);
        sampler m = {.space = &k.model->space, .envelopes.exponent = e};
        assert_int_equal(weights_init(&m.envelopes.weights, NULL, count, NULL), TEM_OK);
        const law_form form = sampler_form(&m);
        long double *logs = promise_log_laws(&form, &k.model->space);
        const long double allowed = (long double)e.s / 0x1p20L * e.gamma / 65536 + 0x1p-55L;
        for (uint32_t w = 0; w < count; w++)
            for (uint32_t y = 0; y < count; y++)
                assert_true(fabsl(logs[(size_t)w * count + y] - logs[(size_t)count * count + y]) <=
                            allowed);
        free(logs);
        weights_free(&m.envelopes.weights);
    }
    forget(&k);
}

/* Where eps* grows with s, the exponent is the largest to within 0.5 %: an exponent 0.5 % larger
 * fails. */
static void test_largest(void **state) {
    (void)state;
    known k = know(build_clusters(TEM_EUCLIDEAN, 80, 4, 1, 4), NULL, NULL);
    static const double epsilons[] = {0.5, 1, 3};
    for (unsigned i = 0; i < 3; i++) {
        exponent e = {0, 0}, more = {0, 0};
        realised_loss proof = {0};
        assert_int_equal(
            realised_calibrate(inputs_of(&k), epsilons[i], 0.001, 0, NULL, &e, &proof, NULL),
            TEM_OK);
        more.s = e.s + e.s / 200;
        assert_int_equal(exponent_gamma_from_beta(0.001, 80, more.s, &more.gamma, NULL), TEM_OK);
        mpfr_t truth;
        mpfr_init2(truth, BITS);
        oracle_realised(truth, &k, more);
        assert_true(mpfr_cmp_d(truth, epsilons[i]) > 0);
        mpfr_clear(truth);
    }
    forget(&k);
}

static void test_calibrate_refusals(void **state) {
    (void)state;
    known k = know(build_clusters(TEM_EUCLIDEAN, 20, 4, 1, 4), NULL, NULL);
    exponent e = {7, 7};
    realised_loss proof = {0};
    static const struct {
        double epsilon, beta, gamma;
    } cases[] = {{0, 0.001, 0}, {-1, 0.001, 0}, {NAN, 0.001, 0}, {1, 0.99, 0}, {1, 0, 200}};
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(realised_calibrate(inputs_of(&k), cases[i].epsilon, cases[i].beta,
                                            cases[i].gamma, NULL, &e, &proof, NULL),
                         TEM_ERR_RANGE);
    assert_true(e.s == 7 && e.gamma == 7);
    /* s gamma reaches 64 on the way up: the search stays below */
    assert_int_equal(realised_calibrate(inputs_of(&k), 1, 0, 100, NULL, &e, &proof, NULL), TEM_OK);
    assert_true(exponent_at(&e, UINT32_MAX) <= (uint64_t)64 << 36);
    forget(&k);
}

/* ------------------------------------------------------------ the raw model -- */

/* 33,860 words: the search that skips nearly all pairs gives the same result as the search that
 * examines every pair. */
static void test_unpruned_agrees(void **state) {
    (void)state;
    const char *path = getenv("TEM_RAW_VECTORS");
    if (SLOW || path == NULL)
        skip(); /* half a billion pairs, several times */
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    const tem_build_options options = {.neighbours = 16};
    assert_int_equal(tem_vectors_load(path, 0, NULL, &vectors, NULL), TEM_OK);
    assert_int_equal(tem_model_build(vectors, &options, NULL, &model, NULL), TEM_OK);
    tem_vectors_free(vectors);
    known k = know(model, NULL, NULL);
    exponent e = {0, 0};
    assert_int_equal(exponent_s(2, &e.s, NULL), TEM_OK);
    assert_int_equal(exponent_gamma_from_beta(0.001, model->space.count, e.s, &e.gamma, NULL),
                     TEM_OK);
    partition z = {0};
    assert_int_equal(partition_make(&k.profile, NULL, e, NULL, &z, NULL), TEM_OK);
    double tops[2] = {0};
    assert_int_equal(slopes_by_distance(&model->space, &z, 1, NULL, tops, NULL), TEM_OK);
    double near = 0;
    steep_pairs pairs = {0};
    assert_int_equal(slopes_near(&model->index, &z, NULL, &near, NULL), TEM_OK);
    assert_int_equal(slopes_find(&model->space, &z, near, NULL, &pairs, NULL), TEM_OK);
    assert_true(near > 0 && pairs.list[0].most == fmax(tops[0], tops[1]));
    assert_true(pairs.examined < 1000000); /* of 573,232,870 */
    steep_pairs_free(&pairs);
    partition_free(&z);
    forget(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decay),
        cmocka_unit_test(test_profile),
        cmocka_unit_test(test_profile_scales),
        cmocka_unit_test(test_profile_of_a_false_metric),
        cmocka_unit_test(test_profile_of_damaged_vectors),
        cmocka_unit_test(test_profile_weights),
        cmocka_unit_test(test_squares),
        cmocka_unit_test(test_partition),
        cmocka_unit_test(test_partition_weights),
        cmocka_unit_test(test_slopes),
        cmocka_unit_test(test_slopes_of_blocks),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_by_distance),
        cmocka_unit_test(test_realised),
        cmocka_unit_test(test_realised_weights),
        cmocka_unit_test(test_known_losses),
        cmocka_unit_test(test_one_point),
        cmocka_unit_test(test_target),
        cmocka_unit_test(test_lying_list),
        cmocka_unit_test(test_local),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_threads_agree),
        cmocka_unit_test(test_calibrated_promise),
        cmocka_unit_test(test_room_below_epsilon),
        cmocka_unit_test(test_unknown_words_do_not_limit),
        cmocka_unit_test(test_largest),
        cmocka_unit_test(test_calibrate_refusals),
        cmocka_unit_test(test_unpruned_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
