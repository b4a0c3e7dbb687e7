/* bench_tail.c - average number of words outside the list that a draw examines, computed.
 *
 *   bench_tail MODEL IDS SAMPLE EPSILON...
 *
 * A round of the envelope (docs/PRIVACY.md) proposes a word of a range of the vocabulary with
 * probability T/(S+T) and ends the draw with probability Z/(S+T), so a draw examines T/Z such words
 * on average: T = sum of (words of the range) exp(-s min(bound, gamma)) over the ranges
 * (docs/FORMAT.md), Z the sum over all words. All weights are equal. The result is the mean over
 * SAMPLE known words of IDS, evenly spaced. */
#include "bench_common.h"

#include <math.h>
#include <string.h>

enum { EPSILONS_MAX = 32, PARTS = 16 };

static double weight(const tem_mechanism_info *m, tem_dist d) {
    return exp(-m->s * (d < m->gamma_steps ? d : m->gamma_steps) / TEM_DIST_ONE);
}

/* Finds, for each range, the smallest distance of a word that is not in the list. */
static void find_bounds(const tem_neighbours *list, const tem_dist *distances, uint32_t n,
                        unsigned char *listed, tem_dist bounds[PARTS]) {
    memset(listed, 0, n);
    for (uint32_t i = 0; i < list->count; i++)
        listed[list->list[i].id] = 1;
    memset(bounds, 0xff, PARTS * sizeof *bounds);
    for (uint32_t y = 0; y < n; y++) {
        tem_dist *bound = &bounds[y / ((n + PARTS - 1) / PARTS)];
        if (!listed[y] && distances[y] < *bound)
            *bound = distances[y];
    }
}

static double tail_per_draw(const tem_mechanism_info *m, const tem_dist bounds[PARTS],
                            const tem_dist *distances, uint32_t n) {
    double z = 0, t = 0;
    for (uint32_t y = 0; y < n; y++) {
        const tem_dist bound = bounds[y / ((n + PARTS - 1) / PARTS)];
        z += weight(m, distances[y]);
        t += bound == UINT32_MAX ? 0 : weight(m, bound);
    }
    return t / z;
}

int main(int argc, char **argv) {
    if (argc < 5 || argc > 4 + EPSILONS_MAX)
        bench_die("usage", "bench_tail MODEL IDS SAMPLE EPSILON...");
    const int epsilons = argc - 4;
    tem_model *model = NULL;
    tem_error error;
    tem_model_info info;
    tem_mechanism_info mechanisms[EPSILONS_MAX];
    double sums[EPSILONS_MAX] = {0};
    bench_need(tem_model_open(argv[1], &model, &error), &error);
    tem_model_trust_own(model); /* a benchmark releases nothing */
    tem_model_get_info(model, &info);
    for (int e = 0; e < epsilons; e++) {
        tem_mechanism *mechanism = NULL;
        const tem_mechanism_options options = {.epsilon = bench_real(argv[4 + e])};
        bench_need(tem_mechanism_create(model, &options, &mechanism, &error), &error);
        tem_mechanism_get_info(mechanism, &mechanisms[e]);
        tem_mechanism_free(mechanism);
    }
    size_t count = 0;
    uint32_t *ids = bench_read_u32(argv[2], &count);
    const size_t wanted = bench_number(argv[3], count);
    tem_dist *distances = bench_memory(info.words * sizeof *distances), bounds[PARTS];
    unsigned char *listed = bench_memory(info.words);
    unsigned used = 0;
    for (size_t i = 0; i < wanted; i++) {
        const uint32_t word = ids[i * (count / wanted)];
        tem_neighbours list;
        if (word == TEM_NO_WORD)
            continue;
        bench_need(tem_model_neighbours(model, word, &list, &error), &error);
        for (uint32_t y = 0; y < info.words; y++)
            distances[y] = tem_model_distance(model, word, y);
        find_bounds(&list, distances, info.words, listed, bounds);
        for (int e = 0; e < epsilons; e++)
            sums[e] += tail_per_draw(&mechanisms[e], bounds, distances, info.words);
        used++;
    }
    printf("{\"sample\": %u, \"evaluations\": {", used);
    for (int e = 0; e < epsilons; e++)
        printf("%s\"%s\": %.4f", e > 0 ? ", " : "", argv[4 + e], sums[e] / used);
    printf("}}\n");
    free(distances);
    free(listed);
    free(ids);
    tem_model_free(model);
    return 0;
}
