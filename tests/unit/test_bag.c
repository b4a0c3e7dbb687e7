/* test_bag.c - the Earth Mover's distance of documents.
 *
 * The oracle for small bags goes through all matchings of their words, each word repeated until
 * both bags have the same number. For large ones the prices prove the result: the test checks the
 * proof with code of its own. */
#include "bag/bag.h"
#include "bag/transport.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pseudo.h"
#include "slow.h"
#include "small_model.h"

#include <math.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 wide_signed;

/* ------------------------------------------------ the transport problem -- */

/* The proof, checked once more. */
static void check_proof(const transport_problem *p, const transport_plan *plan) {
    const int64_t *u = plan->prices, *v = plan->prices + p->rows;
    wide_signed dual = 0;
    wide primal = 0;
    for (uint32_t r = 0; r < p->rows; r++) {
        int64_t sent = 0;
        for (uint32_t i = 0; i < plan->count; i++)
            sent += plan->moves[i].row == r ? plan->moves[i].flow : 0;
        assert_true(sent == p->supplies[r]);
        dual += (wide_signed)u[r] * p->supplies[r];
        for (uint32_t c = 0; c < p->columns; c++)
            assert_true(u[r] + v[c] <= p->costs[r * p->columns + c]);
    }
    for (uint32_t c = 0; c < p->columns; c++) {
        int64_t received = 0;
        for (uint32_t i = 0; i < plan->count; i++)
            received += plan->moves[i].column == c ? plan->moves[i].flow : 0;
        assert_true(received == p->demands[c]);
        dual += (wide_signed)v[c] * p->demands[c];
    }
    for (uint32_t i = 0; i < plan->count; i++) {
        const transport_move *m = &plan->moves[i];
        assert_true(m->flow > 0 && m->row < p->rows && m->column < p->columns);
        primal += (wide)(uint64_t)m->flow * p->costs[m->row * p->columns + m->column];
    }
    assert_true(primal == plan->cost && dual == (wide_signed)primal);
    assert_true(plan->count < p->rows + p->columns);
}

/* Supplies or demands: `count` numbers above 0 with this sum. */
static void share_out(int64_t *shares, uint32_t count, int64_t sum) {
    for (uint32_t i = 0; i < count; i++)
        shares[i] = 1;
    for (int64_t left = sum - count; left > 0;) {
        const int64_t some = left < 16 ? left : (int64_t)random_below((size_t)left) + 1;
        shares[random_below(count)] += some;
        left -= some;
    }
}

static void check_random(uint32_t rows, uint32_t columns, int64_t sum, uint64_t costs_below) {
    uint32_t *costs = calloc((size_t)rows * columns, sizeof *costs);
    int64_t *supplies = calloc(rows, sizeof *supplies), *demands = calloc(columns, sizeof *demands);
    assert_true(costs != NULL && supplies != NULL && demands != NULL);
    for (size_t i = 0; i < (size_t)rows * columns; i++)
        costs[i] = (uint32_t)random_below(costs_below);
    share_out(supplies, rows, sum);
    share_out(demands, columns, sum);
    const transport_problem p = {rows, columns, costs, supplies, demands};
    transport_plan plan = {.moves = NULL};
    assert_int_equal(transport_solve(&p, NULL, &plan, NULL), TEM_OK);
    check_proof(&p, &plan);
    assert_int_equal(transport_prove(&p, &plan, NULL), TEM_OK);
    transport_plan_free(&plan);
    free(demands);
    free(supplies);
    free(costs);
}

/* Costs of any size, also none that a metric could have; ties, which make pivots without flow. */
static void test_transport_is_proved(void **state) {
    (void)state;
    const uint64_t costs[] = {1, 2, 3, 1000, (uint64_t)1 << 32};
    for (size_t c = 0; c < sizeof costs / sizeof *costs; c++)
        for (uint32_t rows = 1; rows <= 40; rows += 1 + rows / 3)
            for (uint32_t columns = 1; columns <= 40; columns += 1 + columns / 3) {
                const uint32_t most = rows > columns ? rows : columns;
                check_random(rows, columns, most, costs[c]);
                check_random(rows, columns, 3 * most, costs[c]);
                check_random(rows, columns, (int64_t)1 << 61, costs[c]);
            }
    check_random(SLOW ? 100 : 400, SLOW ? 100 : 300, 1000, 1 << 20);
}

/* The check of the proof must reject what is no proof. */
static void test_false_proofs(void **state) {
    (void)state;
    const uint32_t costs[] = {1, 5, 4, 1};
    const int64_t supplies[] = {2, 3}, demands[] = {3, 2};
    const transport_problem p = {2, 2, costs, supplies, demands};
    transport_plan plan = {.moves = NULL};
    assert_int_equal(transport_solve(&p, NULL, &plan, NULL), TEM_OK);
    assert_true(plan.cost == 2 + 4 + 2 && plan.count == 3);
    assert_int_equal(transport_prove(&p, &plan, NULL), TEM_OK);
    for (int i = 0; i < 4; i++) { /* a price too low: the sums differ; too high: beyond a cost */
        for (int change = -1; change <= 1; change += 2) {
            plan.prices[i] += change;
            assert_int_equal(transport_prove(&p, &plan, NULL), TEM_ERR_DAMAGED);
            plan.prices[i] -= change;
        }
    }
    plan.prices[0] += 3; /* the same sum, 3 * 2 - 2 * 3, by prices beyond a cost */
    plan.prices[1] -= 2;
    assert_int_equal(transport_prove(&p, &plan, NULL), TEM_ERR_DAMAGED);
    plan.prices[0] -= 3;
    plan.prices[1] += 2;
    plan.cost++;
    assert_int_equal(transport_prove(&p, &plan, NULL), TEM_ERR_DAMAGED);
    plan.cost--;
    plan.moves[0].flow++;
    assert_int_equal(transport_prove(&p, &plan, NULL), TEM_ERR_DAMAGED);
    plan.moves[0].flow--;
    assert_int_equal(transport_prove(&p, &plan, NULL), TEM_OK);
    transport_plan_free(&plan);
    const transport_problem huge = {TRANSPORT_NODES_MAX, 1, costs, supplies, demands};
    assert_int_equal(transport_solve(&huge, NULL, &plan, NULL), TEM_ERR_RANGE);
}

static int stop(void *context, const char *stage, uint64_t done, uint64_t total) {
    (void)done, (void)total;
    return strcmp(stage, context) == 0;
}

/* ------------------------------------------- bags, against all matchings -- */

enum { WORDS = 12, MOST = 7 };

/* The least sum of distances over all ways to match a[i..count-1] with the b that are not used. */
static uint64_t least_sum(const tem_model *model, tem_dist gamma, const uint32_t *a, uint32_t *b,
                          uint32_t count) {
    if (count == 0)
        return 0;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t x = a[0], y = b[i];
        uint64_t d = x == TEM_NO_WORD || y == TEM_NO_WORD ? (x == y ? 0 : gamma)
                                                          : tem_model_distance(model, x, y);
        d = gamma > 0 && d > gamma ? gamma : d;
        b[i] = b[0];
        b[0] = y;
        const uint64_t sum = d + least_sum(model, gamma, a + 1, b + 1, count - 1);
        least = sum < least ? sum : least;
        b[0] = b[i];
        b[i] = y;
    }
    return least;
}

static tem_bag_distance measure(const tem_model *model, tem_dist gamma, const uint32_t *a,
                                size_t a_count, const uint32_t *b, size_t b_count) {
    tem_bag_distance d;
    memset(&d, 0x55, sizeof d);
    const tem_bag_options options = {.gamma = gamma};
    assert_int_equal(tem_bag_measure(model, a, a_count, b, b_count, &options, NULL, &d, NULL),
                     TEM_OK);
    const wide cost = (wide)d.numerator_high << 64 | d.numerator_low;
    const long double exact = (long double)cost / (long double)d.denominator / 65536;
    assert_true(fabsl(d.distance - exact) <= exact * 0x1p-53L);
    assert_int_equal(d.has_matching,
                     d.a.words == d.b.words && (gamma > 0 || d.a.unknown == d.b.unknown));
    assert_true(d.has_matching ? d.matching == cost && d.denominator == d.a.words
                               : d.matching == 0);
    for (int i = 0; i < 8; i++)
        assert_true(d.reserved[i] == 0);
    return d;
}

static tem_model *random_model(tem_metric metric) {
    float values[WORDS * 2];
    for (int i = 0; i < WORDS * 2; i++)
        values[i] = 1 + (float)random_below(6); /* words at the same point, and equal distances */
    return small_model(NULL, values, WORDS, 2, metric, 3);
}

static void random_document(uint32_t *words, uint32_t count, bool unknown) {
    for (uint32_t i = 0; i < count; i++)
        words[i] = unknown && random_below(4) == 0 ? TEM_NO_WORD : (uint32_t)random_below(WORDS);
}

/* Documents of a and b words with a * k = b * l <= MOST: each word of the first counts k times. */
static void check_matchings(const tem_model *model, uint32_t a_count, uint32_t b_count,
                            tem_dist gamma) {
    uint32_t a[MOST], b[MOST], all_a[MOST], all_b[MOST], count = a_count;
    while (count % b_count != 0)
        count += a_count;
    random_document(a, a_count, gamma > 0);
    random_document(b, b_count, gamma > 0);
    for (uint32_t i = 0; i < count; i++) {
        all_a[i] = a[i % a_count];
        all_b[i] = b[i % b_count];
    }
    const tem_bag_distance d = measure(model, gamma, a, a_count, b, b_count);
    assert_true(d.a.words == a_count && d.b.words == b_count);
    assert_int_equal(d.denominator, count);
    assert_true(d.numerator_high == 0);
    assert_int_equal(d.numerator_low, least_sum(model, gamma, all_a, all_b, count));
}

static void test_all_matchings(void **state) {
    (void)state;
    static const tem_metric metrics[] = {TEM_EUCLIDEAN, TEM_ANGULAR, TEM_L1, TEM_LINF};
    static const uint32_t counts[][2] = {{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}, {6, 6},
                                         {7, 7}, {1, 2}, {2, 1}, {1, 7}, {2, 4}, {2, 6},
                                         {3, 6}, {6, 3}, {2, 3}, {3, 2}, {1, 5}};
    for (int again = 0; again < (SLOW ? 4 : 20); again++)
        for (size_t m = 0; m < sizeof metrics / sizeof *metrics; m++) {
            tem_model *model = random_model(metrics[m]);
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
                check_matchings(model, counts[c][0], counts[c][1], 0);
                check_matchings(model, counts[c][0], counts[c][1], 2 * TEM_DIST_ONE);
                check_matchings(model, counts[c][0], counts[c][1], 1);
            }
            tem_model_free(model);
        }
}

/* ---------------------------------------------------------- the axioms -- */

/* a/x <= b/y, exactly, for numerators below 2^64. */
static bool is_at_most(wide a, uint64_t x, wide b, uint64_t y) {
    return a * y <= b * x;
}

/* All triples of all bags of up to 3 words out of 4. */
static void test_axioms(void **state) {
    (void)state;
    enum { KINDS = 4, BAGS = 4 + 10 + 20 };
    static const float values[KINDS * 2] = {0, 0, 1, 0, 3, 1, 0, 2};
    tem_model *model = small_model(NULL, values, KINDS, 2, TEM_EUCLIDEAN, 2);
    uint32_t bags[BAGS][3], sizes[BAGS], count = 0;
    static tem_bag_distance d[BAGS][BAGS];
    for (uint32_t x = 0; x < KINDS; x++) {
        memcpy(bags[count], (uint32_t[3]){x, 0, 0}, sizeof bags[count]);
        sizes[count++] = 1;
        for (uint32_t y = x; y < KINDS; y++) {
            memcpy(bags[count], (uint32_t[3]){y, x, 0}, sizeof bags[count]);
            sizes[count++] = 2;
            for (uint32_t z = y; z < KINDS; z++) {
                memcpy(bags[count], (uint32_t[3]){z, x, y}, sizeof bags[count]);
                sizes[count++] = 3;
            }
        }
    }
    assert_int_equal(count, BAGS);
    for (uint32_t i = 0; i < BAGS; i++)
        for (uint32_t j = 0; j < BAGS; j++)
            d[i][j] = measure(model, 0, bags[i], sizes[i], bags[j], sizes[j]);
    for (uint32_t i = 0; i < BAGS; i++)
        for (uint32_t j = 0; j < BAGS; j++) {
            assert_true(d[i][j].numerator_low == d[j][i].numerator_low);
            /* 0 exactly for the same shares of words. */
            bool same = true;
            for (uint32_t w = 0; w < KINDS; w++) {
                uint32_t in_i = 0, in_j = 0;
                for (uint32_t k = 0; k < 3; k++) {
                    in_i += k < sizes[i] && bags[i][k] == w;
                    in_j += k < sizes[j] && bags[j][k] == w;
                }
                same &= in_i * sizes[j] == in_j * sizes[i];
            }
            assert_int_equal(d[i][j].numerator_low == 0, same);
            for (uint32_t k = 0; k < BAGS; k++) {
                const tem_bag_distance *ik = &d[i][k], *ij = &d[i][j], *jk = &d[j][k];
                const wide sum = (wide)ij->numerator_low * jk->denominator +
                                 (wide)jk->numerator_low * ij->denominator;
                assert_true(is_at_most(ik->numerator_low, ik->denominator, sum,
                                       ij->denominator * jk->denominator));
            }
        }
    tem_model_free(model);
}

/* ----------------------------------------------------------- documents -- */

/* The order of the words does not matter, and repeating a whole document does not either. */
static void test_order_and_length(void **state) {
    (void)state;
    tem_model *model = random_model(TEM_EUCLIDEAN);
    uint32_t a[60], b[40];
    random_document(a, 20, false);
    random_document(b, 40, false);
    memcpy(a + 20, a, 20 * sizeof *a);
    memcpy(a + 40, a, 20 * sizeof *a);
    const tem_bag_distance once = measure(model, 0, a, 20, b, 40);
    const tem_bag_distance thrice = measure(model, 0, a, 60, b, 40);
    assert_true(once.distance == thrice.distance && once.a.distinct == thrice.a.distinct);
    for (uint32_t i = 0; i < 20; i++) {
        const uint32_t other = (uint32_t)random_below(20), word = a[i];
        a[i] = a[other];
        a[other] = word;
    }
    assert_true(measure(model, 0, a, 20, b, 40).distance == once.distance);
    assert_true(measure(model, 0, a, 20, a, 20).distance == 0);
    assert_true(measure(model, 0, a, 20, a, 60).numerator_low ==
                measure(model, 0, a, 60, a, 20).numerator_low);
    tem_model_free(model);
}

static void test_unknown_words(void **state) {
    (void)state;
    const float values[] = {0, 1, 5};
    tem_model *model = small_model(NULL, values, 3, 1, TEM_EUCLIDEAN, 2);
    const uint32_t a[] = {0, TEM_NO_WORD, 0}, b[] = {1, 2, TEM_NO_WORD, TEM_NO_WORD};
    tem_bag_distance d = measure(model, 0, a, 3, b, 4);
    assert_true(d.a.words == 2 && d.a.unknown == 1 && d.a.distinct == 1);
    assert_true(d.b.words == 2 && d.b.unknown == 2 && d.b.distinct == 2);
    assert_true(!d.has_matching && d.distance == 3); /* 3 words and 4 words */
    d = measure(model, 0, a, 3, b, 3);
    assert_true(d.has_matching && d.matching == 6 * TEM_DIST_ONE && d.distance == 3);
    /* With gamma 2: a is 0 0 ? in 12ths, 4 each, b is 1 2 ? ?, 3 each. The 4 of ? stay ?; of the 8
     * others 3 move by 1, 3 by 2, and 2 become unknown, by 2. */
    d = measure(model, 2 * TEM_DIST_ONE, a, 3, b, 4);
    assert_true(d.a.words == 3 && d.a.unknown == 1 && d.a.distinct == 2);
    assert_true(d.denominator == 12 && d.numerator_low == (3 + 6 + 4) * TEM_DIST_ONE);
    tem_error error;
    tem_bag_distance untouched = {.distance = 7};
    assert_int_equal(tem_bag_measure(model, a + 1, 1, b, 4, NULL, NULL, &untouched, &error),
                     TEM_ERR_ARGUMENT);
    assert_true(untouched.distance == 7);
    tem_model_free(model);
}

static void test_stop(void **state) {
    (void)state;
    tem_model *model = random_model(TEM_L1);
    const uint32_t a[] = {0, 1, 2}, b[] = {3, 4, 5};
    const char *stages[] = {"distances", "matching"};
    for (int i = 0; i < 2; i++) {
        const tem_run run = {
            .threads = 1, .progress = stop, .progress_context = (void *)(uintptr_t)stages[i]};
        tem_bag_distance untouched = {.distance = 7};
        assert_int_equal(tem_bag_measure(model, a, 3, b, 3, NULL, &run, &untouched, NULL),
                         TEM_ERR_CANCELLED);
        assert_true(untouched.distance == 7);
    }
    tem_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transport_is_proved),
        cmocka_unit_test(test_false_proofs),
        cmocka_unit_test(test_all_matchings),
        cmocka_unit_test(test_axioms),
        cmocka_unit_test(test_order_and_length),
        cmocka_unit_test(test_unknown_words),
        cmocka_unit_test(test_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
