/* bench_draw.c - words drawn per second, in steady state.
 *
 *   bench_draw MODEL KIND EPSILON THREADS SECONDS IDS [WEIGHTS]
 *
 * IDS: a file of 32-bit word ids. Each thread draws for its own part of them, in order and
 * again from the start, in batches as a user would. WEIGHTS: a file of 32-bit output
 * weights. A warm-up of a fifth of SECONDS is not counted, because tem checks a word's list
 * when it is first used. A mechanism that needs a list gets every third word of the model. `stays`
 * is the share of words of one more batch that were drawn as themselves. */
#include "bench_common.h"

#include <pthread.h>

enum { BATCH = 4096 };

typedef struct thread_work {
    const tem_mechanism *mechanism;
    const uint32_t *ids;
    size_t count, at; /* its part of the stream, and its position there */
    double seconds;   /* in: how long to run; out: how long it ran */
    uint64_t words;
    pthread_t thread;
} thread_work;

static void draw_batch(thread_work *s, tem_rng *rng, uint32_t *out) {
    tem_error error;
    const size_t count = s->count - s->at < BATCH ? s->count - s->at : BATCH;
    bench_need(tem_mechanism_draw_many(s->mechanism, rng, s->ids + s->at, out, count, &error),
               &error);
    s->at = s->at + count < s->count ? s->at + count : 0;
    s->words += count;
}

static void *draw_words(void *argument) {
    thread_work *s = argument;
    tem_rng *rng = NULL;
    tem_error error;
    uint32_t out[BATCH];
    bench_need(tem_rng_create(&rng, &error), &error);
    const double start = bench_now();
    do
        draw_batch(s, rng, out);
    while (bench_now() - start < s->seconds);
    s->seconds = bench_now() - start;
    tem_rng_free(rng);
    return NULL;
}

/* Runs all work for about `seconds`; returns the words per second of all threads together. */
static double draw_all(thread_work *work, unsigned threads, double seconds) {
    double rate = 0;
    for (unsigned i = 0; i < threads; i++) {
        work[i].seconds = seconds;
        work[i].words = 0;
        if (pthread_create(&work[i].thread, NULL, draw_words, &work[i]) != 0)
            bench_die("thread", "cannot be started");
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(work[i].thread, NULL);
        rate += (double)work[i].words / work[i].seconds;
    }
    return rate;
}

static const tem_mechanism_properties *find_kind(const char *name) {
    for (unsigned i = 0;; i++) {
        const tem_mechanism_properties *kind = tem_mechanism_at(i);
        if (kind == NULL)
            bench_die(name, "is no mechanism");
        if (strcmp(kind->name, name) == 0)
            return kind;
    }
}

static uint8_t *list_thirds(uint64_t words) {
    uint8_t *listed = bench_memory(words);
    for (uint64_t id = 0; id < words; id++)
        listed[id] = id % 3 == 0;
    return listed;
}

/* The share of the first words that a batch leaves as they are. */
static double share_that_stays(const tem_mechanism *mechanism, const uint32_t *ids, size_t count) {
    uint32_t out[BATCH];
    tem_rng *rng = NULL;
    tem_error error;
    size_t same = 0;
    count = count < BATCH ? count : BATCH;
    bench_need(tem_rng_create(&rng, &error), &error);
    bench_need(tem_mechanism_draw_many(mechanism, rng, ids, out, count, &error), &error);
    for (size_t i = 0; i < count; i++)
        same += out[i] == ids[i];
    tem_rng_free(rng);
    return (double)same / (double)count;
}

int main(int argc, char **argv) {
    if (argc != 7 && argc != 8)
        bench_die("usage", "bench_draw MODEL KIND EPSILON THREADS SECONDS IDS [WEIGHTS]");
    tem_model *model = NULL;
    tem_mechanism *mechanism = NULL;
    tem_error error;
    tem_mechanism_options options = {.epsilon = bench_real(argv[3])};
    const tem_mechanism_properties *kind = find_kind(argv[2]);
    options.mechanism = kind->name;
    options.allow_no_guarantee = 1; /* a benchmark releases nothing */
    const unsigned threads = (unsigned)bench_number(argv[4], BENCH_THREADS_MAX);
    const double seconds = bench_real(argv[5]);
    size_t count = 0, weights = 0;
    uint32_t *ids = bench_read_u32(argv[6], &count);
    uint32_t *given = argc > 7 ? bench_read_u32(argv[7], &weights) : NULL;
    if (count < threads)
        bench_die(argv[6], "has fewer words than there are threads");

    const double start = bench_now();
    bench_need(tem_model_open(argv[1], &model, &error), &error);
    tem_model_trust_own(model);
    const double opened = bench_now();
    tem_model_info info;
    tem_model_get_info(model, &info);
    if (given != NULL && weights != info.words)
        bench_die(argv[7], "expected one weight per word");
    options.weights = given;
    uint8_t *listed = kind->list != NULL ? list_thirds(info.words) : NULL;
    options.listed = listed;
    bench_need(tem_mechanism_create(model, &options, &mechanism, &error), &error);
    const double ready = bench_now();

    thread_work work[BENCH_THREADS_MAX];
    for (unsigned i = 0; i < threads; i++) {
        const size_t from = count * i / threads, to = count * (i + 1) / threads;
        work[i] = (thread_work){.mechanism = mechanism, .ids = ids + from, .count = to - from};
    }
    (void)draw_all(work, threads, seconds / 5);
    const double rate = draw_all(work, threads, seconds);
    printf("{\"words_per_s\": %.3f, \"open_s\": %.6f, \"create_s\": %.6f, \"stays\": %.6f, "
           "\"peak_bytes\": %llu}\n",
           rate, opened - start, ready - opened, share_that_stays(mechanism, ids, count),
           (unsigned long long)bench_memory_line("VmHWM:"));
    tem_mechanism_free(mechanism);
    tem_model_free(model);
    free(listed);
    free(given);
    free(ids);
    return 0;
}
