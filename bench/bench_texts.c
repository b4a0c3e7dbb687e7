/* bench_texts.c - documents in memory, one library call each.
 *
 *   bench_texts MODEL EPSILON THREADS LINES TEXT
 *
 * Privatizes the first LINES lines of TEXT twice and reports the second time, and the time of a
 * call for one word. Bindings for other languages are compared with this. */
#include "bench_common.h"

#include <pthread.h>
#include <stdatomic.h>

enum { CALLS = 100000 };

typedef struct texts {
    const tem_mechanism *mechanism;
    char **lines;
    size_t count;
    atomic_size_t next;
} texts;

static size_t read_lines(const char *path, char **lines, size_t most) {
    FILE *file = fopen(path, "rb");
    size_t count = 0, room = 0;
    if (file == NULL)
        bench_die(path, "cannot be read");
    for (ssize_t bytes; count < most && (bytes = getline(&lines[count], &room, file)) > 0;) {
        lines[count][bytes - 1] = '\0';
        count++;
        room = 0;
    }
    fclose(file);
    return count;
}

static void replace(const tem_mechanism *mechanism, tem_rng *rng, const char *text) {
    char *out = NULL;
    size_t bytes = 0;
    tem_error error;
    bench_need(tem_privatize_text(mechanism, NULL, rng, text, strlen(text), NULL, &out, &bytes,
                                  NULL, &error),
               &error);
    tem_text_free(out);
}

static void *work(void *argument) {
    texts *t = argument;
    tem_rng *rng = NULL;
    tem_error error;
    bench_need(tem_rng_create(&rng, &error), &error);
    for (size_t i; (i = atomic_fetch_add(&t->next, 1)) < t->count;)
        replace(t->mechanism, rng, t->lines[i]);
    tem_rng_free(rng);
    return NULL;
}

static double seconds_of(texts *t, unsigned threads) {
    pthread_t others[BENCH_THREADS_MAX];
    const double begin = bench_now();
    t->next = 0;
    for (unsigned i = 1; i < threads; i++)
        if (pthread_create(&others[i], NULL, work, t) != 0)
            bench_die("threads", "cannot be started");
    work(t);
    for (unsigned i = 1; i < threads; i++)
        pthread_join(others[i], NULL);
    return bench_now() - begin;
}

static double seconds_a_call(const tem_mechanism *mechanism) {
    tem_rng *rng = NULL;
    tem_error error;
    bench_need(tem_rng_create(&rng, &error), &error);
    const double begin = bench_now();
    for (int i = 0; i < CALLS; i++)
        replace(mechanism, rng, "movie");
    const double spent = bench_now() - begin;
    tem_rng_free(rng);
    return spent / CALLS;
}

int main(int argc, char **argv) {
    if (argc != 6)
        bench_die("usage", "bench_texts MODEL EPSILON THREADS LINES TEXT");
    tem_model *model = NULL;
    tem_mechanism *mechanism = NULL;
    tem_error error;
    const tem_mechanism_options options = {.epsilon = bench_real(argv[2])};
    const unsigned threads = (unsigned)bench_number(argv[3], BENCH_THREADS_MAX);
    const size_t most = bench_number(argv[4], 1 << 24);
    bench_need(tem_model_open(argv[1], &model, &error), &error);
    tem_model_trust_own(model); /* a benchmark releases nothing */
    bench_need(tem_mechanism_create(model, &options, &mechanism, &error), &error);
    texts t = {.mechanism = mechanism, .lines = calloc(most + 1, sizeof *t.lines)};
    if (t.lines == NULL)
        bench_die("memory", "not enough");
    t.count = read_lines(argv[5], t.lines, most);
    seconds_of(&t, threads);
    const double seconds = seconds_of(&t, threads);
    printf("{\"lines\": %zu, \"seconds\": %.9g, \"call_s\": %.9g}\n", t.count, seconds,
           seconds_a_call(mechanism));
    for (size_t i = 0; i <= most; i++)
        free(t.lines[i]);
    free(t.lines);
    tem_mechanism_free(mechanism);
    tem_model_free(model);
    return 0;
}
