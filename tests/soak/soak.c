/* soak.c - very many draws, watching memory. Not part of `make test`.
 *
 *   soak MODEL EPSILON DRAWS THREADS
 *
 * Draws for all words of the vocabulary in turn, a batch at a time, and prints the resident memory
 * after each tenth of the draws. Once it has drawn for every word, memory must stay constant. */
#include <tem.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TENTHS = 10, THREADS_MAX = 64, LINE_WORDS = 100 };

typedef struct thread_work {
    const tem_mechanism *mechanism;
    uint32_t words;
    uint64_t draws;
    uint64_t sum; /* keeps the draws from being optimized away */
    tem_status status;
    pthread_t thread;
} thread_work;

static void *draw_words(void *argument) {
    thread_work *s = argument;
    tem_rng *rng = NULL;
    tem_error error;
    s->status = tem_rng_create(&rng, &error);
    uint32_t word = 0;
    for (uint64_t left = s->draws; left > 0 && s->status == TEM_OK;) {
        uint32_t words[LINE_WORDS];
        const size_t count = left < LINE_WORDS ? (size_t)left : LINE_WORDS;
        for (size_t i = 0; i < count; i++) {
            words[i] = word;
            word = word + 1 < s->words ? word + 1 : 0;
        }
        s->status = tem_mechanism_draw_many(s->mechanism, rng, words, words, count, &error);
        for (size_t i = 0; i < count; i++)
            s->sum += words[i];
        left -= count;
    }
    tem_rng_free(rng);
    return NULL;
}

static long resident_kilobytes(void) {
    char line[256];
    long kilobytes = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "RssAnon:", 8) == 0)
            kilobytes = strtol(line + 8, NULL, 10);
    if (status != NULL)
        fclose(status);
    return kilobytes;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int run_tenth(const tem_mechanism *mechanism, uint32_t words, uint64_t draws,
                     unsigned threads) {
    thread_work work[THREADS_MAX];
    for (unsigned i = 0; i < threads; i++) {
        work[i] = (thread_work){.mechanism = mechanism, .words = words, .draws = draws / threads};
        if (pthread_create(&work[i].thread, NULL, draw_words, &work[i]) != 0)
            exit(1);
    }
    int failed = 0;
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(work[i].thread, NULL);
        failed |= work[i].status != TEM_OK;
    }
    return failed;
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: soak MODEL EPSILON DRAWS THREADS\n");
        return 2;
    }
    const tem_mechanism_options options = {.epsilon = strtod(argv[2], NULL)};
    const uint64_t draws = strtoull(argv[3], NULL, 10);
    const unsigned threads = (unsigned)strtoul(argv[4], NULL, 10);
    tem_model *model = NULL;
    tem_mechanism *mechanism = NULL;
    tem_error error;
    tem_model_info info;
    if (threads < 1 || threads > THREADS_MAX || tem_model_open(argv[1], &model, &error) != TEM_OK ||
        tem_model_trust(model, NULL, NULL, &error) != TEM_OK ||
        tem_mechanism_create(model, &options, &mechanism, &error) != TEM_OK)
        return 1;
    tem_model_get_info(model, &info);
    for (int tenth = 1; tenth <= TENTHS; tenth++) {
        const double start = now();
        if (run_tenth(mechanism, info.words, draws / TENTHS, threads) != 0)
            return 1;
        printf("%d/10: %ld kB of private memory, %.2f million draws per second\n", tenth,
               resident_kilobytes(), (double)(draws / TENTHS) / (now() - start) / 1e6);
        fflush(stdout);
    }
    tem_mechanism_free(mechanism);
    tem_model_free(model);
    return 0;
}
