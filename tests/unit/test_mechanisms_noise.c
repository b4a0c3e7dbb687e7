/* test_mechanisms_noise.c - the mechanisms mahalanobis, vickrey and vickrey-exclude.
 *
 * In the plane their laws can be integrated: along each ray from a word the order of the nearest
 * words changes at the crossings of straight lines, and the length of the noise has a known
 * distribution. The tests compare draws with these laws, and check the inequalities that the
 * mechanisms state over all triples of words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mech/mahalanobis.h"
#include "model/model.h"
#include "noise_draws.h"
#include "small_model.h"

#include <string.h>

enum { PLANE_WORDS = 5 };

/* On the grid; no two distances are equal, and the words vary more from left to right. */
static const float plane_values[PLANE_WORDS * 2] = {0,   0,     1.5f,  0.125f, -1.25f,
                                                    0.5, 0.25f, -0.75, -2,     -0.375f};

static tem_model *plane_model(void) {
    return small_model(NULL, plane_values, PLANE_WORDS, 2, TEM_EUCLIDEAN, 0);
}

static double at(uint32_t word, int i) {
    return (double)plane_values[word * 2 + (uint32_t)i];
}

static double plane_distance(uint32_t a, uint32_t b) {
    return hypot(at(a, 0) - at(b, 0), at(a, 1) - at(b, 1));
}

/* ---- laws in the plane ---- */

typedef struct plane_case {
    double shape[4]; /* the matrix by which the noise is multiplied */
    double epsilon, t;
    bool excludes; /* the input is no candidate */
} plane_case;

enum { RAYS = 6000, NODES = 5, CUTS = PLANE_WORDS * PLANE_WORDS };

/* Gauss and Legendre's nodes and weights on [-1, 1]. */
static const double nodes[NODES] = {-0.9061798459386640, -0.5384693101056831, 0, 0.5384693101056831,
                                    0.9061798459386640};
static const double node_weights[NODES] = {0.2369268850561891, 0.4786286704993665,
                                           0.5688888888888889, 0.4786286704993665,
                                           0.2369268850561891};

/* Adds the part of the law for noise along one ray with a length from `low` to `high`, between
 * which the order of the words does not change. */
static void add_piece(const plane_case *c, uint32_t word, const double direction[2], double low,
                      double high, double *law) {
    for (int node = 0; node < NODES; node++) {
        const double r = (low + high) / 2 + (high - low) / 2 * nodes[node];
        const double x = at(word, 0) + r * direction[0], y = at(word, 1) + r * direction[1];
        double first = INFINITY, second = INFINITY;
        uint32_t nearest = 0, next = 0;
        for (uint32_t id = 0; id < PLANE_WORDS; id++) {
            const double d = hypot(x - at(id, 0), y - at(id, 1));
            if (c->excludes && id == word)
                continue;
            if (d < first) {
                second = first, next = nearest;
                first = d, nearest = id;
            } else if (d < second) {
                second = d, next = id;
            }
        }
        const double mass = node_weights[node] * (high - low) / 2 * c->epsilon * c->epsilon * r *
                            exp(-c->epsilon * r) / RAYS;
        const double p = c->t * first / (c->t * first + (1 - c->t) * second);
        law[nearest] += (1 - p) * mass;
        law[next] += p * mass;
    }
}

/* The lengths at which two words are equally far from the noisy vector, and steps in between. */
static int find_cuts(const plane_case *c, uint32_t word, const double direction[2], double *cuts) {
    int count = 0;
    for (uint32_t a = 0; a < PLANE_WORDS; a++)
        for (uint32_t b = 0; b < a; b++) {
            const double to_a[2] = {at(word, 0) - at(a, 0), at(word, 1) - at(a, 1)};
            const double to_b[2] = {at(word, 0) - at(b, 0), at(word, 1) - at(b, 1)};
            const double constant =
                to_a[0] * to_a[0] + to_a[1] * to_a[1] - to_b[0] * to_b[0] - to_b[1] * to_b[1];
            const double slope =
                2 * (direction[0] * (to_a[0] - to_b[0]) + direction[1] * (to_a[1] - to_b[1]));
            if (-constant / slope > 0 && -constant / slope < 45 / c->epsilon)
                cuts[count++] = -constant / slope;
        }
    for (int i = 0; i <= 45; i++)
        cuts[count++] = i / c->epsilon;
    qsort(cuts, (size_t)count, sizeof *cuts, compare_doubles);
    return count;
}

static void find_law(const plane_case *c, uint32_t word, double *law) {
    memset(law, 0, PLANE_WORDS * sizeof *law);
    for (int ray = 0; ray < RAYS; ray++) {
        const double angle = 6.283185307179586 * (ray + 0.5) / RAYS;
        const double direction[2] = {c->shape[0] * cos(angle) + c->shape[1] * sin(angle),
                                     c->shape[2] * cos(angle) + c->shape[3] * sin(angle)};
        double cuts[CUTS + 46];
        const int count = find_cuts(c, word, direction, cuts);
        for (int i = 0; i + 1 < count; i++)
            add_piece(c, word, direction, cuts[i], cuts[i + 1], law);
    }
}

static void check_plane(const tem_mechanism *m, const plane_case *c,
                        double laws[PLANE_WORDS][PLANE_WORDS]) {
    for (uint32_t word = 0; word < PLANE_WORDS; word++) {
        uint64_t counts[PLANE_WORDS] = {0};
        double sum = 0;
        find_law(c, word, laws[word]);
        for (uint32_t y = 0; y < PLANE_WORDS; y++)
            sum += laws[word][y];
        assert_true(fabs(sum - 1) < 1e-6);
        count_draws(m, word, word, counts);
        compare_counts(counts, laws[word], PLANE_WORDS, DRAWS);
    }
}

/* Whether P(y | w) <= exp(epsilon d(w,w')) P(y | w') for all triples. The laws have 6 digits. */
static bool bound_holds(double laws[PLANE_WORDS][PLANE_WORDS], double epsilon,
                        double (*distance)(uint32_t a, uint32_t b)) {
    for (uint32_t w = 0; w < PLANE_WORDS; w++)
        for (uint32_t v = 0; v < PLANE_WORDS; v++)
            for (uint32_t y = 0; y < PLANE_WORDS; y++)
                if (laws[w][y] > exp(epsilon * distance(w, v)) * laws[v][y] * (1 + 1e-5))
                    return false;
    return true;
}

/* ---- the two nearest words ---- */

__extension__ typedef __int128 wide;

static wide square_to(const space *s, const int64_t *point, uint32_t id) {
    wide square = 0;
    for (uint32_t i = 0; i < s->dimension; i++) {
        const wide off = (wide)point[i] - space_row(s, id)[i];
        square += off * off;
    }
    return square;
}

/* The nearest word by brute force among those that are neither left out nor `not_a` or `not_b`. */
static uint32_t nearest(const space *s, const uint32_t *outputs, const int64_t *point,
                        uint32_t not_a, uint32_t not_b) {
    uint32_t best = TEM_NO_WORD;
    for (uint32_t id = 0; id < s->count; id++)
        if (outputs[id] != 0 && id != not_a && id != not_b &&
            (best == TEM_NO_WORD || square_to(s, point, id) < square_to(s, point, best)))
            best = id;
    return best;
}

static void check_two(const space *s, const uint32_t *outputs, const int64_t *point,
                      uint32_t left_out, const point_two *two) {
    const uint32_t first = nearest(s, outputs, point, left_out, TEM_NO_WORD);
    const uint32_t second = nearest(s, outputs, point, left_out, first);
    assert_int_equal(two->first, first);
    assert_int_equal(two->second, first == TEM_NO_WORD ? TEM_NO_WORD : second);
    const double unit = ldexp(1, -(int)s->step_log2);
    if (two->first != TEM_NO_WORD)
        assert_true(fabs(two->first_distance / unit - sqrt((double)square_to(s, point, first))) <=
                    1e-12 * two->first_distance / unit);
    if (two->second != TEM_NO_WORD)
        assert_true(fabs(two->second_distance / unit - sqrt((double)square_to(s, point, second))) <=
                    1e-12 * two->second_distance / unit);
}

enum { SEARCH_WORDS = 150, SEARCH_POINTS = 240, SEARCH_DIMENSION = 19, ELEMENTS = 32 };

static int64_t around_zero(tem_rng *rng, int64_t largest) {
    return (int64_t)rng_below(rng, 2 * (uint64_t)largest + 1) - largest;
}

/* Points among the words, on a word, midway between two and far away; the last words are copies of
 * the first, so there are ties. */
static void check_search(const uint32_t *outputs, bool leave_out) {
    static _Alignas(64) int16_t rows[SEARCH_WORDS * ELEMENTS];
    static int64_t points[SEARCH_POINTS * SEARCH_DIMENSION];
    uint32_t left_out[SEARCH_POINTS];
    point_two two[SEARCH_POINTS];
    tem_rng rng;
    rng_init_seeded(&rng, SEED, leave_out);
    for (uint32_t id = 0; id < SEARCH_WORDS; id++)
        for (uint32_t i = 0; i < SEARCH_DIMENSION; i++)
            rows[id * ELEMENTS + i] = id + 3 < SEARCH_WORDS
                                          ? (int16_t)(2 * around_zero(&rng, 900))
                                          : rows[(id - (SEARCH_WORDS - 3)) * ELEMENTS + i];
    const space s = {.metric = &metric_euclidean,
                     .count = SEARCH_WORDS,
                     .dimension = SEARCH_DIMENSION,
                     .row_elements = space_row_elements(SEARCH_DIMENSION),
                     .step_log2 = 10,
                     .rows = rows};
    assert_int_equal(s.row_elements, ELEMENTS);
    for (uint32_t p = 0; p < SEARCH_POINTS; p++) {
        const uint32_t a = (uint32_t)rng_below(&rng, p % 3 == 0 ? 3 : SEARCH_WORDS);
        const uint32_t b = (uint32_t)rng_below(&rng, SEARCH_WORDS);
        left_out[p] = a;
        for (uint32_t i = 0; i < SEARCH_DIMENSION; i++) {
            const int16_t x = rows[a * ELEMENTS + i], y = rows[b * ELEMENTS + i];
            const int64_t kinds[] = {x, (x + y) / 2, around_zero(&rng, 2000),
                                     around_zero(&rng, (int64_t)1 << 45),
                                     x + around_zero(&rng, 30)};
            points[p * SEARCH_DIMENSION + i] = kinds[p % 5];
        }
    }
    point_search n;
    assert_int_equal(point_search_init(&n, &s, outputs, NULL), TEM_OK);
    assert_int_equal(
        point_search_run_two(&n, points, SEARCH_POINTS, leave_out ? left_out : NULL, two, NULL),
        TEM_OK);
    for (uint32_t p = 0; p < SEARCH_POINTS; p++)
        check_two(&s, outputs, points + p * SEARCH_DIMENSION, leave_out ? left_out[p] : TEM_NO_WORD,
                  &two[p]);
    point_search_free(&n);
}

static void test_two_nearest(void **state) {
    (void)state;
    uint32_t outputs[SEARCH_WORDS];
    for (uint32_t id = 0; id < SEARCH_WORDS; id++)
        outputs[id] = 1;
    check_search(outputs, false);
    check_search(outputs, true);
    for (uint32_t id = 0; id < SEARCH_WORDS; id++)
        outputs[id] = id % 3 != 0;
    check_search(outputs, true);
    memset(outputs, 0, sizeof outputs);
    outputs[2] = 1; /* one output alone: there is no second word, or none at all */
    check_search(outputs, false);
    check_search(outputs, true);
}

/* ---- mahalanobis ---- */

enum { DEEP = 3, DEEP_WORDS = 12 };

static tem_model *deep_model(void) {
    float values[DEEP_WORDS * DEEP];
    for (uint32_t id = 0; id < DEEP_WORDS; id++) {
        const float a = (float)(id * 7 % 12) / 4, b = (float)(id * 5 % 11) / 16;
        values[id * DEEP] = a + 3;
        values[id * DEEP + 1] = a / 2 + b;
        values[id * DEEP + 2] = (float)(id % 4) / 8 - b;
    }
    return small_model(NULL, values, DEEP_WORDS, DEEP, TEM_EUCLIDEAN, 0);
}

/* M by its definition, from the vectors on the grid. */
static void brute_matrix(const space *s, double lambda, double *matrix) {
    const uint32_t n = s->dimension;
    double mean[TEM_DIMENSION_MAX] = {0}, trace = 0;
    memset(matrix, 0, n * n * sizeof *matrix);
    for (uint32_t id = 0; id < s->count; id++)
        for (uint32_t i = 0; i < n; i++)
            mean[i] += (double)space_row(s, id)[i] / s->count;
    for (uint32_t id = 0; id < s->count; id++)
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = 0; k < n; k++)
                matrix[i * n + k] +=
                    (space_row(s, id)[i] - mean[i]) * (space_row(s, id)[k] - mean[k]);
    for (uint32_t i = 0; i < n; i++)
        trace += matrix[i * n + i];
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++)
            matrix[i * n + k] = lambda * matrix[i * n + k] * n / trace + (i == k ? 1 - lambda : 0);
}

static void check_root(const space *s, double lambda) {
    const uint32_t n = s->dimension;
    double matrix[DEEP * DEEP], trace = 0;
    mahalanobis_shape shape = {0};
    brute_matrix(s, lambda, matrix);
    assert_int_equal(mahalanobis_shape_init(&shape, s, lambda, NULL), TEM_OK);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++) {
            double product = 0;
            for (uint32_t j = 0; j < n; j++)
                product += shape.root[i * n + j] * shape.root[k * n + j];
            assert_true(fabs(product - matrix[i * n + k]) < 1e-12);
            trace += i == k ? product : 0;
        }
    assert_true(fabs(trace - n) < 1e-12);
    assert_true(shape.least >= 1 - lambda - 1e-12 && shape.least <= 1 && shape.most >= 1);
    mahalanobis_shape_free(&shape);
}

static void test_mahalanobis_matrix(void **state) {
    (void)state;
    tem_model *deep = deep_model(), *plane = plane_model();
    const double lambdas[] = {0, 0.2, 0.5, 1};
    for (size_t i = 0; i < 4; i++) {
        check_root(&deep->space, lambdas[i]);
        check_root(&plane->space, lambdas[i]);
    }
    tem_model_free(plane);
    tem_model_free(deep);
}

/* The lower triangle L of M = L L'. */
static void cholesky(const double *matrix, double *low) {
    memset(low, 0, DEEP * DEEP * sizeof *low);
    for (int i = 0; i < DEEP; i++)
        for (int k = 0; k <= i; k++) {
            double sum = matrix[i * DEEP + k];
            for (int j = 0; j < k; j++)
                sum -= low[i * DEEP + j] * low[k * DEEP + j];
            low[i * DEEP + k] = i == k ? sqrt(sum) : sum / low[k * DEEP + k];
        }
}

/* Replaces z by L^-1 z, whose length is |z|_RM. */
static void whiten(const double *low, double *z) {
    for (int i = 0; i < DEEP; i++) {
        for (int k = 0; k < i; k++)
            z[i] -= low[i * DEEP + k] * z[k];
        z[i] /= low[i * DEEP + i];
    }
}

static const double noise_epsilon = 2.5;

/* Gamma(3, 1/epsilon), in closed form. */
static double radius_cdf(const void *context, double r) {
    (void)context;
    const double x = r * noise_epsilon;
    return 1 - exp(-x) * (1 + x + x * x / 2);
}

/* One coordinate of a uniform direction in three dimensions is uniform (Archimedes). */
static double direction_cdf(const void *context, double u) {
    (void)context;
    return (1 + u) / 2;
}

/* The noise has the density exp(-epsilon |z|_RM): whitened, its length is a gamma variable and its
 * direction is uniform. */
static void test_mahalanobis_noise(void **state) {
    (void)state;
    tem_model *model = deep_model();
    double matrix[DEEP * DEEP], low[DEEP * DEEP];
    double *radius = calloc(SAMPLES, sizeof *radius);
    double *direction[DEEP];
    mahalanobis_shape shape = {0};
    tem_rng rng;
    for (int i = 0; i < DEEP; i++)
        direction[i] = calloc(SAMPLES, sizeof *direction[i]);
    assert_int_equal(mahalanobis_shape_init(&shape, &model->space, 0.8, NULL), TEM_OK);
    brute_matrix(&model->space, 0.8, matrix);
    cholesky(matrix, low);
    rng_init_seeded(&rng, SEED, 1);
    for (int i = 0; i < SAMPLES; i++) {
        double z[DEEP];
        madlib_noise(noise_epsilon, DEEP, &rng, z);
        madlib_shape(shape.root, DEEP, z);
        whiten(low, z);
        radius[i] = sqrt(z[0] * z[0] + z[1] * z[1] + z[2] * z[2]);
        for (int k = 0; k < DEEP; k++)
            direction[k][i] = z[k] / radius[i];
    }
    compare_samples(radius, radius_cdf, NULL);
    for (int k = 0; k < DEEP; k++) {
        compare_samples(direction[k], direction_cdf, NULL);
        free(direction[k]);
    }
    free(radius);
    mahalanobis_shape_free(&shape);
    tem_model_free(model);
}

static double plane_matrix[4];

static double regularised_distance(uint32_t a, uint32_t b) {
    const double *m = plane_matrix, x = at(a, 0) - at(b, 0), y = at(a, 1) - at(b, 1);
    const double determinant = m[0] * m[3] - m[1] * m[2];
    return sqrt((m[3] * x * x - (m[1] + m[2]) * x * y + m[0] * y * y) / determinant);
}

static double shrunk_distance(uint32_t a, uint32_t b) {
    return plane_distance(a, b) / sqrt(1 - 0.9);
}

/* The law, the inequality in the regularized distance and in the model's distance by the constant
 * 1 / sqrt(1 - lambda), and that epsilon alone does not bound it: the guarantee is "other". */
static void test_mahalanobis_law(void **state) {
    (void)state;
    tem_model *model = plane_model();
    plane_case c = {.epsilon = 1.5};
    double laws[PLANE_WORDS][PLANE_WORDS];
    brute_matrix(&model->space, 0.9, plane_matrix);
    /* The symmetric root of a 2 by 2 matrix: (M + sqrt(det) I) / sqrt(trace + 2 sqrt(det)). */
    const double det = sqrt(plane_matrix[0] * plane_matrix[3] - plane_matrix[1] * plane_matrix[2]);
    const double divisor = sqrt(plane_matrix[0] + plane_matrix[3] + 2 * det);
    for (int i = 0; i < 4; i++)
        c.shape[i] = (plane_matrix[i] + (i % 3 == 0 ? det : 0)) / divisor;
    tem_mechanism *m = make_mechanism(model, "mahalanobis", c.epsilon, "lambda", 0.9);
    check_plane(m, &c, laws);
    assert_true(bound_holds(laws, c.epsilon, regularised_distance));
    assert_true(bound_holds(laws, c.epsilon, shrunk_distance));
    assert_false(bound_holds(laws, c.epsilon, plane_distance));
    check_unknown(m, model, PLANE_WORDS);
    tem_mechanism_free(m);
    tem_model_free(model);
}

/* With lambda = 0 the law is Madlib's. */
static void test_mahalanobis_round(void **state) {
    (void)state;
    tem_model *model = plane_model();
    const plane_case c = {.shape = {1, 0, 0, 1}, .epsilon = 2};
    double laws[PLANE_WORDS][PLANE_WORDS];
    tem_mechanism *m = make_mechanism(model, "mahalanobis", c.epsilon, "lambda", 0);
    check_plane(m, &c, laws);
    assert_true(bound_holds(laws, c.epsilon, plane_distance));
    tem_mechanism_free(m);
    tem_model_free(model);
}

/* Words on a line in the plane: with lambda = 1 there is no noise across the line. Words at one
 * point: there is no covariance. */
static void test_mahalanobis_singular(void **state) {
    (void)state;
    const float line[] = {0, 0, 1, 1, 3, 3}, point[] = {1, 2, 1, 2, 1, 2};
    tem_mechanism *m = NULL;
    tem_model *model = small_model(NULL, line, 3, 2, TEM_EUCLIDEAN, 0);
    assert_int_equal(try_mechanism(model, "mahalanobis", 1, "lambda", 1, &m, NULL), TEM_ERR_RANGE);
    assert_int_equal(try_mechanism(model, "mahalanobis", 1, "lambda", 0.99, &m, NULL), TEM_OK);
    tem_mechanism_free(m);
    tem_model_free(model);
    model = small_model(NULL, point, 3, 2, TEM_EUCLIDEAN, 0);
    assert_int_equal(try_mechanism(model, "mahalanobis", 1, NULL, 0, &m, NULL), TEM_ERR_RANGE);
    tem_model_free(model);
}

/* The longest noise must stay where the search can find points: the least epsilon grows with the
 * largest eigenvalue. */
static void test_mahalanobis_least_epsilon(void **state) {
    (void)state;
    tem_model *model = plane_model();
    mahalanobis_shape shape = {0};
    assert_int_equal(mahalanobis_shape_init(&shape, &model->space, 1, NULL), TEM_OK);
    const double least = 37 * 2 * ldexp(sqrt(shape.most), (int)model->space.step_log2 - 50);
    assert_true(sqrt(shape.most) > 1.2);
    tem_mechanism *m = NULL;
    assert_int_equal(try_mechanism(model, "mahalanobis", least * 0.999, "lambda", 1, &m, NULL),
                     TEM_ERR_RANGE);
    assert_int_equal(try_mechanism(model, "mahalanobis", least * 1.001, "lambda", 1, &m, NULL),
                     TEM_OK);
    tem_mechanism_free(m);
    mahalanobis_shape_free(&shape);
    tem_model_free(model);
}

/* ---- vickrey ---- */

/* The draws against the law, for several t; the stated inequality holds for all triples. */
static void test_vickrey_law(void **state) {
    (void)state;
    tem_model *model = plane_model();
    const double ts[] = {0.25, 0.75, 1};
    for (size_t i = 0; i < 3; i++) {
        const plane_case c = {.shape = {1, 0, 0, 1}, .epsilon = 1.5, .t = ts[i]};
        double laws[PLANE_WORDS][PLANE_WORDS];
        tem_mechanism *m = make_mechanism(model, "vickrey", c.epsilon, "t", c.t);
        check_plane(m, &c, laws);
        assert_true(bound_holds(laws, c.epsilon, plane_distance));
        check_unknown(m, model, PLANE_WORDS);
        tem_mechanism_free(m);
    }
    tem_model_free(model);
}

/* With t = 0 the outputs are Madlib's, word by word, from the same seed. */
static void test_vickrey_is_madlib(void **state) {
    (void)state;
    enum { COUNT = 1000 };
    tem_model *model = plane_model();
    uint32_t words[COUNT], by_vickrey[COUNT], by_madlib[COUNT];
    tem_mechanism *vickrey = make_mechanism(model, "vickrey", 1, "t", 0);
    tem_mechanism *plain = make_mechanism(model, "madlib", 1, NULL, 0);
    tem_rng rng;
    for (uint32_t i = 0; i < COUNT; i++)
        words[i] = i % PLANE_WORDS;
    rng_init_seeded(&rng, SEED, 0);
    assert_int_equal(tem_mechanism_draw_many(vickrey, &rng, words, by_vickrey, COUNT, NULL),
                     TEM_OK);
    rng_init_seeded(&rng, SEED, 0);
    assert_int_equal(tem_mechanism_draw_many(plain, &rng, words, by_madlib, COUNT, NULL), TEM_OK);
    assert_memory_equal(by_vickrey, by_madlib, sizeof by_madlib);
    tem_mechanism_free(plain);
    tem_mechanism_free(vickrey);
    tem_model_free(model);
}

/* The counterexample: no word becomes itself, and every other word becomes it now and then. */
static void test_vickrey_exclude(void **state) {
    (void)state;
    tem_model *model = plane_model();
    const plane_case c = {.shape = {1, 0, 0, 1}, .epsilon = 1.5, .t = 0.75, .excludes = true};
    double laws[PLANE_WORDS][PLANE_WORDS];
    tem_mechanism *m = make_mechanism(model, "vickrey-exclude", c.epsilon, "t", c.t);
    check_plane(m, &c, laws);
    for (uint32_t w = 0; w < PLANE_WORDS; w++)
        for (uint32_t y = 0; y < PLANE_WORDS; y++)
            assert_true(w == y ? laws[w][y] == 0 : laws[w][y] > 0.001);
    assert_false(bound_holds(laws, 50, plane_distance));
    check_unknown(m, model, PLANE_WORDS);
    tem_mechanism_free(m);
    tem_model_free(model);
}

/* ---- what they say, refuse and leave out ---- */

static const char *const names[] = {"mahalanobis", "vickrey", "vickrey-exclude"};

static const tem_mechanism_properties *properties_of(const char *name) {
    for (unsigned i = 0; tem_mechanism_at(i) != NULL; i++)
        if (strcmp(tem_mechanism_at(i)->name, name) == 0)
            return tem_mechanism_at(i);
    fail_msg("no mechanism %s", name);
    return NULL;
}

static void test_claims(void **state) {
    (void)state;
    static const tem_guarantee guarantees[] = {TEM_GUARANTEE_OTHER, TEM_GUARANTEE_IDEAL,
                                               TEM_GUARANTEE_NONE};
    tem_model *model = plane_model();
    for (size_t i = 0; i < 3; i++) {
        const tem_mechanism_options options = {.mechanism = names[i], .epsilon = 1};
        tem_mechanism *m = NULL;
        assert_int_equal(properties_of(names[i])->guarantee, guarantees[i]);
        assert_int_equal(tem_mechanism_create(model, &options, &m, NULL),
                         guarantees[i] == TEM_GUARANTEE_IDEAL ? TEM_OK : TEM_ERR_ARGUMENT);
        tem_mechanism_free(m);
    }
    tem_model_free(model);
}

static void test_refusals(void **state) {
    (void)state;
    const float turned[] = {1, 0, 0, 1, -1, 0};
    tem_model *plane = plane_model(), *angular = small_model(NULL, turned, 3, 2, TEM_ANGULAR, 0);
    tem_mechanism *m = NULL;
    for (size_t i = 0; i < 3; i++) {
        const char *number = i == 0 ? "lambda" : "t";
        const double wrong[] = {-0.001, 1.001, NAN};
        for (size_t k = 0; k < 3; k++)
            assert_int_equal(try_mechanism(plane, names[i], 1, number, wrong[k], &m, NULL),
                             TEM_ERR_RANGE);
        assert_int_equal(try_mechanism(plane, names[i], 1, "s", 1, &m, NULL), TEM_ERR_ARGUMENT);
        assert_int_equal(try_mechanism(plane, names[i], 1e-12, NULL, 0, &m, NULL), TEM_ERR_RANGE);
        assert_int_equal(try_mechanism(angular, names[i], 1, NULL, 0, &m, NULL),
                         TEM_ERR_UNSUPPORTED);
    }
    tem_model_free(angular);
    tem_model_free(plane);
}

static tem_model *model_without(const char *const *out, uint32_t count) {
    static const char *const words[] = {"a", "b", "c", "d", "e"};
    const tem_build_options options = {
        .allow_coarse = 1, .space = TEM_SPACE_RAW, .exclude = out, .exclude_count = count};
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    assert_int_equal(tem_vectors_create(words, plane_values, PLANE_WORDS, 2, &vectors, NULL),
                     TEM_OK);
    assert_int_equal(tem_model_build(vectors, &options, NULL, &model, NULL), TEM_OK);
    tem_vectors_free(vectors);
    return model;
}

/* Excluded words are inputs as all others, and never outputs. */
static void test_excluded_words(void **state) {
    (void)state;
    static const char *const out[] = {"b", "d"};
    tem_model *model = model_without(out, 2);
    for (size_t i = 0; i < 3; i++) {
        tem_mechanism *m = make_mechanism(model, names[i], 1, NULL, 0);
        for (uint32_t word = 0; word < PLANE_WORDS; word++) {
            uint64_t counts[PLANE_WORDS] = {0};
            count_draws(m, word, word, counts);
            assert_true(counts[1] == 0 && counts[3] == 0);
            assert_true((counts[0] > 0) != (i == 2 && word == 0));
        }
        check_unknown(m, model, PLANE_WORDS);
        tem_mechanism_free(m);
    }
    tem_model_free(model);
}

/* With two outputs vickrey-exclude has one candidate for each of them; with one output there would
 * be none, and neither variant has two words to choose from. */
static void test_few_outputs(void **state) {
    (void)state;
    static const char *const out[] = {"b", "c", "d", "e"};
    uint64_t counts[PLANE_WORDS] = {0};
    tem_model *two = model_without(out + 1, 3), *one = model_without(out, 4);
    tem_mechanism *m = make_mechanism(two, "vickrey-exclude", 1, NULL, 0);
    count_draws(m, 0, 0, counts);
    assert_int_equal(counts[1], DRAWS);
    tem_mechanism_free(m);
    m = NULL;
    assert_int_equal(try_mechanism(one, "vickrey", 1, NULL, 0, &m, NULL), TEM_ERR_RANGE);
    assert_int_equal(try_mechanism(one, "vickrey-exclude", 1, NULL, 0, &m, NULL), TEM_ERR_RANGE);
    assert_null(m);
    tem_model_free(one);
    tem_model_free(two);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_nearest),
        cmocka_unit_test(test_mahalanobis_matrix),
        cmocka_unit_test(test_mahalanobis_noise),
        cmocka_unit_test(test_mahalanobis_law),
        cmocka_unit_test(test_mahalanobis_round),
        cmocka_unit_test(test_mahalanobis_singular),
        cmocka_unit_test(test_mahalanobis_least_epsilon),
        cmocka_unit_test(test_vickrey_law),
        cmocka_unit_test(test_vickrey_is_madlib),
        cmocka_unit_test(test_vickrey_exclude),
        cmocka_unit_test(test_claims),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_excluded_words),
        cmocka_unit_test(test_few_outputs),
    };
    return cmocka_run_group_tests_name("noise mechanisms", tests, NULL, NULL);
}
