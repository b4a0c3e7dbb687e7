/* test_poincare.c - graphs, and points in the Poincaré ball that are trained from them.
 *
 * Oracles: the distance by MPFR's acosh, gradients by differences of a loss in long double,
 * closures and cycles by the matrix of all paths, ranks by counting all pairs. */
#include "core/hash.h"
#include "train/poincare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pseudo.h"
#include "tally.h"

#include <locale.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DIMENSIONS_MOST = 12 };

static char path[64]; /* of edges */
static char vectors_path[64];

static int make_paths(void **state) {
    (void)state;
    snprintf(path, sizeof path, "/tmp/tem-test-poincare-%ld.tsv", (long)getpid());
    snprintf(vectors_path, sizeof vectors_path, "/tmp/tem-test-poincare-%ld.vec", (long)getpid());
    return 0;
}

static int remove_files(void **state) {
    (void)state;
    unlink(path);
    unlink(vectors_path);
    return 0;
}

static double random_unit(void) {
    return (double)(random64() >> 11) * 0x1p-53;
}

/* A random point of this length. */
static void random_point(double *x, uint32_t dimensions, double length) {
    double square = 0;
    for (uint32_t i = 0; i < dimensions; i++) {
        x[i] = 2 * random_unit() - 1;
        square += x[i] * x[i];
    }
    for (uint32_t i = 0; i < dimensions; i++)
        x[i] *= length / sqrt(square);
}

/* Lengths from the center to the border, all different. */
static double random_length(void) {
    static const double lengths[] = {0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999};
    const double length = lengths[random_below(sizeof lengths / sizeof *lengths)];
    return length - (1 - length) * random_unit() / 2 * length;
}

/* -------------------------------------------------------------- distance -- */

/* acosh(1 + 2 |u - v|^2 / ((1 - |u|^2)(1 - |v|^2))) to 300 bits. */
static double exact_distance(const double *u, const double *v, uint32_t dimensions) {
    enum { BITS = 300, NUMBERS = 4 };
    mpfr_t n[NUMBERS]; /* |u - v|^2, 1 - |u|^2, 1 - |v|^2, scratch */
    for (int i = 0; i < NUMBERS; i++) {
        mpfr_init2(n[i], BITS);
        mpfr_set_d(n[i], i == 1 || i == 2, MPFR_RNDN);
    }
    for (uint32_t i = 0; i < dimensions; i++) {
        mpfr_set_d(n[3], u[i], MPFR_RNDN);
        mpfr_sub_d(n[3], n[3], v[i], MPFR_RNDN);
        mpfr_sqr(n[3], n[3], MPFR_RNDN);
        mpfr_add(n[0], n[0], n[3], MPFR_RNDN);
        for (int k = 1; k <= 2; k++) {
            mpfr_set_d(n[3], k == 1 ? u[i] : v[i], MPFR_RNDN);
            mpfr_sqr(n[3], n[3], MPFR_RNDN);
            mpfr_sub(n[k], n[k], n[3], MPFR_RNDN);
        }
    }
    mpfr_mul_ui(n[0], n[0], 2, MPFR_RNDN);
    mpfr_div(n[0], n[0], n[1], MPFR_RNDN);
    mpfr_div(n[0], n[0], n[2], MPFR_RNDN);
    mpfr_add_ui(n[0], n[0], 1, MPFR_RNDN);
    mpfr_acosh(n[0], n[0], MPFR_RNDN);
    const double distance = mpfr_get_d(n[0], MPFR_RNDN);
    for (int i = 0; i < NUMBERS; i++)
        mpfr_clear(n[i]);
    return distance;
}

static poincare_pair compare(const double *u, const double *v, uint32_t dimensions) {
    return poincare_compare(u, 1 / poincare_room(u, dimensions), v, poincare_room(v, dimensions),
                            dimensions);
}

/* 1 - |x|^2 is off by a rounding of 1; so the relative error of the distance is a few roundings
 * over the smaller room. */
static void check_distance(const double *u, const double *v, uint32_t dimensions) {
    const poincare_pair p = compare(u, v, dimensions);
    const double truth = exact_distance(u, v, dimensions), found = poincare_distance(&p);
    const double room = fmin(poincare_room(u, dimensions), poincare_room(v, dimensions));
    const double allowed = truth * (dimensions + 8) * 0x1p-52 / room;
    if (!(fabs(found - truth) <= allowed))
        fail_msg("distance %.17g, not %.17g", found, truth);
    if (!(fabs(p.nearness - exp(-truth)) <= exp(-truth) * (allowed + 1e-15)))
        fail_msg("exp(-d) is %.17g, not %.17g", p.nearness, exp(-truth));
}

static void test_distance(void **state) {
    (void)state;
    for (int repeat = 0; repeat < 3000; repeat++) {
        double u[DIMENSIONS_MOST], v[DIMENSIONS_MOST];
        const uint32_t dimensions = 1 + (uint32_t)random_below(DIMENSIONS_MOST);
        random_point(u, dimensions, random_length());
        random_point(v, dimensions, random_length());
        check_distance(u, v, dimensions);
        for (uint32_t i = 0; i < dimensions; i++) /* near u */
            v[i] = u[i] * (1 - 1e-9 * random_unit());
        check_distance(u, v, dimensions);
    }
    const double u[] = {0.25, -0.5};
    const poincare_pair same = compare(u, u, 2);
    assert_true(poincare_distance(&same) == 0 && same.nearness == 1);
}

/* -------------------------------------------------------------- gradient -- */

static long double slow_distance(const long double *u, const long double *v, uint32_t dimensions) {
    long double square = 0, a = 1, b = 1;
    for (uint32_t i = 0; i < dimensions; i++) {
        square += (u[i] - v[i]) * (u[i] - v[i]);
        a -= u[i] * u[i];
        b -= v[i] * v[i];
    }
    return acoshl(1 + 2 * square / (a * b));
}

/* The loss of tem_train.h, word for word. */
static long double slow_loss(const long double *points, uint32_t dimensions, uint32_t count) {
    const long double *u = points;
    long double total = 0;
    for (uint32_t i = 1; i < count; i++)
        total += expl(-slow_distance(u, points + (size_t)i * dimensions, dimensions));
    return -logl(expl(-slow_distance(u, points + dimensions, dimensions)) / total);
}

/* How far a point can move before the loss bends: its room, and how far the other points are. */
static long double scale_of(const long double *points, uint32_t dimensions, uint32_t count,
                            uint32_t word) {
    const long double *x = points + (size_t)word * dimensions;
    long double scale = 1;
    for (uint32_t i = 0; i < dimensions; i++)
        scale -= x[i] * x[i];
    for (uint32_t other = 0; other < count; other++) {
        long double square = 0;
        for (uint32_t i = 0; i < dimensions; i++) {
            const long double difference = x[i] - points[(size_t)other * dimensions + i];
            square += difference * difference;
        }
        if (other != word)
            scale = fminl(scale, sqrtl(square));
    }
    return scale;
}

/* Compares the gradient of one point with differences of the loss: to 1e-6 of its length, and the
 * rounding of the loss. */
static void check_gradient(long double *points, uint32_t dimensions, uint32_t count, uint32_t word,
                           const double *gradient) {
    const long double step = 1e-5L * scale_of(points, dimensions, count, word);
    long double wrong = 0, length = 0;
    for (uint32_t i = 0; i < dimensions; i++) {
        const size_t at = (size_t)word * dimensions + i;
        const long double before = points[at];
        points[at] = before + step;
        const long double above = slow_loss(points, dimensions, count);
        points[at] = before - step;
        const long double below = slow_loss(points, dimensions, count);
        points[at] = before;
        const long double slope = (above - below) / (2 * step);
        wrong += (slope - gradient[i]) * (slope - gradient[i]);
        length += slope * slope;
    }
    if (!(sqrtl(wrong) <= 1e-6L * sqrtl(length) + 1e-16L / step))
        fail_msg("gradient of word %u is off by %.3Lg of %.3Lg", word, sqrtl(wrong), sqrtl(length));
}

static void check_random_gradients(uint32_t dimensions, uint32_t count) {
    enum { WORDS_MOST = 8 };
    double numbers[WORDS_MOST * DIMENSIONS_MOST], gradients[WORDS_MOST * DIMENSIONS_MOST];
    double rooms[WORDS_MOST];
    long double points[WORDS_MOST * DIMENSIONS_MOST];
    uint32_t words[WORDS_MOST];
    poincare_pair pairs[WORDS_MOST];
    for (uint32_t i = 0; i < count; i++) {
        words[i] = count - 1 - i;
        random_point(numbers + (size_t)words[i] * dimensions, dimensions, random_length());
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < dimensions; k++)
            points[i * dimensions + k] = numbers[words[i] * dimensions + k];
    const double loss = poincare_loss(numbers, dimensions, words, count, pairs, gradients, rooms);
    const long double truth = slow_loss(points, dimensions, count);
    if (!(fabsl(loss - truth) <= 1e-9L * (1 + truth)))
        fail_msg("loss %.17g, not %.17Lg", loss, truth);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(rooms[i] == poincare_room(numbers + (size_t)words[i] * dimensions, dimensions));
        check_gradient(points, dimensions, count, i, gradients + (size_t)i * dimensions);
    }
}

static void test_gradient(void **state) {
    (void)state;
    for (int repeat = 0; repeat < 1000; repeat++)
        check_random_gradients(1 + (uint32_t)random_below(DIMENSIONS_MOST),
                               3 + (uint32_t)random_below(6));
}

/* Words at the same point have no gradient from each other, and break nothing. */
static void test_gradient_at_one_point(void **state) {
    (void)state;
    const double numbers[] = {0.5, 0.25, 0.5, 0.25, -0.5, 0.125};
    const uint32_t words[] = {0, 1, 2, 2};
    double gradients[8], rooms[4];
    poincare_pair pairs[4];
    const double loss = poincare_loss(numbers, 2, words, 4, pairs, gradients, rooms);
    assert_true(isfinite(loss) && loss > 0);
    assert_true(gradients[2] == 0 && gradients[3] == 0);
    assert_true(gradients[4] != 0 && gradients[4] == gradients[6] && gradients[5] == gradients[7]);
    assert_true(isfinite(gradients[0]) && isfinite(gradients[1]));
}

/* ------------------------------------------------------------------ steps -- */

static void test_step(void **state) {
    (void)state;
    for (int repeat = 0; repeat < 1000; repeat++) {
        double x[DIMENSIONS_MOST], before[DIMENSIONS_MOST], gradient[DIMENSIONS_MOST];
        const uint32_t dimensions = 1 + (uint32_t)random_below(DIMENSIONS_MOST);
        random_point(x, dimensions, random_length());
        random_point(gradient, dimensions, pow(10, 12 * random_unit() - 4));
        memcpy(before, x, sizeof x);
        const double room = poincare_room(x, dimensions), rate = random_unit();
        poincare_step(x, dimensions, rate, room, gradient);
        double wanted[DIMENSIONS_MOST], square = 0;
        for (uint32_t i = 0; i < dimensions; i++) {
            wanted[i] = before[i] - rate * (room * room / 4) * gradient[i];
            square += wanted[i] * wanted[i];
        }
        const double longest = 1 - TEM_POINCARE_MARGIN;
        const double factor = sqrt(square) > longest ? longest / sqrt(square) : 1;
        for (uint32_t i = 0; i < dimensions; i++)
            assert_true(fabs(x[i] - factor * wanted[i]) <= 1e-13 * (1 + sqrt(square) * factor));
        assert_true(poincare_room(x, dimensions) >= 1 - longest * longest - 1e-14);
    }
}

/* ----------------------------------------------------------------- graphs -- */

static void write_file(const char *name, const char *content, size_t bytes) {
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

static tem_graph *load(const char *edges, int closure) {
    const tem_graph_options options = {.closure = closure};
    tem_graph *graph = NULL;
    tem_error error;
    write_file(path, edges, strlen(edges));
    if (tem_graph_load(path, &options, NULL, &graph, &error) != TEM_OK)
        fail_msg("line %llu: %s", (unsigned long long)error.line, error.message);
    return graph;
}

enum { NODES_MOST = 24 };

/* A random graph as a matrix, written to the file. Returns its number of edges. */
static uint32_t random_graph(bool edge[NODES_MOST][NODES_MOST], uint32_t nodes, uint32_t wanted,
                             bool acyclic) {
    uint32_t edges = 0;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    memset(edge, 0, sizeof(bool) * NODES_MOST * NODES_MOST);
    for (uint32_t i = 0; i < wanted; i++) {
        const size_t a = random_below(nodes), b = random_below(nodes);
        if (edge[a][b] || (acyclic ? a >= b : a == b))
            continue;
        edge[a][b] = true;
        edges++;
        fprintf(file, "w%zu\tw%zu\n", a, b);
    }
    assert_int_equal(fclose(file), 0);
    return edges;
}

/* Adds all paths. Returns whether one leads back to its beginning. */
static bool close_matrix(bool edge[NODES_MOST][NODES_MOST]) {
    bool has_cycle = false;
    for (int k = 0; k < NODES_MOST; k++)
        for (int a = 0; a < NODES_MOST; a++)
            for (int b = 0; b < NODES_MOST; b++)
                edge[a][b] |= edge[a][k] && edge[k][b];
    for (int a = 0; a < NODES_MOST; a++)
        has_cycle |= edge[a][a];
    return has_cycle;
}

static size_t number_of(const tem_graph *g, uint32_t id) {
    size_t length = 0;
    const char *word = tem_graph_word(g, id, &length);
    char text[8] = "";
    assert_true(word != NULL && length < sizeof text && word[0] == 'w');
    memcpy(text, word, length);
    return (size_t)atoi(text + 1);
}

static void check_graph(const tem_graph *g, bool edge[NODES_MOST][NODES_MOST]) {
    tem_graph_info info;
    uint64_t edges = 0;
    uint32_t most = 0;
    tem_graph_get_info(g, &info);
    for (uint32_t u = 0; u < info.words; u++) {
        uint32_t count = 0, wanted = 0;
        const uint32_t *parents = tem_graph_parents(g, u, &count);
        for (uint32_t i = 0; i < count; i++) {
            assert_true(i == 0 || parents[i - 1] < parents[i]);
            assert_true(parents[i] != u && edge[number_of(g, u)][number_of(g, parents[i])]);
        }
        for (uint32_t v = 0; v < info.words; v++)
            wanted += v != u && edge[number_of(g, u)][number_of(g, v)];
        assert_int_equal(count, wanted);
        edges += count;
        most = count > most ? count : most;
    }
    assert_int_equal(info.edges, edges);
    assert_int_equal(info.most_parents, most);
}

static void check_random_graph(uint32_t nodes, uint32_t wanted, bool acyclic) {
    bool edge[NODES_MOST][NODES_MOST];
    const uint32_t edges = random_graph(edge, nodes, wanted, acyclic);
    const tem_graph_options closed = {.closure = 1};
    tem_graph *plain = NULL, *closure = NULL;
    tem_graph_info info;
    if (edges == 0)
        return;
    assert_int_equal(tem_graph_load(path, NULL, NULL, &plain, NULL), TEM_OK);
    assert_int_equal(tem_graph_load(path, &closed, NULL, &closure, NULL), TEM_OK);
    check_graph(plain, edge);
    const bool has_cycle = close_matrix(edge);
    assert_true(!acyclic || !has_cycle);
    check_graph(closure, edge);
    tem_graph_get_info(plain, &info);
    assert_true(info.has_cycle == has_cycle && info.edges_read == edges && info.edges == edges);
    tem_graph_get_info(closure, &info);
    assert_true(info.has_cycle == has_cycle && info.edges_read == edges);
    tem_graph_free(plain);
    tem_graph_free(closure);
}

static void test_graphs(void **state) {
    (void)state;
    for (uint32_t repeat = 0; repeat < 600; repeat++)
        check_random_graph(2 + (uint32_t)random_below(NODES_MOST - 1),
                           1 + (uint32_t)random_below(40), repeat % 2 == 0);
}

static void test_graph_text(void **state) {
    (void)state;
    tem_graph *g = load("# dogs\n\ndog\tcanine\r\ncanine\tanimal\n", 1);
    size_t length = 0;
    uint32_t count = 0;
    assert_memory_equal(tem_graph_word(g, 1, &length), "canine", 6);
    assert_int_equal(length, 6);
    assert_int_equal(tem_graph_parents(g, 0, &count)[1], 2);
    assert_int_equal(count, 2);
    assert_null(tem_graph_word(g, 3, NULL));
    assert_null(tem_graph_parents(g, 3, &count));
    tem_graph_free(g);
}

/* Every line that is refused is the second. */
static void test_graph_refusals(void **state) {
    (void)state;
    static const char *const refused[] = {
        "a\tb\nc\n",       "a\tb\nc\t\n",    "a\tb\n\tc\n",    "a\tb\nc\td\te\n",
        "a\tb\nc d\n",     "a\tb\nc\td e\n", "a\tb\nc\tc\n",   "a\tb\na\tb\nc\td\nc\td\n",
        "a\tb\n\xff\tc\n", "a\tb\nc\t\rd\n", "b\tc\na\td\vd\n"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        tem_graph *graph = NULL;
        tem_error error;
        write_file(path, refused[i], strlen(refused[i]));
        assert_int_equal(tem_graph_load(path, NULL, NULL, &graph, &error), TEM_ERR_FORMAT);
        assert_int_equal(error.line, 2);
        assert_null(graph);
    }
    static const char *const empty[] = {"", "\n", "# a\tb\n"};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        tem_graph *graph = NULL;
        tem_error error;
        write_file(path, empty[i], strlen(empty[i]));
        assert_int_equal(tem_graph_load(path, NULL, NULL, &graph, &error), TEM_ERR_FORMAT);
        assert_true(error.line == 0 && graph == NULL);
    }
    write_file(path, "a\tb\nc\t\0d\n", 9);
    tem_graph *graph = NULL;
    assert_int_equal(tem_graph_load(path, NULL, NULL, &graph, NULL), TEM_ERR_FORMAT);
    assert_int_equal(tem_graph_load("/nonexistent", NULL, NULL, &graph, NULL), TEM_ERR_FILE);
}

static void test_strangers(void **state) {
    (void)state;
    for (int repeat = 0; repeat < 200; repeat++) {
        bool edge[NODES_MOST][NODES_MOST];
        tem_graph *g = NULL;
        tem_graph_info info;
        if (random_graph(edge, 2 + (uint32_t)random_below(NODES_MOST - 1), 60, false) == 0)
            continue;
        assert_int_equal(tem_graph_load(path, NULL, NULL, &g, NULL), TEM_OK);
        tem_graph_get_info(g, &info);
        for (uint32_t u = 0; u < info.words; u++) {
            const strangers s = strangers_of(g, u);
            uint32_t r = 0;
            for (uint32_t v = 0; v < info.words; v++)
                if (v != u && !edge[number_of(g, u)][number_of(g, v)])
                    assert_int_equal(strangers_pick(&s, r++), v);
            assert_int_equal(s.count, r);
        }
        tem_graph_free(g);
    }
}

/* --------------------------------------------------------- reconstruction -- */

/* Ranks and precision by their definitions, from the keys of all pairs. Words at one point are
 * equally near, and so are those that a mirror exchanges; all other distances differ by more than
 * the rounding of either side. */
static tem_reconstruction slow_reconstruction(const tem_graph *g, const double *numbers,
                                              uint32_t dimensions) {
    tem_reconstruction r = {0};
    const uint32_t words = g->words.count;
    for (uint32_t u = 0; u < words; u++) {
        long double d[200], precision = 0;
        bool is_parent[200] = {false};
        uint32_t count = 0;
        const uint32_t *parents = tem_graph_parents(g, u, &count);
        for (uint32_t v = 0; v < words; v++) {
            long double a[DIMENSIONS_MOST], b[DIMENSIONS_MOST];
            for (uint32_t i = 0; i < dimensions; i++) {
                a[i] = numbers[u * dimensions + i];
                b[i] = numbers[v * dimensions + i];
            }
            d[v] = slow_distance(a, b, dimensions);
        }
        for (uint32_t i = 0; i < count; i++)
            is_parent[parents[i]] = true;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t near = 0, near_parents = 0;
            for (uint32_t v = 0; v < words; v++)
                if (v != u && d[v] <= d[parents[i]] + 1e-9L) {
                    near++;
                    near_parents += is_parent[v];
                }
            r.mean_rank += near - near_parents + 1;
            precision += (long double)near_parents / near;
        }
        r.edges += count;
        r.words += count > 0;
        r.map += count > 0 ? (double)(precision / count) : 0;
    }
    r.mean_rank /= (double)r.edges;
    r.map /= (double)r.words;
    return r;
}

static void check_reconstruction(const tem_graph *g, uint32_t dimensions, uint32_t places) {
    tem_poincare *p = NULL;
    assert_int_equal(poincare_create(g->words.count, dimensions, &p, NULL), TEM_OK);
    for (uint32_t w = 0; w < g->words.count; w++) {
        double *x = p->numbers + (size_t)w * dimensions;
        random_point(x, dimensions, 0.9 * random_unit());
        if (w >= places) /* a place that is taken */
            memcpy(x, p->numbers + random_below(places) * dimensions, dimensions * sizeof *x);
    }
    const tem_reconstruction truth = slow_reconstruction(g, p->numbers, dimensions);
    for (unsigned threads = 1; threads <= 3; threads++) {
        const tem_run run = {.threads = threads};
        tem_reconstruction found;
        memset(&found, 0x55, sizeof found);
        assert_int_equal(tem_poincare_reconstruct(p, g, &run, &found, NULL), TEM_OK);
        assert_int_equal(found.words, truth.words);
        assert_int_equal(found.edges, truth.edges);
        assert_true(found.mean_rank == truth.mean_rank);
        assert_true(fabs(found.map - truth.map) <= 1e-14);
        for (int i = 0; i < 4; i++)
            assert_true(found.reserved[i] == 0);
    }
    tem_poincare_free(p);
}

static void test_reconstruction(void **state) {
    (void)state;
    for (int repeat = 0; repeat < 100; repeat++) {
        bool edge[NODES_MOST][NODES_MOST];
        tem_graph *g = NULL;
        if (random_graph(edge, NODES_MOST, 60, repeat % 2 == 0) == 0)
            continue;
        assert_int_equal(tem_graph_load(path, NULL, NULL, &g, NULL), TEM_OK);
        check_reconstruction(g, 1 + (uint32_t)random_below(DIMENSIONS_MOST), g->words.count);
        check_reconstruction(g, 2, 1 + (uint32_t)random_below(g->words.count));
        check_reconstruction(g, 3, 1); /* all at one point */
        tem_graph_free(g);
    }
}

/* On a line: a at 0, b at 0.101, c at 0.2, d at 0.4. The parents of a are c and d, and b comes
 * before both: the ranks are 2 and 2, the precisions 1/2 and 2/3. The parent of b is a. By
 * Euclidean distance c is nearer to b, but in the ball a is, by the closed form
 * 2 atanh(|x - y| / (1 - x y)): its rank is 1. */
static void test_known_reconstruction(void **state) {
    (void)state;
    tem_graph *g = load("a\tc\na\td\nb\ta\n", 0); /* ids: a 0, c 1, d 2, b 3 */
    tem_poincare *p = NULL;
    tem_reconstruction found;
    assert_int_equal(poincare_create(4, 1, &p, NULL), TEM_OK);
    const double places[] = {0, 0.2, 0.4, 0.101};
    memcpy(p->numbers, places, sizeof places);
    assert_int_equal(tem_poincare_reconstruct(p, g, NULL, &found, NULL), TEM_OK);
    assert_true(2 * atanh(0.101) < 2 * atanh(0.099 / (1 - 0.101 * 0.2)));
    assert_true(fabs(found.mean_rank - 5.0 / 3) < 1e-15);
    assert_true(fabs(found.map - ((1.0 / 2 + 2.0 / 3) / 2 + 1) / 2) < 1e-15);
    tem_poincare_free(p);
    tem_graph_free(g);
}

/* More words than are compared at once. */
static void test_large_reconstruction(void **state) {
    (void)state;
    enum { WORDS = 199 };
    FILE *file = fopen(path, "w");
    tem_graph *g = NULL;
    const tem_graph_options options = {.closure = 1};
    assert_non_null(file);
    for (int w = 1; w < WORDS; w++)
        fprintf(file, "w%d\tw%d\n", w, w / 3);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(tem_graph_load(path, &options, NULL, &g, NULL), TEM_OK);
    check_reconstruction(g, 5, WORDS);
    tem_graph_free(g);
}

/* --------------------------------------------------------------- training -- */

/* The closure of a tree: node k has the parent (k - 1) / branches. */
static tem_graph *make_tree(int nodes, int branches) {
    const tem_graph_options options = {.closure = 1};
    tem_graph *g = NULL;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int k = 1; k < nodes; k++)
        fprintf(file, "w%d\tw%d\n", k, (k - 1) / branches);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(tem_graph_load(path, &options, NULL, &g, NULL), TEM_OK);
    return g;
}

/* Draws negatives of the burn-in for each word, and compares them with what is expected: strangers
 * as often as they are parents or, where none is, all of them equally often. */
static void check_parents_drawn(const tem_graph *g) {
    double row[NODES_MOST];
    for (uint32_t u = 0; u < g->words.count; u++) {
        const strangers s = strangers_of(g, u);
        uint64_t counts[NODES_MOST] = {0}, sum = 0;
        if (s.count == 0)
            continue;
        memset(row, 0, sizeof row);
        for (uint64_t i = 0; i < g->info.edges; i++)
            row[g->parents[i]]++;
        row[u] = 0;
        for (uint32_t i = 0; i < s.parent_count; i++)
            row[s.parents[i]] = 0;
        for (uint32_t v = 0; v < g->words.count; v++)
            sum += (uint64_t)row[v];
        for (uint32_t r = 0; r < s.count && sum == 0; r++)
            row[strangers_pick(&s, r)] = 1;
        for (uint32_t v = 0; v < g->words.count; v++)
            row[v] /= (double)(sum == 0 ? s.count : sum);
        tem_rng rng;
        rng_init_seeded(&rng, 3, u);
        for (int i = 0; i < TALLY_DRAWS; i++)
            counts[strangers_draw_parent(&s, g, u, &rng)]++;
        tally_check(&(tally){.words = g->words.count, .row = row, .counts = counts});
    }
}

/* Chi-square, TALLY_DRAWS draws for each of 30 words; a false alarm has the probability 3e-7. */
static void test_negatives_of_burn_in(void **state) {
    (void)state;
    tem_graph *g = make_tree(NODES_MOST, 3), *star = make_tree(6, 5);
    check_parents_drawn(g);
    check_parents_drawn(star);
    tem_graph_free(star);
    tem_graph_free(g);
}

static tem_poincare *train(const tem_graph *g, tem_poincare_options options, unsigned threads) {
    const tem_run run = {.threads = threads};
    tem_poincare *p = NULL;
    assert_int_equal(tem_poincare_train(g, &options, &run, &p, NULL, NULL), TEM_OK);
    return p;
}

static void note_loss(void *context, uint32_t epoch, double loss) {
    double *losses = context;
    losses[epoch - 1] = loss;
}

/* 364 words in 5 dimensions. The loss falls, the root is nearest to the center, and the points keep
 * the hierarchy. The shipped code gets a mean rank of 1.02 and a MAP of 0.994. */
static void test_training(void **state) {
    (void)state;
    enum { EPOCHS = 100 };
    double losses[EPOCHS], loss = 0;
    tem_graph *g = make_tree(364, 3);
    tem_poincare *p = NULL;
    tem_reconstruction found;
    const tem_poincare_options options = {.dimensions = 5,
                                          .epochs = EPOCHS,
                                          .negatives = 20,
                                          .seed = 1,
                                          .epoch = note_loss,
                                          .epoch_context = losses};
    assert_int_equal(tem_poincare_train(g, &options, NULL, &p, &loss, NULL), TEM_OK);
    assert_int_equal(tem_poincare_reconstruct(p, g, NULL, &found, NULL), TEM_OK);
    print_message("# mean rank %.4f, MAP %.4f, loss %.4f to %.4f\n", found.mean_rank, found.map,
                  losses[0], loss);
    assert_true(losses[EPOCHS - 1] == loss && loss < losses[0] / 4);
    assert_true(found.mean_rank < 1.5 && found.map > 0.94);
    uint32_t root = 0;
    while (number_of(g, root) != 0)
        root++;
    const double room = poincare_room(tem_poincare_point(p, root), 5);
    for (uint32_t w = 0; w < g->words.count; w++) {
        const double own = poincare_room(tem_poincare_point(p, w), 5);
        assert_true(own <= room && own >= 1.9e-5);
    }
    tem_poincare_free(p);
    tem_graph_free(g);
}

/* The first steps, at a rate so high that points reach the border. */
static void test_training_stays_inside(void **state) {
    (void)state;
    tem_graph *g = make_tree(40, 3);
    tem_poincare *p =
        train(g, (tem_poincare_options){.dimensions = 2, .epochs = 20, .rate = 100}, 0);
    for (uint32_t w = 0; w < g->words.count; w++)
        assert_true(poincare_room(tem_poincare_point(p, w), 2) >= 1.99e-5);
    tem_poincare_free(p);
    tem_graph_free(g);
}

static bool same_points(const tem_poincare *a, const tem_poincare *b) {
    const size_t bytes = (size_t)a->words * a->dimensions * sizeof *a->numbers;
    return a->words == b->words && a->dimensions == b->dimensions &&
           memcmp(a->numbers, b->numbers, bytes) == 0;
}

/* A seed gives the same points on any number of threads, with every compiler and machine. */
static void test_seeds(void **state) {
    (void)state;
    tem_graph *g = make_tree(40, 3);
    const tem_poincare_options options = {.dimensions = 3, .epochs = 10, .seed = 7};
    tem_poincare_options other = options;
    other.seed = 8;
    tem_poincare *first = train(g, options, 1), *again = train(g, options, 4),
                 *unlike = train(g, other, 1);
    assert_true(same_points(first, again));
    assert_false(same_points(first, unlike));
    assert_int_equal(core_hash64(first->numbers, 40 * 3 * sizeof(double)), 0x60ba9a092566693b);
    tem_poincare_free(unlike);
    tem_poincare_free(again);
    tem_poincare_free(first);
    tem_graph_free(g);
}

static int stop_later(void *context, const char *stage, uint64_t done, uint64_t total) {
    int *left = context;
    assert_true(stage != NULL && (total == 0 || done <= total));
    return (*left)-- <= 0;
}

/* Runs everything that asks the callback, and stops at its nth question, for all n. */
static tem_status run_all(const tem_run *run) {
    const tem_graph_options closed = {.closure = 1};
    const tem_poincare_options options = {.epochs = 3, .dimensions = 2};
    tem_graph *g = NULL;
    tem_poincare *p = NULL, *q = NULL;
    tem_reconstruction found = {.map = -1};
    double loss = -1;
    tem_status status = tem_graph_load(path, &closed, run, &g, NULL);
    assert_true((g != NULL) == (status == TEM_OK));
    if (status == TEM_OK) {
        status = tem_poincare_train(g, &options, run, &p, &loss, NULL);
        assert_true((p != NULL) == (status == TEM_OK) && (loss > 0) == (status == TEM_OK));
    }
    if (status == TEM_OK)
        status = tem_poincare_save(p, g, vectors_path, TEM_OVERWRITE, run, NULL);
    if (status == TEM_OK) {
        status = tem_poincare_load(vectors_path, g, run, &q, NULL);
        assert_true((q != NULL) == (status == TEM_OK));
    }
    if (status == TEM_OK) {
        status = tem_poincare_reconstruct(q, g, run, &found, NULL);
        assert_true((found.map > 0) == (status == TEM_OK));
    }
    tem_poincare_free(q);
    tem_poincare_free(p);
    tem_graph_free(g);
    return status;
}

static void test_stopping(void **state) {
    (void)state;
    int stops = 0;
    tem_graph_free(make_tree(40, 3));
    for (tem_status status = TEM_ERR_CANCELLED; status != TEM_OK; stops++) {
        int left = stops;
        const tem_run run = {.threads = 1, .progress = stop_later, .progress_context = &left};
        status = run_all(&run);
        assert_true(status == TEM_OK || status == TEM_ERR_CANCELLED);
    }
    assert_true(stops > 10);
}

static void test_training_refusals(void **state) {
    (void)state;
    static const tem_poincare_options refused[] = {
        {.dimensions = TEM_POINCARE_DIMENSIONS_MAX + 1},
        {.epochs = TEM_POINCARE_EPOCHS_MAX + 1},
        {.negatives = TEM_POINCARE_NEGATIVES_MAX + 1},
        {.epochs = 5, .burn_in = 5},
        {.burn_in = 200},
        {.rate = -1},
        {.rate = NAN},
        {.rate = INFINITY},
        {.rate = 1001},
        {.reserved = {1}},
    };
    tem_graph *g = make_tree(10, 3);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        tem_poincare *p = NULL;
        double loss = 7;
        assert_int_equal(tem_poincare_train(g, &refused[i], NULL, &p, &loss, NULL),
                         TEM_ERR_ARGUMENT);
        assert_true(p == NULL && loss == 7);
    }
    tem_graph_free(g);
    tem_poincare *p = NULL;
    g = load("a\tb\n", 0); /* no third word */
    assert_int_equal(tem_poincare_train(g, NULL, NULL, &p, NULL, NULL), TEM_ERR_RANGE);
    tem_graph_free(g);
    g = load("a\tb\na\tc\nb\tc\n", 0); /* only b has a stranger */
    p = train(g, (tem_poincare_options){.epochs = 2}, 1);
    assert_int_equal(tem_poincare_dimensions(p), 10);
    tem_poincare_free(p);
    tem_graph_free(g);
}

/* ------------------------------------------------------------------ files -- */

static void test_files(void **state) {
    (void)state;
    tem_graph *g = make_tree(40, 3), *small = load("w1\tw0\nw3\tw0\n", 0);
    tem_poincare *p = train(g, (tem_poincare_options){.dimensions = 3, .epochs = 5}, 1), *q = NULL;
    tem_vectors *vectors = NULL;
    p->numbers[5] = 5e-324; /* the least double */
    p->numbers[7] = -0.0;
    setlocale(LC_NUMERIC, "de_DE.UTF-8"); /* a decimal comma, where it is installed */
    assert_int_equal(tem_poincare_save(p, g, vectors_path, TEM_OVERWRITE, NULL, NULL), TEM_OK);
    assert_int_equal(tem_poincare_save(p, g, vectors_path, TEM_KEEP_EXISTING, NULL, NULL),
                     TEM_ERR_EXISTS);
    assert_int_equal(tem_poincare_load(vectors_path, g, NULL, &q, NULL), TEM_OK);
    setlocale(LC_NUMERIC, "C");
    assert_true(same_points(p, q));
    tem_poincare_free(q);
    assert_int_equal(tem_vectors_load(vectors_path, 0, NULL, &vectors, NULL), TEM_OK);
    assert_true(tem_vectors_count(vectors) == 40 && tem_vectors_dimension(vectors) == 3);
    tem_vectors_free(vectors);
    assert_int_equal(tem_poincare_load(vectors_path, small, NULL, &q, NULL), TEM_OK);
    assert_int_equal(q->words, 3);
    tem_reconstruction found;
    assert_int_equal(tem_poincare_reconstruct(q, g, NULL, &found, NULL), TEM_ERR_ARGUMENT);
    assert_int_equal(tem_poincare_save(q, g, vectors_path, TEM_OVERWRITE, NULL, NULL),
                     TEM_ERR_ARGUMENT);
    tem_poincare_free(q);
    tem_poincare_free(p);
    tem_graph_free(small);
    tem_graph_free(g);
}

static void test_file_refusals(void **state) {
    (void)state;
    static const struct {
        const char *content;
        uint64_t line;
    } refused[] = {
        {"", 0},
        {"a 0.5 0.5\nb 0.1 0.2\n", 1},
        {"2\na 0 0\nb 0 0\n", 1},
        {"2 0\na\nb\n", 1},
        {"2 1025\n", 1},
        {"99999999999 2\n", 1},
        {"2 2 2\na 0 0\nb 0 0\n", 1},
        {"2 2\na 0\nb 0 0\n", 2},
        {"2 2\na 0 0\nb 0 0 0\n", 3},
        {"2 2\na 0 0\nb 0 x\n", 3},
        {"2 2\na 0 0\nb 0 nan\n", 3},
        {"2 2\na 0 0\nb 0 1\n", 3},
        {"2 2\na 0 0\nb 0.8 0.7\n", 3},
        {"2 2\na 0 0\na 0 0\n", 3},
        {"2 2\na 0 0\nb 0 0\nc 0 0\n", 4},
        {"3 2\na 0 0\nb 0 0\n", 3},
        {"2 2\na 0 0\nc 0 0\n", 0},
    };
    tem_graph *g = load("a\tb\n", 0);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        tem_poincare *p = NULL;
        tem_error error;
        write_file(vectors_path, refused[i].content, strlen(refused[i].content));
        assert_int_equal(tem_poincare_load(vectors_path, g, NULL, &p, &error), TEM_ERR_FORMAT);
        assert_int_equal(error.line, refused[i].line);
        assert_null(p);
    }
    tem_poincare *p = NULL;
    assert_int_equal(tem_poincare_load("/nonexistent", g, NULL, &p, NULL), TEM_ERR_FILE);
    write_file(vectors_path, "2 2\r\na 0\t0.5 \r\nb  0 0", 21);
    assert_int_equal(tem_poincare_load(vectors_path, g, NULL, &p, NULL), TEM_OK);
    assert_true(tem_poincare_point(p, 0)[1] == 0.5 && tem_poincare_point(p, 2) == NULL);
    tem_poincare_free(p);
    tem_graph_free(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distance),
        cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_gradient_at_one_point),
        cmocka_unit_test(test_step),
        cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_graph_text),
        cmocka_unit_test(test_graph_refusals),
        cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_reconstruction),
        cmocka_unit_test(test_known_reconstruction),
        cmocka_unit_test(test_large_reconstruction),
        cmocka_unit_test(test_negatives_of_burn_in),
        cmocka_unit_test(test_training),
        cmocka_unit_test(test_training_stays_inside),
        cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_stopping),
        cmocka_unit_test(test_training_refusals),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_file_refusals),
    };
    return cmocka_run_group_tests(tests, make_paths, remove_files);
}
