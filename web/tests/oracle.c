/* oracle.c - what the native library says, for the tests of the npm package. All numbers are
 * binary, little-endian, on standard output.
 *
 *   oracle lists MODEL              from stdin ids, u32 each; for each: the length of its list, the
 *                                   list as id and distance, the bounds; u32 each
 *   oracle pieces MODEL             from stdin texts, each after its length, u32; for each: the
 *                                   number of its pieces, and for each piece its id and whether it
 *                                   is a word
 *   oracle guesses MODEL CERT E...  mechanisms: an epsilon, with "c" in front for a calibrated one;
 *                                   from stdin outputs, u32 each. For each mechanism: ln Z of every
 *                                   word, double; then for each output its best guess, u32 id, and
 *                                   its probability, double. By brute force over all pairs. */
#include "certificate/certificate.h"
#include "core/memory.h"
#include "core/threads.h"
#include "job/replacer.h"
#include "mech/model_mechanism.h"
#include "tem_account.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tem_error error;

static void check(tem_status status) {
    if (status == TEM_OK)
        return;
    fprintf(stderr, "oracle: %s\n", error.message);
    exit(1);
}

static void need(bool is_so) {
    if (!is_so) {
        fprintf(stderr, "oracle: no memory, or the input or output failed\n");
        exit(1);
    }
}

static void put(const void *bytes, size_t count) {
    need(fwrite(bytes, 1, count, stdout) == count);
}

static void put_number(uint32_t number) {
    put(&number, sizeof number);
}

static bool get_number(uint32_t *number) {
    return fread(number, sizeof *number, 1, stdin) == 1;
}

static void lists(const tem_model *model) {
    uint32_t id = 0;
    while (get_number(&id)) {
        tem_neighbours near;
        check(neighbours_get(&model->index, id, &near, &error));
        put_number(near.count);
        put(near.list, near.count * sizeof *near.list);
        put(neighbours_bounds(&model->index, id), NEIGHBOUR_RANGES * sizeof(tem_dist));
    }
}

static void pieces(const tem_model *model) {
    uint32_t bytes = 0;
    while (get_number(&bytes)) {
        char *text = malloc(bytes + 1);
        need(text != NULL && fread(text, 1, bytes, stdin) == bytes);
        text_pieces found;
        text_pieces_init(&found, replacer_find, &model->words);
        check(text_pieces_cut(&found, text, bytes, &error));
        put_number((uint32_t)found.count);
        for (size_t i = 0; i < found.count; i++) {
            put_number(found.pieces[i].id);
            put_number(found.pieces[i].word);
        }
        text_pieces_free(&found);
        free(text);
    }
}

/* ---- guesses ---- */

enum { MOST = 16 };

typedef struct guesses {
    const tem_model *model;
    tem_mechanism *mechanisms[MOST];
    double *totals[MOST]; /* ln Z */
    uint32_t count;
    tem_dist *distances[CORE_THREADS_MAX];
} guesses;

/* ln Z of a word at these distances from all words. */
static double log_total(const tem_mechanism *m, const tem_dist *distances) {
    const law_form *law = mechanism_form(m);
    const exponent e = law->exponent;
    double total = 0;
    for (uint32_t y = 0; y < m->count; y++)
        total +=
            weights_at(law->weights, y) * exp((double)exponent_at(&e, distances[y]) * -0x1p-36);
    return log(total);
}

static void add_up(void *context, uint64_t item, unsigned thread) {
    const guesses *g = context;
    const uint32_t words = g->model->words.count, w = (uint32_t)item;
    space_distances(&g->model->space, w, 0, words, g->distances[thread]);
    for (uint32_t i = 0; i < g->count; i++)
        g->totals[i][w] = log_total(g->mechanisms[i], g->distances[thread]);
}

static void guess(const guesses *g, uint32_t i, uint32_t y) {
    const uint32_t words = g->model->words.count;
    const exponent e = mechanism_form(g->mechanisms[i])->exponent;
    double sum = 0, most = -1;
    uint32_t best = 0;
    space_distances(&g->model->space, y, 0, words, g->distances[0]);
    for (uint32_t w = 0; w < words; w++) {
        const double x = (double)exponent_at(&e, g->distances[0][w]) * 0x1p-36;
        const double value = exp(-g->totals[i][w] - x) / (w + 1.0);
        sum += value;
        best = value > most ? w : best;
        most = value > most ? value : most;
    }
    const double probability = most / sum;
    put_number(best);
    put(&probability, sizeof probability);
}

static void make_mechanism(guesses *g, const char *certificates, const char *epsilon) {
    const bool calibrated = epsilon[0] == 'c';
    tem_mechanism_options options = {.epsilon = strtod(epsilon + calibrated, NULL)};
    tem_certificate *certificate = NULL;
    const tem_calibration wanted = {.epsilon = options.epsilon, .weights = TEM_WEIGHTS_BALANCED};
    if (calibrated)
        check(certificate_find(certificates, g->model, &wanted, &certificate, &error));
    options.certificate = certificate;
    check(mechanism_create(g->model, &options, &g->mechanisms[g->count], &error));
    g->totals[g->count] = malloc(g->model->words.count * sizeof(double));
    need(g->totals[g->count++] != NULL);
    certificate_free(certificate);
}

static void find_guesses(tem_model *model, const char *certificates, char **epsilons, int count) {
    guesses g = {.model = model};
    const uint32_t words = model->words.count;
    uint32_t *outputs = NULL, y = 0;
    size_t many = 0;
    need(count <= MOST);
    for (int i = 0; i < count; i++)
        make_mechanism(&g, certificates, epsilons[i]);
    while (get_number(&y)) {
        outputs = realloc(outputs, (many + 1) * sizeof *outputs);
        need(outputs != NULL && y < words);
        outputs[many++] = y;
    }
    for (unsigned i = 0; i < core_thread_count(NULL); i++)
        need((g.distances[i] = malloc(words * sizeof(tem_dist))) != NULL);
    check(core_parallel(NULL, "adding up", words, add_up, &g, &error));
    for (uint32_t i = 0; i < g.count; i++) {
        put(g.totals[i], words * sizeof(double));
        for (size_t j = 0; j < many; j++)
            guess(&g, i, outputs[j]);
    }
}

int main(int argc, char **argv) {
    tem_model *model = NULL;
    if (argc < 3)
        return 2;
    check(model_open(argv[2], &model, &error));
    model->trusted = true; /* the caller has just built it */
    if (strcmp(argv[1], "lists") == 0)
        lists(model);
    else if (strcmp(argv[1], "pieces") == 0)
        pieces(model);
    else if (strcmp(argv[1], "guesses") == 0 && argc > 4)
        find_guesses(model, argv[3], argv + 4, argc - 4);
    else
        return 2;
    return fflush(stdout) == 0 ? 0 : 1;
}
