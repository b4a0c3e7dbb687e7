/* digest.c - results of the exact arithmetic, one hash per case.
 *
 * Prints `name hash` for a list of small spaces made of fixed pseudo-random integers.
 * Distances and indexes are exact, so the lines are the same on every machine, with
 * every set of kernels and any number of threads: tests/check-aarch64 compares them.
 *
 *   digest [KERNELS [THREADS]]   exit 3: this machine does not have these kernels
 *   digest --list                the kernels of this machine */
#include "core/memory.h"
#include "index/neighbours.h"
#include "space/grid.h"
#include "space/kernels/kernels.h"
#include "space/space.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NO_SUCH_KERNELS = 3 };

static uint64_t lcg_state;

/* The upper half of Knuth's MMIX sequence. */
static uint32_t random32(void) {
    lcg_state = lcg_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(lcg_state >> 32);
}

/* FNV-1a, 64 bits, over the bytes of v from the lowest, so that the byte order does not matter. */
static uint64_t hash_value(uint64_t hash, uint64_t v, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++)
        hash = (hash ^ (v >> 8 * i & 0xff)) * 1099511628211u;
    return hash;
}

static uint64_t hash_distances(uint64_t hash, const space *s) {
    for (uint32_t a = 0; a < s->count; a++)
        for (uint32_t b = 0; b < s->count; b++)
            hash = hash_value(hash, space_distance(s, a, b), 4);
    return hash;
}

static uint64_t hash_index(uint64_t hash, const neighbour_index *index) {
    for (uint64_t i = 0; i < index->entry_count; i++) {
        hash = hash_value(hash, index->entries[i].id, 4);
        hash = hash_value(hash, index->entries[i].distance, 4);
    }
    for (uint32_t id = 0; id < index->count; id++) {
        hash = hash_value(hash, index->starts[id + 1], 8);
        for (unsigned part = 0; part < NEIGHBOUR_RANGES; part++)
            hash = hash_value(hash, neighbours_bounds(index, id)[part], 4);
    }
    return hash;
}

static void stop(const char *what) {
    fprintf(stderr, "digest: %s\n", what);
    exit(1);
}

static void print_digest(const char *name, const space *s, uint32_t length, unsigned threads) {
    const tem_run run = {.threads = threads};
    neighbour_index index = {0};
    if (neighbours_build(s, length, &run, &index, NULL) != TEM_OK)
        stop("no index");
    uint64_t hash = hash_distances(14695981039346656037u, s);
    printf("%s %016" PRIx64 "\n", name, hash_index(hash, &index));
    neighbours_free(&index);
}

typedef struct digest_case {
    const char *name;
    tem_metric metric;
    uint32_t count, dimension, step_log2, largest, length;
} digest_case;

static const digest_case cases[] = {
    {"euclidean-1", TEM_EUCLIDEAN, 100, 1, 16, 50, 7},
    {"euclidean-ties", TEM_EUCLIDEAN, 343, 3, 18, 3, 20},
    {"euclidean-coarse", TEM_EUCLIDEAN, 200, 33, 4, 900, 10},
    {"euclidean-fine", TEM_EUCLIDEAN, 200, 50, 30, 900, 10},
    {"euclidean-100", TEM_EUCLIDEAN, 500, 100, 11, 1500, 32},
    {"euclidean-300", TEM_EUCLIDEAN, 450, 300, 11, 900, 64},
    {"euclidean-largest", TEM_EUCLIDEAN, 150, 300, 11, 16383, 149},
    {"angular-2", TEM_ANGULAR, 200, 2, 14, 16383, 11},
    {"angular-small", TEM_ANGULAR, 200, 3, 14, 2, 200},
    {"angular-100", TEM_ANGULAR, 200, 100, 14, 3000, 20},
    {"angular-largest", TEM_ANGULAR, 60, 4096, 14, 16383, 5},
    {"l1", TEM_L1, 300, 65, 12, 2000, 16},
    {"l1-fine", TEM_L1, 100, 7, 27, 9000, 99},
    {"linf", TEM_LINF, 300, 65, 12, 2000, 16},
    {"linf-fine", TEM_LINF, 100, 7, 27, 9000, 99},
    {"hyperbolic", TEM_HYPERBOLIC, 300, 5, 30, 400000000, 20},
    {"hyperbolic-small", TEM_HYPERBOLIC, 300, 3, 30, 50, 300},
    {"matrix", TEM_MATRIX, 300, 0, 0, 100, 25},
};

/* No row is zero, because a zero row has no angle. */
static int16_t *random_rows(const digest_case *c, uint32_t row_elements) {
    int16_t *rows = core_alloc_zero((size_t)c->count * row_elements, sizeof *rows);
    if (rows == NULL)
        stop("out of memory");
    for (uint32_t id = 0; id < c->count; id++) {
        int16_t *row = rows + (size_t)id * row_elements;
        for (uint32_t i = 0; i < c->dimension; i++)
            row[i] = (int16_t)((int32_t)(random32() % (2 * c->largest + 1)) - (int32_t)c->largest);
        if (row[0] == 0)
            row[0] = 1;
    }
    return rows;
}

static int32_t *random_points(const digest_case *c, uint32_t row_elements) {
    int32_t *points = core_alloc_zero((size_t)c->count * row_elements, sizeof *points);
    if (points == NULL)
        stop("out of memory");
    for (uint32_t id = 0; id < c->count; id++)
        for (uint32_t i = 0; i < c->dimension; i++)
            points[(size_t)id * row_elements + i] =
                (int32_t)(random32() % (2 * c->largest + 1)) - (int32_t)c->largest;
    return points;
}

static uint32_t *random_matrix(uint32_t count, uint32_t largest) {
    uint32_t *matrix = core_alloc(space_pair_count(count), sizeof *matrix);
    if (matrix == NULL)
        stop("out of memory");
    for (uint64_t i = 0; i < space_pair_count(count); i++)
        matrix[i] = random32() % (largest + 1);
    return matrix;
}

static void run_case(const digest_case *c, unsigned threads) {
    space s = {.metric = metric_find(c->metric),
               .count = c->count,
               .dimension = c->dimension,
               .row_elements = space_row_elements(c->dimension),
               .step_log2 = c->step_log2};
    int16_t *rows = NULL;
    int32_t *points = NULL;
    uint32_t *matrix = NULL;
    if (c->metric == TEM_MATRIX)
        s.matrix = matrix = random_matrix(c->count, c->largest);
    else if (s.metric->is_ball)
        s.points = points = random_points(c, s.row_elements);
    else
        s.rows = rows = random_rows(c, s.row_elements);
    print_digest(c->name, &s, c->length, threads);
    core_free(rows);
    core_free(points);
    core_free(matrix);
}

/* The only case with floating point: rounding to the grid. The values are small integers over 1000,
 * and all operations on them (one division, products, a root) are IEEE 754 in double. */
static void run_rounding(tem_metric metric, const char *name, unsigned threads) {
    enum { COUNT = 300, DIMENSION = 50 };
    static float values[COUNT * DIMENSION];
    space s = {.metric = metric_find(metric),
               .count = COUNT,
               .dimension = DIMENSION,
               .row_elements = space_row_elements(DIMENSION)};
    for (size_t i = 0; i < COUNT * DIMENSION; i++)
        values[i] = (float)((int32_t)(random32() % 20001) - 10000) / 1000;
    int16_t *rows = core_alloc((size_t)COUNT * s.row_elements, sizeof *rows);
    const tem_run run = {.threads = threads};
    tem_dist deviation = 0;
    if (rows == NULL || grid_round(values, COUNT, DIMENSION, metric_find(metric), &run, rows,
                                   &s.step_log2, &deviation, NULL) != TEM_OK)
        stop("no grid");
    s.rows = rows;
    printf("%s-step %" PRIu32 "\n", name, s.step_log2);
    print_digest(name, &s, 12, threads);
    core_free(rows);
}

static int list_kernels(void) {
    bool available = false;
    for (unsigned i = 0; kernels_at(i, &available) != NULL; i++)
        if (available)
            puts(kernels_at(i, &available)->name);
    return 0;
}

static bool choose_kernels(const char *name) {
    bool available = false;
    for (unsigned i = 0; kernels_at(i, &available) != NULL; i++) {
        const kernels *set = kernels_at(i, &available);
        if (available && strcmp(set->name, name) == 0) {
            kernels_use(set);
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--list") == 0)
        return list_kernels();
    if (argc > 1 && !choose_kernels(argv[1]))
        return NO_SUCH_KERNELS;
    const unsigned threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lcg_state = i + 1;
        run_case(&cases[i], threads);
    }
    run_rounding(TEM_EUCLIDEAN, "rounded", threads);
    run_rounding(TEM_ANGULAR, "rounded-angular", threads);
    return 0;
}
